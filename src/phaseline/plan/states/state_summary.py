"""List the states that nodes on paths go through in a plan, with the calls in each state (decision 15)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.graph import SubjectKind, is_of_state, phase_of, state_entered
from phaseline.model.graph.status import Mark

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph


@frozen
class CallPlan:
    """A call that a plan makes in one state, on ``count`` instances.

    ``may_not_apply`` is true if a condition, evaluated at that time, decides whether the call is made.
    """

    name: str
    is_phase: bool
    count: int
    may_not_apply: bool = False


@frozen
class StatePlan:
    """A state that ``count`` instances of a node enter, and the calls in it."""

    name: str
    count: int
    calls: tuple[CallPlan, ...]


def states_by_node(topology: Topology, graph: Graph) -> dict[int, tuple[StatePlan, ...]]:
    """Return {node number: its states in order} for the nodes on paths; empty for graphs without states."""
    on_path = topology.blueprint.on_path
    wanted = {number for number, node in enumerate(topology.nodes) if node.type in on_path}
    found: dict[int, list[StatePlan]] = {number: [] for number in wanted}
    for step in graph.steps if wanted else ():
        if step.kind is not SubjectKind.INSTANCE:
            continue
        state, phase = state_entered(step.phase), phase_of(step.phase)
        if state is None and is_of_state(step.phase):
            continue
        own = slice(step.first, step.first + step.count)
        counts = np.bincount(topology.node[graph.subject[own]])
        asked = bool(phase) and bool((graph.marks[own] & Mark.CONDITIONAL).any())
        for number in counts.nonzero()[0].tolist():
            if number not in wanted:
                continue
            count = int(counts[number])
            if state is not None:
                found[number].append(StatePlan(state, count, ()))
            elif found[number]:
                last = found[number][-1]
                call = CallPlan(phase or step.phase, phase is not None, count, asked)
                found[number][-1] = StatePlan(last.name, last.count, (*last.calls, call))
    return {number: tuple(states) for number, states in found.items() if states}
