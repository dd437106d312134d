"""Plan suspend and resume: freeze started instances, dependents first, and resume them in opposite order (decision 24).

Instances that implement ``cloudify.interfaces.freeze`` are frozen; all others are stopped, and later started. Suspended
is a state of its own, so a second suspend after a partial failure suspends only instances that still run. If none is
left, the workflow reports that at once and calls nothing, not even hooks.

Example, ``suspend`` of ``web``, which depends on ``db``: both are started, so first ``web`` is frozen or stopped and
becomes suspended, then ``db``. ``resume`` selects suspended instances: first ``db`` is resumed and becomes started,
then ``web``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import Verdict
from phaseline.model.graph.status import ExecutionStatus
from phaseline.plan.graph import operation_names as op
from phaseline.plan.graph.lifecycle_sequence import Become, Call
from phaseline.plan.graph.operation_arguments import OPERATION_PARMS
from phaseline.plan.graph.selection import choose
from phaseline.plan.graph.verdicts import settled, verdict
from phaseline.plan.graph.workflow import FILTERING, INPUTS, Workflow, only_chosen
from phaseline.plan.transforms.pipeline import Asked, Walk, weave
from phaseline.plan.workflows.check import implementing

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare

SUSPEND, RESUME = "suspend", "resume"
"""Names of the workflows, and of their graphs."""


@frozen
class Freezing:
    """The settings of one of the workflows suspend and resume.

    ``operation`` is called on instances that implement it, ``instead`` on all others. Instances in the state ``before``
    are selected and get the state ``after``. With ``downwards``, dependents come first. ``nobody`` is the reason in the
    verdict if no instance is selected.
    """

    graph: str
    operation: str
    instead: str
    before: State
    after: State
    downwards: bool
    nobody: str


FREEZE = Freezing(
    SUSPEND, op.FREEZE_SUSPEND, op.STOP, State.STARTED, State.SUSPENDED, True, "nothing runs that could be suspended"
)
THAW = Freezing(
    RESUME, op.FREEZE_RESUME, op.START, State.SUSPENDED, State.STARTED, False, "nothing is suspended that could resume"
)
BY_NAME = {SUSPEND: FREEZE, RESUME: THAW}


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    """Return the graph of chosen instances in the state to change; after it, the verdict."""
    what = BY_NAME[request.workflow]
    done = settled(history, what.graph)
    if done:
        return verdict(history, done)
    if history.canceled:
        return Verdict(ExecutionStatus.CANCELED)
    chosen = choose(topology, request) & (history.states == what.before) & topology.is_there
    if not chosen.any():
        return Verdict(ExecutionStatus.COMPLETED, what.nobody, is_idle=True)
    return build_switch_graph(Asked(topology, request, history, declare), chosen, what)


def build_switch_graph(asked: Asked, chosen: np.ndarray, what: Freezing) -> Graph:
    """Return the graph that suspends or resumes the chosen instances (bool by number)."""
    can = implementing(asked.topology, what.operation)
    calls = Call(what.operation, only=can), Call(what.instead, only=~can), Become(what.after)
    return weave(asked, what.graph, chosen, Walk(calls, downwards=what.downwards))


WORKFLOWS = {
    name: Workflow(plan, {OPERATION_PARMS: INPUTS, **FILTERING}, claims=only_chosen) for name in (SUSPEND, RESUME)
}
