"""The built-in workflows: planners that give the next graph of an execution, or its verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from phaseline.model.execution import History, Request, Verdict
from phaseline.model.graph import Graph
from phaseline.model.topology import Topology
from phaseline.plan.policies import Declare
from phaseline.plan.workflows import execute_operation, install, reinstall, rollback, start_stop, uninstall

if TYPE_CHECKING:
    from collections.abc import Mapping

Planner = Callable[[Topology, Request, History, Declare], Graph | Verdict]
"""Asked for the first graph of an execution, and again whenever a graph of it has settled."""

PLANNERS: Mapping[str, Planner] = {
    "install": install.plan,
    "uninstall": uninstall.plan,
    "reinstall": reinstall.plan,
    "rollback": rollback.plan,
    "execute_operation": execute_operation.plan,
    **dict.fromkeys(start_stop.INVOCATIONS, start_stop.plan),
}
"""{name of the workflow: its planner}"""
