"""Workflows by which a person says something of a deployment: nothing is called, and one round stores what was said.

They are executions as any other, so they claim whom they are about, and somebody else's work is not disturbed under his hands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from phaseline.model.execution import History, Request, Reshape, Verdict
from phaseline.model.status import ExecutionStatus
from phaseline.model.topology import Topology
from phaseline.plan.verdicts import settled, verdict

if TYPE_CHECKING:
    from phaseline.plan.policies import Declare
    from phaseline.plan.workflow import Planner


def saying(name: str, said: Callable[[Topology, Request], Reshape]) -> Planner:
    """The planner of such a workflow. ``name``: of its round; ``said``: what is stored with it."""

    def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Reshape | Verdict:  # noqa: ARG001 - a planner's signature
        done = settled(history, name)
        if done:
            return verdict(history, done)
        return Verdict(ExecutionStatus.CANCELED) if history.canceled else said(topology, request)

    return plan
