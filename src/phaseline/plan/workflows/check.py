"""Plan ``check_status`` and ``check_drift``: check each existing instance once and store the results (W32, W46).

Heal and update begin with rounds made by the same functions (``build_status_graph``, ``build_drift_graph``); there a
failed check is tolerated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import Verdict
from phaseline.model.graph.status import ExecutionStatus
from phaseline.plan.graph import operation_names as op
from phaseline.plan.graph.lifecycle_sequence import Call, Relate
from phaseline.plan.graph.selection import choose
from phaseline.plan.graph.verdicts import settled, verdict
from phaseline.plan.graph.workflow import Workflow, only_chosen
from phaseline.plan.transforms.pipeline import Asked, Walk, weave
from phaseline.plan.workflows.operation_round import IN_ORDER, IN_TURN

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare

CHECK_STATUS = "check_status"
CHECK_DRIFT = "check_drift"
"""Names of the two workflows, and of their graphs."""
CHECK = "check"
"""Name of the workflow that checks a deployment as a whole. Its graph is that of ``check_status``."""
SHOWN = 5
"""Largest number of nodes without a check that a verdict names. It also gives the number of the others."""

NOT_THERE = (State.UNINITIALIZED, State.DELETED)
"""States of instances that have no real resource, so that they cannot be checked."""


def is_up(asked: Asked) -> np.ndarray:
    """Return the instances that have a real resource, bool by number."""
    there: np.ndarray = ~np.isin(asked.history.states, NOT_THERE) & asked.topology.is_there
    return there


def implementing(topology: Topology, operation: str) -> np.ndarray:
    """Return the instances whose node implements the operation, bool by number."""
    if operation not in topology.called:
        return np.zeros(len(topology), bool)
    found = [node.operations.get(operation) for node in topology.nodes]
    by_node = np.array([one is not None and one.is_implemented for one in found], bool)
    answer: np.ndarray = by_node[topology.node]
    return answer


def build_status_graph(asked: Asked, chosen: np.ndarray, *, tolerant: bool, in_order: bool = False) -> Graph | None:
    """Return the graph that checks the status of chosen instances; None if no instance can be checked.

    Only existing instances whose node implements the check are called.
    """
    called = chosen & is_up(asked) & implementing(asked.topology, op.CHECK_STATUS)
    walk = Walk((Call(op.CHECK_STATUS),), tolerant=tolerant, once=True, in_order=in_order)
    return weave(asked, CHECK_STATUS, called, walk) if called.any() else None


def build_drift_graph(asked: Asked, chosen: np.ndarray, *, tolerant: bool, in_order: bool) -> Graph | None:
    """Return the graph that checks drift of chosen instances, then of relationships; None if none can be checked."""
    called = implementing(asked.topology, op.CHECK_DRIFT) | _related(asked.topology, op.CHECK_RELATIONSHIP_DRIFT)
    called &= chosen & is_up(asked)
    sequence = (Call(op.CHECK_DRIFT), Relate(op.CHECK_RELATIONSHIP_DRIFT))
    walk = Walk(sequence, tolerant=tolerant, once=True, in_order=in_order)
    return weave(asked, CHECK_DRIFT, called, walk) if called.any() else None


def _related(topology: Topology, operation: str) -> np.ndarray:
    """Return the instances with a relationship that implements the operation on either side, bool by number."""
    sides = [(link.relationship.source_operations, link.relationship.target_operations) for link in topology.links]
    found = [[side.get(operation) for side in both] for both in sides]
    by_link = np.array([any(one is not None and one.is_implemented for one in both) for both in found], bool)
    answer = np.zeros(len(topology), bool)
    if by_link.any():
        answer[topology.source[by_link[topology.link] & topology.is_tied]] = True
    return answer


def plan_status(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    """Return the graph that checks the status of chosen instances; after it, the verdict.

    A failed check fails the workflow.
    """
    asked = Asked(topology, request, history, declare)
    in_order = request.parameters.get(IN_ORDER) is True
    return _once(
        asked, CHECK_STATUS, lambda chosen: build_status_graph(asked, chosen, tolerant=False, in_order=in_order)
    )


def plan_drift(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    """Return the graph that checks drift of chosen instances; after it, the verdict.

    Drift is a result, not a failure.
    """
    asked = Asked(topology, request, history, declare)
    in_order = request.parameters.get(IN_ORDER) is not False
    return _once(asked, CHECK_DRIFT, lambda chosen: build_drift_graph(asked, chosen, tolerant=False, in_order=in_order))


def plan_check(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    """Return the answer of ``plan_status``; the reason in the verdict also names nodes without a check."""
    answer = plan_status(topology, request, history, declare)
    if not isinstance(answer, Verdict) or answer.status is ExecutionStatus.CANCELED:
        return answer
    blind = is_up(Asked(topology, request, history, declare)) & choose(topology, request)
    blind &= ~implementing(topology, op.CHECK_STATUS)
    if not blind.any():
        return answer
    nodes = np.unique(topology.node[blind]).tolist()
    listed = ", ".join(f"'{topology.nodes[number].name}'" for number in nodes[:SHOWN])
    more = f" and {len(nodes) - SHOWN:,} more" if len(nodes) > SHOWN else ""
    verb = "has" if len(nodes) == 1 else "have"
    said = f"check is not fully supported: {listed}{more} {verb} no check_status"
    return Verdict(
        answer.status, f"{answer.reason}; {said}" if settled(history, CHECK_STATUS) and answer.reason else said
    )


def _once(asked: Asked, name: str, lay: Callable[[np.ndarray], Graph | None]) -> Graph | Verdict:
    done = settled(asked.history, name)
    if done:
        return verdict(asked.history, done)
    if asked.history.canceled:
        return Verdict(ExecutionStatus.CANCELED)
    nobody = f"no chosen instance that is there has an operation '{name}', so there was nothing to check"
    return lay(choose(asked.topology, asked.request)) or Verdict(ExecutionStatus.COMPLETED, nobody)


WORKFLOWS = {
    CHECK_STATUS: Workflow(plan_status, IN_TURN, claims=only_chosen),
    CHECK_DRIFT: Workflow(plan_drift, IN_TURN, claims=only_chosen),
    CHECK: Workflow(plan_check, IN_TURN, claims=only_chosen),
}
