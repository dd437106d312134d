"""Plan rounds that each call one operation on all chosen instances, such as the rounds of stop and restart (W26).

A workflow is a tuple of invocations, one for each round: ``restart`` calls all of ``stop``, then all of ``start``.
Example of ``restart``: without any round, ``in_turn`` builds the graph "stop". Called again when that has settled, it
finds the round "stop" met and builds "start". Called a third time, it returns the verdict with the results of "start".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution.execution import Verdict
from phaseline.model.graph.status import ExecutionStatus
from phaseline.plan.graph.lifecycle_sequence import Call
from phaseline.plan.graph.selection import choose
from phaseline.plan.graph.verdicts import settled, verdict
from phaseline.plan.graph.workflow import FILTERING, SWITCH
from phaseline.plan.transforms.pipeline import Asked, Walk, weave

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.model.blueprint.blueprint import Operation
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare
    from phaseline.plan.graph.workflow import Parameter

IN_ORDER = "run_by_dependency_order"
REVERSE_ORDER = "reverse_order"
"""Parameter: dependents come first if instances are called in dependency order (WD19)."""
IN_TURN: Mapping[str, Parameter] = {IN_ORDER: SWITCH, **FILTERING}
"""Parameters of every workflow that calls one operation."""
NOBODY = "no instance was chosen, so there was nothing to do"


@frozen
class Invocation:
    """A round that calls ``operation``, given by its full name or by a last part that is unique within the node (B33).

    ``graph`` is the name of the round. ``in_order`` is true if instances wait for their dependencies by default.
    ``may_reverse`` is true if the request may let dependents come first.
    """

    graph: str
    operation: str
    in_order: bool = True
    may_reverse: bool = False


def in_turn(
    topology: Topology,
    request: Request,
    history: History,
    declare: Declare,
    invocations: tuple[Invocation, ...],
) -> Graph | Verdict:
    """Return the graph of the first invocation that has not settled; after the last one or a failed one, the verdict.

    Invocations without chosen instances are skipped.
    """
    done, place = None, len(invocations)
    while done is None and place:
        place -= 1
        done = settled(history, invocations[place].graph)
    if done is not None and (history.canceled or not done.is_met):
        return verdict(history, done)
    if history.canceled:
        return Verdict(ExecutionStatus.CANCELED)
    for invocation in invocations[place + (done is not None) :]:
        graph = _build_round(Asked(topology, request, history, declare), invocation)
        if graph is not None:
            return graph
    return verdict(history, done) if done is not None else Verdict(ExecutionStatus.COMPLETED, NOBODY)


def known_operations(topology: Topology, request: Request, operation: str) -> dict[int, Operation]:
    """Return {node number: the operation} for nodes that have chosen instances and the operation."""
    numbers = np.unique(topology.node[choose(topology, request)]).tolist()
    found = {number: topology.nodes[number].find_operation(operation) for number in numbers}
    return {number: operation for number, operation in found.items() if operation is not None}


def is_in_order(request: Request, invocation: Invocation) -> bool:
    """Return True if instances wait for one another along their dependencies."""
    return request.parameters.get(IN_ORDER, invocation.in_order) is True


def is_reversed(request: Request, invocation: Invocation) -> bool:
    """Return True if dependents come first."""
    return invocation.may_reverse and request.parameters.get(REVERSE_ORDER) is True


def _build_round(asked: Asked, invocation: Invocation) -> Graph | None:
    """Return the graph of an invocation; None if no chosen instance has the operation."""
    topology, request = asked.topology, asked.request
    found = known_operations(topology, request, invocation.operation)
    names = dict.fromkeys(operation.name for operation in found.values() if operation.is_implemented)
    has_it = np.zeros(len(topology.nodes), bool)
    has_it[list(found)] = True
    chosen = choose(topology, request) & has_it[topology.node]
    if not chosen.any():
        return None
    calls = tuple(Call(name) for name in names)
    walk = Walk(calls, downwards=is_reversed(request, invocation), in_order=is_in_order(request, invocation))
    return weave(asked, invocation.graph, chosen, walk)
