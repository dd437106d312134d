"""Differences between two blueprints: additions, removals, changes, and probable renames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.blueprint import Value


@frozen
class BlueprintChange:
    """One difference. ``what``: a noun; ``path`` begins with the section; ``old`` or ``new`` is null where there is none."""

    kind: Literal["added", "removed", "changed"]
    what: str
    path: str
    old: Value = None
    new: Value = None


@frozen
class Rename:
    """A removed and an added element that are equal or nearly so: ``likeness`` from 0 to 1."""

    what: str
    old: str
    new: str
    likeness: float


@frozen
class Differences:
    """All changes in the order of the sections, and probable renames."""

    changes: Sequence[BlueprintChange]
    renames: Sequence[Rename]

    @property
    def is_same(self) -> bool:
        """True when both blueprints are equal."""
        return not self.changes
