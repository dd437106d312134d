"""Plan start, stop, restart and pull: each calls one lifecycle operation, without state changes (W26).

They work like ``execute_operation``, but leave out nodes whose types do not declare the operation (WD7). Inputs given
in the request override those of the blueprint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.problems.problem import Problem
from phaseline.plan.graph import operation_names as op
from phaseline.plan.graph.operation_arguments import OPERATION_PARMS, START_PARMS, STOP_PARMS
from phaseline.plan.graph.selection import choose
from phaseline.plan.graph.workflow import INPUTS, SWITCH, Parameter, Workflow, only_chosen
from phaseline.plan.workflows.operation_round import (
    IN_TURN,
    REVERSE_ORDER,
    Invocation,
    in_turn,
    is_in_order,
    is_reversed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request, Verdict
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare

START = Invocation("start", op.START)
STOP = Invocation("stop", op.STOP, may_reverse=True)
PULL = Invocation("pull", op.PULL)

INVOCATIONS: Mapping[str, tuple[Invocation, ...]] = {
    "start": (START,),
    "stop": (STOP,),
    "restart": (STOP, START),
    "pull": (PULL,),
}
"""{workflow: the rounds that it consists of}"""

SHOWN = 5
"""Largest number of pairs of nodes that the warning names. It also gives the number of the others."""


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    """Return the graph of the next round; after the last round, or a round that was not met, the verdict."""
    return in_turn(topology, request, history, declare, INVOCATIONS[request.workflow])


def warnings(topology: Topology, request: Request) -> Iterable[Problem]:
    """Yield PL-P030 if a container would be stopped before its content.

    This is so because the order required by the Cloudify document (source 3) calls targets of relationships first
    (WD19).
    """
    if STOP not in INVOCATIONS[request.workflow] or not is_in_order(request, STOP) or is_reversed(request, STOP):
        return
    chosen = set(topology.node[choose(topology, request)].tolist())
    stopped = {
        number
        for number in chosen
        if (operation := topology.nodes[number].operations.get(op.STOP)) is not None and operation.is_implemented
    }
    pairs = [
        (topology.nodes[link.target].name, topology.nodes[link.source].name)
        for link in topology.links
        if link.relationship.is_containment and {link.source, link.target} <= stopped
    ]
    if pairs:
        listed = ", ".join(f"'{container}' before '{content}'" for container, content in pairs[:SHOWN])
        more = f" and {len(pairs) - SHOWN:,} more" if len(pairs) > SHOWN else ""
        yield Problem(
            "PL-P030",
            f"containers are stopped before what they contain: {listed}{more}",
            f"to stop the content first: -p {REVERSE_ORDER}=true",
            severity="warning",
        )


PARAMETERS: Mapping[str, Mapping[str, Parameter]] = {
    "start": {OPERATION_PARMS: INPUTS},
    "stop": {OPERATION_PARMS: INPUTS, REVERSE_ORDER: SWITCH},
    "restart": {STOP_PARMS: INPUTS, START_PARMS: INPUTS, REVERSE_ORDER: SWITCH},
    "pull": {OPERATION_PARMS: INPUTS},
}
WORKFLOWS = {
    name: Workflow(plan, {**own, **IN_TURN}, warnings=warnings, claims=only_chosen) for name, own in PARAMETERS.items()
}
