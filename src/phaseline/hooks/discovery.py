"""Finds the hook classes that installed distributions, the settings and plugin packages announce, without importing
any.
"""

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
"""``HookEntry.group`` of a class that the settings name."""
FROM_PACKAGE = "package"
"""``HookEntry.group`` of a class that a plugin package contains."""


@frozen
class HookEntry:
    """An announced hook class: ``target`` is ``module:Class``; the module is searched in ``folder`` first.

    ``distribution``: the distribution or package that contains the class, or empty. ``options``: its constructor's
    arguments. ``optional``: the package lets a deployment disable the class. ``settings``: the stored settings that the
    deployment has for the package.
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
        """Unique name of the class among all hook classes: group, distribution and name."""
        return f"{self.group}/{self.distribution}/{self.name}"

    @property
    def is_heat(self) -> bool:
        """True for a class of Heat's entry-point group."""
        return self.group == HEAT_GROUP


def announced(*, heat: bool) -> tuple[HookEntry, ...]:
    """Return the hook classes that installed distributions announce; with ``heat`` also those of Heat's entry-point
    group.

    If two distributions use the same name, both classes are returned. A class announced twice by one distribution is
    returned once.
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
    """Yield a warning for each name that several classes have. All of these classes are called."""
    known: dict[str, list[HookEntry]] = {}
    for entry in entries:
        known.setdefault(entry.name, []).append(entry)
    for name, same in known.items():
        if len(same) > 1:
            targets = ", ".join(sorted(f"{entry.target} of {entry.distribution or entry.group}" for entry in same))
            yield f"{len(same)} hook classes are called '{name}', and each is called: {targets}"
