"""Plan a reinstall: uninstall all chosen instances, then install them (W25).

No install starts before the last uninstall has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.execution.execution import Verdict
from phaseline.model.graph.status import ExecutionStatus
from phaseline.plan.graph import operation_names as op
from phaseline.plan.graph.selection import choose
from phaseline.plan.graph.verdicts import settled, verdict
from phaseline.plan.graph.workflow import FILTERING, Workflow, only_chosen, refuse_restricted
from phaseline.plan.transforms.pipeline import Asked
from phaseline.plan.workflows import install, uninstall
from phaseline.plan.workflows.lifecycle_retries import retrying
from phaseline.plan.workflows.operation_round import NOBODY

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare

REINSTALL = "reinstall"


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    """Return the graph "uninstall" of the chosen instances, then their graph "install"; after it, the verdict.

    Intact instances, which are not chosen, call all three relationship operations of an install again for their
    relationships to chosen instances (decision 17).
    """
    done = settled(history, install.INSTALL)
    if done:
        return verdict(history, done)
    gone = settled(history, uninstall.UNINSTALL)
    if gone and (history.canceled or not gone.is_met):
        return verdict(history, gone)
    if history.canceled:
        return Verdict(ExecutionStatus.CANCELED)
    chosen = choose(topology, request)
    if not chosen.any():
        return Verdict(ExecutionStatus.COMPLETED, NOBODY)
    asked = Asked(topology, request, history, declare)
    if not gone:
        refuse_restricted(topology, "replace", chosen)
        return uninstall.build_uninstall_graph(asked, chosen)
    return install.build_install_graph(asked, chosen, intact=op.INSTALL_RELATIONSHIP_OPERATIONS)


WORKFLOW = Workflow(retrying(plan, uninstall.BEFORE_AGAIN), {**uninstall.IGNORING, **FILTERING}, claims=only_chosen)
