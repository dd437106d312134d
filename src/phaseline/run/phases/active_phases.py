"""The active phases of this engine: another value after each reload, and closed lanes for unusable phases.

A phase that is known but unusable, or needed but not defined, keeps its lane closed: resources that need it wait, and
continue when it is fixed (PD8, PD42). Operators close lanes, too.
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
"""Number of blueprints whose phases are cached."""


class PhaseSource(Protocol):
    """The source of phases."""

    def registry(self) -> PhaseRegistry:
        """The active phases; read at the first use."""
        ...

    def function(self, code: PhaseCode) -> Callable[..., object]:
        """The function of a listener. Raises what importing it raises."""
        ...


class ActivePhases:
    """Phases by name, and which lanes are closed."""

    def __init__(self, source: PhaseSource | None, paused: Callable[[], Iterable[str]] = tuple) -> None:
        """``paused``: the phases that operators have paused, whenever it is asked."""
        self.source = source
        self.registry = self._read()
        self._paused = paused
        self._held = {name.lower() for name in paused()}
        self._needed: dict[str, str] = {}
        self._told: dict[str, LaneChanged] = {}
        self._of_blueprints: dict[int, tuple[Blueprint, PhaseRegistry, PhaseRegistry]] = {}
        self.probed: set[str] = set()
        """Keys of phases that are tried with one resource though they are paused."""

    def _read(self) -> PhaseRegistry:
        return PhaseRegistry() if self.source is None else self.source.registry()

    def registry_of(self, blueprint: Blueprint) -> PhaseRegistry:
        """The registry for a deployment of this blueprint, whose types may be resource types."""
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
        """A deployment of this blueprint is dropped from memory."""
        self._of_blueprints.pop(id(blueprint), None)

    def find(self, name: str) -> PhaseDefinition | None:
        """The phase of this name if it can be used; None: it is not known, or unusable now."""
        found = self.registry.get(name)
        return None if found is None or self.registry.obstacles(found) else found

    def is_open(self, name: str) -> bool:
        """True for a phase that may be called."""
        return self.find(name) is not None and name.lower() not in self._held - self.probed

    @property
    def closed(self) -> set[str]:
        """Lanes of phases that may not be called now."""
        return {change.phase for change in self._told.values() if change.is_paused}

    def needed_by(self, graph: Graph) -> list[LaneChanged]:
        """Watch the phases that a starting or continued graph needs."""
        self._needed.update({name: name for name in phases_in(graph.steps)})
        return self.changes()

    def renew(self) -> list[LaneChanged]:
        """React to reloaded plugins, and to paused or opened phases."""
        self.registry = self._read()
        self._held = {name.lower() for name in self._paused()}
        return self.changes()

    def changes(self) -> list[LaneChanged]:
        """Lanes to be closed or opened, of phases that graphs need."""
        told: list[LaneChanged] = []
        for name in self._needed:
            lane = LANE_PREFIX + name
            change = LaneChanged(lane, not self.is_open(name), is_probe=name.lower() in self.probed)
            if change != self._told.get(name, LaneChanged(lane, is_paused=False)):
                self._told[name] = change
                told.append(change)
        return told


def phases_in(steps: Iterable[Step]) -> list[str]:
    """The phases that steps are about, in order."""
    return [name for step in steps if (name := phase_of(step.phase)) is not None]
