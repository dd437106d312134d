"""Differences between two blueprints: additions, removals, changes, and probable renames."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.blueprint import Value


@frozen
class BlueprintChange:
    """One difference between two blueprints.

    ``what`` is the kind of element. ``path`` begins with the section of the blueprint. ``old`` is null for an addition,
    ``new`` is null for a removal.
    """

    kind: Literal["added", "removed", "changed"]
    what: str
    path: str
    old: Value = None
    new: Value = None


@frozen
class Rename:
    """A probable rename: a removed and an added element that are equal or similar. ``likeness`` is from 0 to 1."""

    what: str
    old: str
    new: str
    likeness: float


@frozen
class Differences:
    """All changes between two blueprints, in the order of the sections, and probable renames."""

    changes: Sequence[BlueprintChange]
    renames: Sequence[Rename]

    @property
    def is_same(self) -> bool:
        """True when both blueprints are equal."""
        return not self.changes


Path = tuple[str | int, ...]


@frozen
class ValueComparison:
    """A comparison of two values that descends into mappings and lists one change for each key that differs.

    ``noun`` and ``dotted`` are functions that return the kind and the text of a path. Mappings for which
    ``is_function`` returns True are compared as a whole. Mappings for which ``is_same`` returns True have no changes.
    """

    noun: Callable[[Path], str]
    dotted: Callable[[Path], str]
    is_function: Callable[[Any], bool]
    is_same: Callable[[Any, Any], bool]

    def changes(self, path: Path, old: Any, new: Any) -> Iterator[BlueprintChange]:
        """Yield the changes from ``old`` to ``new``: first those of keys in ``old``, then those of added keys."""
        if old is new:
            return
        if self._is_mapping(old) and self._is_mapping(new):
            for name in () if self.is_same(old, new) else dict.fromkeys((*old, *new)):
                here = (*path, name)
                if name not in new:
                    yield BlueprintChange("removed", self.noun(here), self.dotted(here), old=old[name])
                elif name not in old:
                    yield BlueprintChange("added", self.noun(here), self.dotted(here), new=new[name])
                else:
                    yield from self.changes(here, old[name], new[name])
        elif old != new or old.__class__ is not new.__class__:
            yield BlueprintChange("changed", self.noun(path), self.dotted(path), old, new)

    def _is_mapping(self, value: Any) -> bool:
        return isinstance(value, Mapping) and not self.is_function(value)
