"""Plan a rollback: take half-made instances of an install back to a state from which the install can be repeated (W45).

Half-started instances go back to configured, half-created or half-configured ones to uninitialized; all others stay
unchanged. Failures are ignored, as in Cloudify: what cannot be undone must not keep the rest from being undone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import Verdict
from phaseline.model.graph.status import ExecutionStatus
from phaseline.plan.graph import operation_names as op
from phaseline.plan.graph.lifecycle_sequence import Become, Call, Relate, Sequence
from phaseline.plan.graph.selection import choose
from phaseline.plan.graph.verdicts import settled, verdict
from phaseline.plan.graph.workflow import FILTERING, SWITCH, Workflow, only_chosen
from phaseline.plan.transforms.pipeline import Asked, Walk, weave
from phaseline.plan.workflows import uninstall

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare

ROLLBACK = "rollback"
"""Name of the workflow, and of its graph."""
FULL_ROLLBACK = "full_rollback"
"""Parameter: uninstall the whole deployment after the rollback."""

NOTHING_HALF_MADE = "no chosen instance is half made, so there was nothing to take back"
HALF_MADE = frozenset({State.CREATING, State.CONFIGURING, State.STARTING})
UNLESS_STARTING = frozenset(State) - {State.STARTING}
UNLESS_HALF_THERE = frozenset(State) - {State.CREATING, State.CONFIGURING}

SEQUENCE: Sequence = (
    *uninstall.stopping(unless=UNLESS_STARTING),
    Become(State.CONFIGURED, unless=UNLESS_STARTING),
    Relate(op.UNLINK, unless=UNLESS_HALF_THERE, reverse=True),
    Call(op.DELETE, unless=UNLESS_HALF_THERE),
    Call(op.POSTDELETE, unless=UNLESS_HALF_THERE),
    Become(State.UNINITIALIZED, unless=UNLESS_HALF_THERE),
)
BACK = Walk(SEQUENCE, downwards=True, tolerant=True, once=True)


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    """Return the graph that takes half-made instances back, then that of a requested uninstall; then the verdict."""
    gone = settled(history, uninstall.UNINSTALL)
    if gone:
        return verdict(history, gone)
    back = settled(history, ROLLBACK)
    if history.canceled:
        return verdict(history, back) if back else Verdict(ExecutionStatus.CANCELED)
    half_made = choose(topology, request) & np.isin(history.states, list(HALF_MADE))
    if not back and half_made.any():
        return weave(Asked(topology, request, history, declare), ROLLBACK, half_made, BACK)
    if request.parameters.get(FULL_ROLLBACK) is not True:
        return verdict(history, back) if back else Verdict(ExecutionStatus.COMPLETED, NOTHING_HALF_MADE)
    if back and not back.is_met:
        return verdict(history, back)
    return uninstall.build_uninstall_graph(Asked(topology, request, history, declare), topology.is_there)


def claims(topology: Topology, request: Request) -> np.ndarray | None:
    """Return the chosen instances as the claim; with ``full_rollback``, None for all instances."""
    return None if request.parameters.get(FULL_ROLLBACK) is True else only_chosen(topology, request)


WORKFLOW = Workflow(plan, {FULL_ROLLBACK: SWITCH, **FILTERING}, claims=claims)
