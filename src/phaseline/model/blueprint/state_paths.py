"""Resource types, and the paths of states that lead their resources to a target. Both are data that plugins define (PD1).

A type inherits the paths of its parents unless it has paths of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from types import MappingProxyType

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import NOWHERE, Place

MAX_PARENTS = 100
"""Largest length of a chain of parents; a longer chain is treated as a cycle."""
NO_LINES: Mapping[str, tuple[str, ...]] = MappingProxyType({})


@frozen
class ResourceType:
    """A kind of resource. ``attributes`` has the names of its resources' attributes; empty if they are not known.

    ``uses_provider`` means that its resources name a provider, so that a phase can be limited to one provider.
    """

    name: str
    parent: str = ""
    attributes: tuple[str, ...] = ()
    uses_provider: bool = False
    where: Place = field(default=NOWHERE, compare=False)


@frozen
class StatePath:
    """The states that resources of a type go through to reach ``target``, which is the last state.

    ``groups`` is {state: the word that users see while a resource is in the state}.
    """

    resource_type: str
    target: str
    states: tuple[str, ...]
    groups: Mapping[str, str] = field(default_factory=dict)
    where: Place = field(default=NOWHERE, compare=False)

    def after(self, state: str) -> str | None:
        """Return the state that follows on the path, or None if there is none or the state is not on the path."""
        if state not in self.states or state == self.target:
            return None
        return self.states[self.states.index(state) + 1]

    def group(self, state: str) -> str:
        """Return the word that users see for a state, or the state's name if the path gives no word."""
        return self.groups.get(state, state)


class ResourceTypes:
    """All known resource types with their paths.

    A later type replaces an earlier type of the same name; a later path replaces one of the same type and target.
    """

    def __init__(
        self,
        types: Iterable[ResourceType] = (),
        paths: Iterable[StatePath] = (),
        lines: Mapping[str, tuple[str, ...]] = NO_LINES,
    ) -> None:
        """Collect types and paths without checking that their parents and targets exist: readers of plugins check it.

        ``lines`` is {type of a blueprint: the type and its parents, nearest first}.
        """
        self.types: Mapping[str, ResourceType] = {one.name: one for one in types}
        self.paths: Mapping[tuple[str, str], StatePath] = {(path.resource_type, path.target): path for path in paths}
        self.lines = lines

    def with_more(
        self,
        types: Iterable[ResourceType] = (),
        paths: Iterable[StatePath] = (),
        lines: Mapping[str, tuple[str, ...]] = NO_LINES,
    ) -> ResourceTypes:
        """Return a copy with these types and paths added."""
        return ResourceTypes([*self.types.values(), *types], [*self.paths.values(), *paths], {**self.lines, **lines})

    def line(self, name: str) -> tuple[str, ...]:
        """Return the type, its parent, the parent's parent, and so on; for an unknown type only its name.

        >>> DEFAULT_TYPES.with_more([ResourceType("Web", "Cloud.Node")]).line("Web")
        ('Web', 'Cloud.Node')
        """
        found = list(self.lines.get(name, (name,)))
        while (one := self.types.get(found[-1])) is not None and one.parent and one.parent not in found:
            found.append(one.parent)
            if len(found) > MAX_PARENTS:
                break
        return tuple(found)

    def is_kind_of(self, name: str, ancestor: str) -> bool:
        """Return True if the type is ``ancestor`` or derives from it (PD3)."""
        return ancestor in self.line(name)

    def path(self, name: str, target: str) -> StatePath | None:
        """Return the path of the type, or of its nearest parent; None if no path leads to the target."""
        return next((path for one in self.line(name) if (path := self.paths.get((one, target))) is not None), None)

    def paths_of(self, name: str) -> tuple[StatePath, ...]:
        """Return the paths of the type, one for each target that its resources can have."""
        found: dict[str, StatePath] = {}
        for one in self.line(name):
            for (owner, target), path in self.paths.items():
                if owner == one:
                    found.setdefault(target, path)
        return tuple(found.values())

    def states_of(self, name: str) -> tuple[str, ...]:
        """Return every state on the paths of the type, each once, path by path."""
        return tuple(dict.fromkeys(state for path in self.paths_of(name) for state in path.states))

    def below(self, name: str) -> tuple[str, ...]:
        """Return the type and all its subtypes."""
        known = dict.fromkeys([*self.types, *(owner for owner, _ in self.paths)])
        return (name, *(one for one in known if one != name and self.is_kind_of(one, name)))

    def is_known(self, name: str) -> bool:
        """Return True if the type is defined, or has a path."""
        return name in self.types or any(owner == name for owner, _ in self.paths)

    def is_last(self, name: str, state: str) -> bool:
        """Return True if the state is the last one of every path (of the type or a derived type) that contains it.

        The phases of such a state are never run (PD26).
        """
        on = [path for one in self.below(name) for path in self.paths_of(one) if state in path.states]
        return bool(on) and all(path.target == state for path in on)

    def uses_provider(self, name: str) -> bool:
        """Return True if the type or one of its parents uses a provider."""
        return any(self.types[one].uses_provider for one in self.line(name) if one in self.types)

    def attributes_of(self, name: str) -> frozenset[str] | None:
        """Return the attributes of the type and its parents in lower case; None if nothing is known about them."""
        found = [self.types[one].attributes for one in self.line(name) if one in self.types]
        return frozenset(each.lower() for names in found for each in names) if any(found) else None


NODE = "Cloud.Node"
DEFAULT_TYPES = ResourceTypes(
    [ResourceType(NODE, uses_provider=True)],
    [
        StatePath(
            NODE,
            "Started",
            ("Validation", "Allocation", "Initialization", "Configuration", "Installation", "Started"),
            {
                "Validation": "Acquiring",
                "Allocation": "Acquiring",
                "Initialization": "Preparing",
                "Configuration": "Preparing",
                "Installation": "Preparing",
                "Started": "Ready",
            },
        ),
        StatePath(NODE, "Terminated", ("Deconfiguration", "Deallocation", "Terminated")),
    ],
)
"""The built-in resource type and its paths (PD2)."""
