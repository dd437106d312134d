"""All phases and listeners that are known at one time, found by state, resource type and dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.state_paths import DEFAULT_TYPES, ResourceTypes
from phaseline.model.phases.definitions import ListenerDefinition, PhaseDefinition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.blueprint.blueprint import Blueprint


class PhaseRegistry:
    """All phases, listeners and types; immutable, so a reload makes another registry. Phases are ordered by name.

    >>> allocate = PhaseDefinition("Allocate", "a", ("Allocation",), ("Cloud.Node",))
    >>> registry = PhaseRegistry([allocate])
    >>> registry.of("Allocation", "Cloud.Node") == (allocate,), registry.of("Started", "Cloud.Node")
    (True, ())
    """

    def __init__(
        self,
        phases: Iterable[PhaseDefinition] = (),
        listeners: Iterable[ListenerDefinition] = (),
        types: ResourceTypes = DEFAULT_TYPES,
    ) -> None:
        """If two phases have the same name, the first one is kept."""
        self._phases: dict[str, PhaseDefinition] = {}
        for phase in phases:
            self._phases.setdefault(phase.key, phase)
        self.listeners = tuple(listeners)
        self.types = types
        self._found: dict[tuple[str, str], tuple[PhaseDefinition, ...]] = {}
        self._by_state: dict[str, list[PhaseDefinition]] = {}
        for phase in self.phases:
            for state in phase.states:
                self._by_state.setdefault(state, []).append(phase)

    @property
    def phases(self) -> tuple[PhaseDefinition, ...]:
        """All phases, including those that cannot be used."""
        return tuple(self._phases[key] for key in sorted(self._phases))

    def get(self, name: str) -> PhaseDefinition | None:
        """Return the phase with this name, or None; upper and lower case make no difference."""
        return self._phases.get(name.lower())

    def of(self, state: str, resource_type: str) -> tuple[PhaseDefinition, ...]:
        """Return the phases of the state for resources of the type.

        Their provider and constraint are not checked here.
        """
        key = (state, resource_type)
        found = self._found.get(key)
        if found is None:
            line = set(self.types.line(resource_type))
            handled = self._by_state.get(state, ())
            found = self._found[key] = tuple(phase for phase in handled if line.intersection(phase.resource_types))
        return found

    def needs(self, phase: PhaseDefinition, state: str) -> tuple[str, ...]:
        """Return the names of phases that must complete before this phase in the state.

        Phases of other states do not count. A name without a known phase counts, because its states are unknown
        (PD8).
        """
        found = [(name, self.get(name)) for name in phase.dependencies]
        return tuple(
            name if known is None else known.name for name, known in found if known is None or state in known.states
        )

    def obstacles(self, phase: PhaseDefinition) -> tuple[str, ...]:
        """Return the reasons why a phase cannot run until it is fixed: its own error, or missing phases that it needs."""
        if phase.error:
            return (phase.error,)
        needed = [(name, self.get(name)) for name in phase.dependencies]
        return tuple(
            f"it depends on '{name}', which {'is not loaded' if known is None else 'cannot be used'}"
            for name, known in needed
            if known is None or known.error
        )

    def of_blueprint(self, blueprint: Blueprint) -> PhaseRegistry:
        """Return the registry with a blueprint's node types as resource types, and with the blueprint's own paths."""
        if not blueprint.on_path:
            return self
        lines = {name: one.line for name, one in blueprint.on_path.items()}
        return PhaseRegistry(self.phases, self.listeners, self.types.with_more((), blueprint.state_paths, lines))

    def listeners_of(self, state: str, resource_type: str) -> tuple[ListenerDefinition, ...]:
        """Return listeners for resources of the type that reach the state; listeners that cannot be called are left out."""
        line = set(self.types.line(resource_type))
        return tuple(
            one
            for one in self.listeners
            if not one.error
            and (not one.states or state in one.states)
            and (not one.resource_types or line.intersection(one.resource_types))
        )

    def still_knowing(self, lost: Mapping[str, PhaseDefinition | None], error: str) -> PhaseRegistry:
        """Return a copy that also has phases which are needed but no longer defined, marked as unusable (PD8, PD42).

        ``lost`` is {name: its last definition, or None if unknown}.
        """
        added = [
            PhaseDefinition(name, "", (), (), error=error) if known is None else altered(known, error=error)
            for name, known in lost.items()
            if self.get(name) is None
        ]
        return PhaseRegistry([*self.phases, *added], self.listeners, self.types)


def circles(phases: Sequence[PhaseDefinition]) -> list[tuple[str, ...]]:
    """Return cycles of phases that wait for one another within a state, each cycle once; each phase is needed by the next.

    >>> one, two = (PhaseDefinition(name, name, ("S",), ("T",), dependencies=(other,)) for name, other in ("AB", "BA"))
    >>> circles([one, two])
    [('A', 'B')]
    """
    from phaseline.lang.cycles import cycles  # only checks of phases ask

    found: dict[frozenset[str], tuple[str, ...]] = {}
    for state in dict.fromkeys(state for phase in phases for state in phase.states):
        here = {phase.key: phase for phase in phases if state in phase.states}
        edges = {
            key: [name.lower() for name in phase.dependencies if name.lower() in here and name.lower() != key]
            for key, phase in here.items()
        }
        for circle in cycles(edges):
            found.setdefault(frozenset(circle), tuple(here[key].name for key in circle))
    return list(found.values())
