"""Plan an abandon: save the deployment as a document, then delete its records (spec of hooks, section 10).

No real resource is touched. The document is stored in an earlier turn than the one that deletes the records and ends
the execution. So neither a crash nor a lost reply loses the document. A hook that runs in between still finds the
records; if the hook refuses, the records are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.deployment.stack_documents import ABANDONED
from phaseline.model.execution.execution import Reshape, Verdict
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import Problem
from phaseline.plan.graph.verdicts import settled
from phaseline.plan.graph.workflow import SWITCH, Workflow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request
    from phaseline.plan.graph.call_policies import Declare

ABANDON = "abandon"
"""Name of the workflow, and of the round in which the document is stored."""
FORESEEN = "the deployment is written down and forgotten, and nothing is called"
FORCE = "force"
"""Parameter: abandon the deployment even if a modification has not ended."""


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Reshape | Verdict:  # noqa: ARG001 - a planner's signature
    """Return the round that stores the document, and after it the verdict that deletes the records."""
    if history.canceled:
        return Verdict(ExecutionStatus.CANCELED)
    if settled(history, ABANDON) is None:
        return Reshape(ABANDON, topology, keeps=(ABANDONED, history.execution))
    kept = f"kept as {history.execution}: phaseline abandoned show {history.execution}"
    return Verdict(ExecutionStatus.COMPLETED, kept if history.execution else FORESEEN, forgets=True)


def problems(topology: Topology, request: Request) -> Iterable[Problem]:
    """Yield PL-P043 if a modification has not ended, unless ``force`` is set."""
    under_way = topology.started
    if under_way is not None and request.parameters.get(FORCE) is not True:
        message = f"the modification of '{under_way.name}' by {under_way.execution or under_way.workflow} has not ended"
        mend = f"end it first: phaseline executions retry {under_way.execution}; or leave it half done: --force"
        yield Problem("PL-P043", message, mend)


WORKFLOW = Workflow(plan, {FORCE: SWITCH}, problems=problems)
