"""The active phases of this engine, read again after each reload, and closed lanes for unusable phases.

The lane of a phase is closed while the phase is unusable, or while its definition is missing. Resources that need it
wait, and continue when it is fixed (PD8, PD42). Lanes of phases that operators pause are closed too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from phaseline.model.execution.events import LaneChanged
from phaseline.model.graph.graph import LANE_PREFIX, phase_of
from phaseline.model.phases.registry import PhaseRegistry

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Blueprint
    from phaseline.model.graph.graph import Graph, Step
    from phaseline.model.phases.definitions import PhaseCode, PhaseDefinition


KNOWN_BLUEPRINTS = 1_000
"""The most blueprints whose phases are cached."""


class PhaseSource(Protocol):
    """The source from which an engine gets its phases and listeners."""

    def registry(self) -> PhaseRegistry:
        """Return the active phases."""
        ...

    def function(self, code: PhaseCode) -> Callable[..., object]:
        """Return the function of a listener. Raises what importing it raises."""
        ...


class ActivePhases:
    """The phases by name, and which of their lanes are closed, so that no call of the phase is made."""

    def __init__(self, source: PhaseSource | None, paused: Callable[[], Iterable[str]] = tuple) -> None:
        """Read the phases of ``source``. ``paused`` returns the names of the phases that are paused at present."""
        self.source = source
        self.registry = self._read()
        self._paused = paused
        self._held = {name.lower() for name in paused()}
        self._needed: dict[str, str] = {}
        self._told: dict[str, LaneChanged] = {}
        self._of_blueprints: dict[int, tuple[Blueprint, PhaseRegistry, PhaseRegistry]] = {}
        self.probed: set[str] = set()
        """Names, in lower case, of paused phases that may call one resource, to try whether they work again."""

    def _read(self) -> PhaseRegistry:
        return PhaseRegistry() if self.source is None else self.source.registry()

    def registry_of(self, blueprint: Blueprint) -> PhaseRegistry:
        """Return the phase registry for a deployment of this blueprint, whose node types may be resource types."""
        if not blueprint.on_path:
            return self.registry
        known = self._of_blueprints.get(id(blueprint))
        if known is None or known[0] is not blueprint or known[1] is not self.registry:
            if len(self._of_blueprints) >= KNOWN_BLUEPRINTS:
                self._of_blueprints.clear()
            known = self._of_blueprints[id(blueprint)] = (
                blueprint, self.registry, self.registry.of_blueprint(blueprint),
            )  # fmt: skip
        return known[2]

    def forget_blueprint(self, blueprint: Blueprint) -> None:
        """Drop the cached registry of a blueprint, because its deployment is dropped from memory."""
        self._of_blueprints.pop(id(blueprint), None)

    def find(self, name: str) -> PhaseDefinition | None:
        """Return the phase with this name, or None if it is unknown or cannot be used now."""
        found = self.registry.get(name)
        return None if found is None or self.registry.obstacles(found) else found

    def is_open(self, name: str) -> bool:
        """Return True if the phase may be called now."""
        return self.find(name) is not None and name.lower() not in self._held - self.probed

    @property
    def closed(self) -> set[str]:
        """Lanes of phases that graphs need but that may not be called now: the phase is paused or cannot be used."""
        return {change.phase for change in self._told.values() if change.is_paused}

    def needed_by(self, graph: Graph) -> list[LaneChanged]:
        """Record that a graph needs its phases. Return the lanes that are to be closed or opened because of that."""
        self._needed.update({name: name for name in phases_in(graph.steps)})
        return self.changes()

    def renew(self) -> list[LaneChanged]:
        """Read phases and pauses again, and return the lanes to close or open."""
        self.registry = self._read()
        self._held = {name.lower() for name in self._paused()}
        return self.changes()

    def changes(self) -> list[LaneChanged]:
        """Return the lanes to close or open, for phases that graphs need."""
        told: list[LaneChanged] = []
        for name in self._needed:
            lane = LANE_PREFIX + name
            change = LaneChanged(lane, not self.is_open(name), is_probe=name.lower() in self.probed)
            if change != self._told.get(name, LaneChanged(lane, is_paused=False)):
                self._told[name] = change
                told.append(change)
        return told


def phases_in(steps: Iterable[Step]) -> list[str]:
    """Return the names of the phases in these steps, in order."""
    return [name for step in steps if (name := phase_of(step.phase)) is not None]
