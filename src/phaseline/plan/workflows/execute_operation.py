"""Plan ``execute_operation``: call one operation on every chosen instance, without state changes (W26)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.plan.graph.operation_arguments import ANY, OPERATION_KWARGS, given_inputs
from phaseline.plan.graph.selection import choose
from phaseline.plan.graph.verdicts import settled
from phaseline.plan.graph.workflow import INPUTS, SWITCH, Parameter, Workflow, only_chosen
from phaseline.plan.workflows.operation_round import IN_TURN, Invocation, in_turn, known_operations

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Node, Operation
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request, Verdict
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare

EXECUTE_OPERATION = "execute_operation"
"""Name of the workflow, and of its graph."""
OPERATION = "operation"
ALLOW_KWARGS_OVERRIDE = "allow_kwargs_override"
SKIP_UNDECLARED = "skip_undeclared"
"""Parameter: leave out nodes without the operation instead of refusing the request, as Cloudify's code does (WD7)."""

SHOWN = 10
"""Largest number of nodes or operations that a problem names."""


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    """Return the graph that calls the operation; after it, the verdict.

    Raises: ``ProblemsError`` with what ``problems`` finds, before anything is called.
    """
    wrong = tuple(problems(topology, request)) if settled(history, EXECUTE_OPERATION) is None else ()
    if wrong and not history.canceled:
        raise ProblemsError(wrong)
    called = Invocation(EXECUTE_OPERATION, _name(request), in_order=False)
    return in_turn(topology, request, history, declare, (called,))


def problems(topology: Topology, request: Request) -> Iterable[Problem]:
    """Yield problems: chosen nodes that do not declare the operation (PL-P006), inputs defined twice (PL-P007)."""
    found = known_operations(topology, request, _name(request))
    if request.parameters.get(SKIP_UNDECLARED) is not True:
        yield from _undeclared(topology, request, found)
    if request.parameters.get(ALLOW_KWARGS_OVERRIDE) is not True:
        yield from _duplicates(topology, request, found)


def _name(request: Request) -> str:
    return str(request.parameters.get(OPERATION))


def _undeclared(topology: Topology, request: Request, found: Mapping[int, Operation]) -> Iterable[Problem]:
    name = _name(request)
    numbers = np.unique(topology.node[choose(topology, request)]).tolist()
    missing = [topology.nodes[number] for number in numbers if number not in found]
    if not missing:
        return
    several = sorted({full for node in missing for full in _full_names(node, name)})
    listed = _listed(node.name for node in missing)
    if several:
        mend = f"write the full name, one of: {', '.join(several)}"
        unclear = _listed(node.name for node in missing if _full_names(node, name))
        yield Problem(
            "PL-P006", f"the operation '{name}' of {unclear} is ambiguous: it may be any of {len(several)}", mend
        )
        return
    implemented = {op.name for node in topology.nodes for op in node.operations.values() if op.implementation}
    others = {full for node in topology.nodes for full in node.operations} - implemented
    everywhere = [*sorted(implemented), *sorted(others)]
    if not any(node.find_operation(name) is not None for node in topology.nodes):
        mend = f"no node has it; correct the name; there are: {', '.join(everywhere[:SHOWN]) or 'none'}"
    else:
        mend = f"choose the nodes that have it with node_ids or type_names, or leave the others out: -p {SKIP_UNDECLARED}=true"
    yield Problem("PL-P006", f"the operation '{name}' is not declared by {listed}", mend)


def _full_names(node: Node, name: str) -> list[str]:
    """Return the full names of the node's operations whose last part is ``name``; empty if ``name`` has a dot."""
    return [] if "." in name else [full for full in node.operations if full.rpartition(".")[2] == name]


def _duplicates(topology: Topology, request: Request, found: Mapping[int, Operation]) -> Iterable[Problem]:
    for key in given_inputs(EXECUTE_OPERATION, ANY, request.parameters):
        nodes = [
            topology.nodes[number].name
            for number, operation in found.items()
            if operation.is_implemented and key in operation.inputs
        ]
        if nodes:
            yield Problem(
                "PL-P007",
                f"duplicate definition of '{key}': it is in operation_kwargs, and the blueprint gives it to {_listed(nodes)}",
                f"leave it out, or let what is given win: -p {ALLOW_KWARGS_OVERRIDE}=true",
            )


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = len(known) - SHOWN
    return ", ".join(f"'{name}'" for name in known[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")


PARAMETERS: Mapping[str, Parameter] = {
    OPERATION: Parameter((str,), "the name of an operation", required=True),
    OPERATION_KWARGS: INPUTS,
    ALLOW_KWARGS_OVERRIDE: SWITCH,
    SKIP_UNDECLARED: SWITCH,
    **IN_TURN,
}
WORKFLOW = Workflow(plan, PARAMETERS, problems=problems, claims=only_chosen)
