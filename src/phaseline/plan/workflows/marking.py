"""Mark unhealthy: a person says that instances are ill, and the next heal takes them for that (spec of hooks, section 11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.execution import Reshape
from phaseline.model.problem import Problem
from phaseline.plan.selection import choose
from phaseline.plan.workflow import FILTERING, Parameter, Workflow, only_chosen
from phaseline.plan.workflows.saying import saying

if TYPE_CHECKING:
    from collections.abc import Iterable

    from phaseline.model.execution import Request
    from phaseline.model.topology import Topology

MARK = "mark_unhealthy"
"""Name of the workflow, and of its round."""
REASON = "reason"
"""Parameter: why, as it is shown with the instance."""


def marked(topology: Topology, request: Request) -> Reshape:
    """The marks of those that are named."""
    chosen = choose(topology, request).nonzero()[0].astype(np.int32)
    return Reshape(MARK, topology, marks=(chosen, str(request.parameters.get(REASON) or "")))


def problems(topology: Topology, request: Request) -> Iterable[Problem]:
    """PL-P001 where it is not said who: nobody means everybody."""
    if only_chosen(topology, request) is None:
        mend = "Name them: phaseline instances mark-unhealthy ID -d NAME"
        yield Problem("PL-P001", "it is not said which instances are unhealthy", mend)


PARAMETERS = {REASON: Parameter((str,), "a text"), **FILTERING}
WORKFLOW = Workflow(saying(MARK, marked), PARAMETERS, problems=problems, claims=only_chosen)
