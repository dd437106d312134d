"""Find the stays in states among the steps of a graph: the phases of each state and its exit (ADR 0011, 0014).

The graph of a state has one stay. The graph of an install has one stay for each state of each type of resource.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution.breakpoints import PREFIX as STOP
from phaseline.model.graph.graph import EXIT_PREFIX, phase_of, state_entered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from phaseline.model.graph.graph import Step


@frozen
class StaySteps:
    """The steps of one stay: ``phases`` of a state with their breakpoints, and an ``exit`` that waits for all of these.

    All resources of the stay enter the state together.
    """

    state: str
    phases: tuple[Step, ...]
    exit: Step

    def has(self, step: Step) -> bool:
        """Return True if the step is a phase of the state, a breakpoint at such a phase, or the exit."""
        return step is self.exit or any(step is one for one in self.phases)

    def phase(self, name: str) -> Step | None:
        """Return the step of a phase; None if the state has no such phase. The case of the name does not matter."""
        lower = name.lower()
        return next((step for step in self.phases if (phase_of(step.phase) or "").lower() == lower), None)


def stays_of(steps: Iterable[Step]) -> list[StaySteps]:
    """Return the stays that have phases, in the order of their steps."""
    found: list[StaySteps] = []
    state = ""
    phases: list[Step] = []
    for step in steps:
        entered = state_entered(step.phase)
        if entered is not None:
            state, phases = entered, []
        elif phase_of(step.phase) is not None or step.phase.startswith(STOP):
            phases.append(step)
        elif step.phase.startswith(EXIT_PREFIX):
            found.append(StaySteps(state, tuple(phases), step))
            phases = []
    return found
