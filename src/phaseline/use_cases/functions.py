"""Functions of installed distributions in the blueprints of this process (B40)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.dsl.announced import ANNOUNCED

if TYPE_CHECKING:
    from phaseline.dsl.announced import Finder


def offer_functions() -> None:
    """Let blueprints use them; nothing is imported or looked for before one might be meant."""
    ANNOUNCED.look_in(_installed)


def _installed() -> Finder:
    from phaseline.catalog.functions import InstalledFunctions

    return InstalledFunctions()
