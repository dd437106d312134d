"""Functions of installed distributions in the blueprints of this process (B40)."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from phaseline.dsl.functions.third_party import ANNOUNCED

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.dsl.functions.third_party import Finder


def offer_functions(before_code: Callable[[], None]) -> None:
    """Let blueprints use them; nothing is imported or looked for before one might be meant. ``before_code``: called before."""
    ANNOUNCED.look_in(_finder(before_code))


@cache
def _finder(before_code: Callable[[], None]) -> Callable[[], Finder]:
    """The same for the same: what was found stays known."""
    return partial(_installed, before_code)


def _installed(before_code: Callable[[], None]) -> Finder:
    from phaseline.catalog.code.function_entry_points import InstalledFunctions

    return InstalledFunctions(before_code)
