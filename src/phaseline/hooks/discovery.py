"""Where hook classes are announced: by installed distributions, in the settings, by plugin packages. None is imported here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from phaseline.catalog.code.entry_points import HEAT_GROUP, HOOK_GROUP, is_announced
from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from phaseline.model.blueprint.blueprint import Value

FROM_SETTINGS = "settings"
"""Stands for a group where the settings name the class."""
FROM_PACKAGE = "package"
"""Stands for a group where a plugin package brings the class."""


@frozen
class HookEntry:
    """An announced class: ``target`` is ``module:Class``, ``folder`` is searched first for the module.

    ``distribution``: the distribution or package that contains it; empty: none. ``options``: its constructor's arguments.
    ``optional``: its package lets a deployment switch it off. ``settings``: the deployment's settings for its package, as stored.
    """

    group: str
    distribution: str
    name: str
    target: str
    folder: str = ""
    options: Mapping[str, Value] = field(default_factory=dict)
    optional: bool = False
    settings: Mapping[str, Value] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Its identity among all classes."""
        return f"{self.group}/{self.distribution}/{self.name}"

    @property
    def is_heat(self) -> bool:
        """True for one of Heat's group."""
        return self.group == HEAT_GROUP


def announced(*, heat: bool) -> tuple[HookEntry, ...]:
    """Those of installed distributions; ``heat``: those of Heat's group, too.

    Where two distributions use the same name both are there; what one announces twice in the same words is one.
    """
    groups = (HOOK_GROUP, HEAT_GROUP) if heat else (HOOK_GROUP,)
    if not is_announced(*groups):
        return ()
    from importlib.metadata import entry_points

    found = (_entry(point) for group in groups for point in entry_points(group=group))
    return tuple({(entry.key, entry.target): entry for entry in found}.values())


def _entry(point: EntryPoint) -> HookEntry:
    distribution = point.dist.name if point.dist is not None else ""
    target = point.value.partition("[")[0].replace(" ", "")
    return HookEntry(point.group, distribution, point.name, target)


def named_twice(entries: Iterable[HookEntry]) -> Iterator[str]:
    """Sentences about names that several classes have: all are called."""
    known: dict[str, list[HookEntry]] = {}
    for entry in entries:
        known.setdefault(entry.name, []).append(entry)
    for name, same in known.items():
        if len(same) > 1:
            targets = ", ".join(sorted(f"{entry.target} of {entry.distribution or entry.group}" for entry in same))
            yield f"{len(same)} hook classes are called '{name}', and each is called: {targets}"
