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
    """``phases`` of one state, and breakpoints at them, for the resources that enter it together; ``exit``: the step behind all of them."""

    state: str
    phases: tuple[Step, ...]
    exit: Step

    def has(self, step: Step) -> bool:
        """Whether this step is one of its phases, a breakpoint at one, or its exit."""
        return step is self.exit or any(step is one for one in self.phases)

    def phase(self, name: str) -> Step | None:
        """The step of a phase, in whichever case its name is written."""
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
