"""Mark unhealthy: a person says that instances are ill, and the next heal takes them for that (spec of hooks, section 11).

Nothing is called. It is an execution as any other, so it claims the instances: what somebody else is working on is not marked under his hands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.execution import Reshape, Verdict
from phaseline.model.problem import Problem
from phaseline.model.status import ExecutionStatus
from phaseline.plan.selection import choose
from phaseline.plan.verdicts import settled, verdict
from phaseline.plan.workflow import FILTERING, Parameter, Workflow, only_chosen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from phaseline.model.execution import History, Request
    from phaseline.model.topology import Topology
    from phaseline.plan.policies import Declare

MARK = "mark_unhealthy"
"""Name of the workflow, and of its round."""
REASON = "reason"
"""Parameter: why, as it is shown with the instance."""


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Reshape | Verdict:  # noqa: ARG001 - a planner's signature
    """The marks, then the verdict."""
    done = settled(history, MARK)
    if done:
        return verdict(history, done)
    if history.canceled:
        return Verdict(ExecutionStatus.CANCELED)
    chosen = choose(topology, request).nonzero()[0].astype(np.int32)
    return Reshape(MARK, topology, marks=(chosen, str(request.parameters.get(REASON) or "")))


def problems(topology: Topology, request: Request) -> Iterable[Problem]:
    """PL-P001 where it is not said who: nobody means everybody."""
    if only_chosen(topology, request) is None:
        mend = "Name them: phaseline instances mark-unhealthy ID -d NAME"
        yield Problem("PL-P001", "it is not said which instances are unhealthy", mend)


WORKFLOW = Workflow(plan, {REASON: Parameter((str,), "a text"), **FILTERING}, problems=problems, claims=only_chosen)
