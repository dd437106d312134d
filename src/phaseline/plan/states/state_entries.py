"""Stays in states among the steps of a graph: the entry, the phases, and the exit (ADR 0011, 0014).

The graph of a state has one stay; that of an install has one for each node that is a resource, in sequence.
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
    """The steps of one state for resources that enter it together: ``phases`` with their breakpoints, and the ``exit``.

    The exit is the step that waits for all of them.
    """

    state: str
    phases: tuple[Step, ...]
    exit: Step

    def has(self, step: Step) -> bool:
        """True if the step is a phase of the state, a breakpoint at such a phase, or the exit."""
        return step is self.exit or any(step is one for one in self.phases)

    def phase(self, name: str) -> Step | None:
        """The step of a phase, or None; upper and lower case in the name make no difference."""
        lower = name.lower()
        return next((step for step in self.phases if (phase_of(step.phase) or "").lower() == lower), None)


def stays_of(steps: Iterable[Step]) -> list[StaySteps]:
    """The stays that have phases, in the order of their steps."""
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
