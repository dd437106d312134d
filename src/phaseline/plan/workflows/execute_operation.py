"""Execute operation: one operation, whichever it is, on every chosen instance; no state changes (W26)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.execution import Verdict
from phaseline.model.problem import Problem, ProblemsError
from phaseline.model.status import ExecutionStatus
from phaseline.plan.arguments import given_inputs
from phaseline.plan.assembly import assemble
from phaseline.plan.selection import choose
from phaseline.plan.sequence import Call
from phaseline.plan.transforms.chain import chain_entries
from phaseline.plan.transforms.selected import begin
from phaseline.plan.transforms.sequences import lay_sequence
from phaseline.plan.transforms.states import carry_states
from phaseline.plan.transforms.waits import wait_for_targets
from phaseline.plan.verdicts import settled, verdict

if TYPE_CHECKING:
    from phaseline.model.blueprint import Node, Operation
    from phaseline.model.execution import History, Request
    from phaseline.model.graph import Graph
    from phaseline.model.topology import Topology
    from phaseline.plan.policies import Declare

EXECUTE_OPERATION = "execute_operation"
"""Name of the graph."""
OPERATION = "operation"
ALLOW_KWARGS_OVERRIDE = "allow_kwargs_override"
IN_ORDER = "run_by_dependency_order"
SKIP_UNDECLARED = "skip_undeclared"
"""Parameter: nodes without the operation are left out, as in the ancestor's code (WD7)."""

SHOWN = 10
"""How many nodes a problem names."""


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    """The graph that calls the operation; after it, the verdict.

    Raises: ``ProblemsError`` with what ``problems`` finds, before anything is called.
    """
    done = settled(history, EXECUTE_OPERATION)
    if done:
        return verdict(history, done)
    if history.canceled:
        return Verdict(ExecutionStatus.CANCELED)
    wrong = tuple(problems(topology, request))
    if wrong:
        raise ProblemsError(wrong)
    found = _operations(topology, request)
    names = dict.fromkeys(operation.name for operation in found.values() if operation.is_implemented)
    declares = np.array([number in found for number in range(len(topology.nodes))], bool)
    chosen = choose(topology, request) & declares[topology.node]
    if not chosen.any():
        return Verdict(ExecutionStatus.COMPLETED, "no instance was chosen, so there was nothing to do")
    in_order = request.parameters.get(IN_ORDER) is True
    draft = begin(
        topology, request, history, declare, chosen, np.zeros_like(chosen), downwards=False, with_bridges=in_order
    )
    draft = lay_sequence(draft, tuple(Call(name) for name in names), tolerant=False, once=False)
    draft = carry_states(draft)
    draft = chain_entries(draft)
    if in_order:
        draft = wait_for_targets(draft)
    by_node = request.stop_after is not None and request.stop_after.share is not None
    return assemble(draft, EXECUTE_OPERATION, by_node=by_node)


def problems(topology: Topology, request: Request) -> Iterable[Problem]:
    """Why the operation cannot be executed: chosen nodes that do not know it, inputs that are defined twice."""
    found = _operations(topology, request)
    if request.parameters.get(SKIP_UNDECLARED) is not True:
        yield from _undeclared(topology, request, found)
    if request.parameters.get(ALLOW_KWARGS_OVERRIDE) is not True:
        yield from _duplicates(topology, request, found)


def _operations(topology: Topology, request: Request) -> dict[int, Operation]:
    """{node number: what its instances are to run} of nodes that have the operation."""
    name = str(request.parameters.get(OPERATION))
    numbers = np.unique(topology.node[choose(topology, request)]).tolist()
    found = {number: topology.nodes[number].find_operation(name) for number in numbers}
    return {number: operation for number, operation in found.items() if operation is not None}


def _undeclared(topology: Topology, request: Request, found: Mapping[int, Operation]) -> Iterable[Problem]:
    name = str(request.parameters.get(OPERATION))
    numbers = np.unique(topology.node[choose(topology, request)]).tolist()
    missing = [topology.nodes[number] for number in numbers if number not in found]
    if not missing:
        return
    several = sorted({full for node in missing for full in _full_names(node, name)})
    listed = _listed(node.name for node in missing)
    if several:
        mend = f"Write the full name, one of: {', '.join(several)}."
        unclear = _listed(node.name for node in missing if _full_names(node, name))
        yield Problem("PL-P006", f"the operation '{name}' of {unclear} may be any of {len(several)}", mend)
        return
    implemented = {op.name for node in topology.nodes for op in node.operations.values() if op.implementation}
    others = {full for node in topology.nodes for full in node.operations} - implemented
    everywhere = [*sorted(implemented), *sorted(others)]
    if not any(node.find_operation(name) is not None for node in topology.nodes):
        mend = f"No node has it. Correct the name; there are: {', '.join(everywhere[:SHOWN]) or 'none'}."
    else:
        mend = f"Choose the nodes that have it with node_ids or type_names, or leave the others out: -p {SKIP_UNDECLARED}=true"
    yield Problem("PL-P006", f"the operation '{name}' is not declared by {listed}", mend)


def _full_names(node: Node, name: str) -> list[str]:
    """The operations that a bare name may mean."""
    return [] if "." in name else [full for full in node.operations if full.rpartition(".")[2] == name]


def _duplicates(topology: Topology, request: Request, found: Mapping[int, Operation]) -> Iterable[Problem]:
    for key in given_inputs(EXECUTE_OPERATION, request.parameters):
        nodes = [
            topology.nodes[number].name
            for number, operation in found.items()
            if operation.is_implemented and key in operation.inputs
        ]
        if nodes:
            yield Problem(
                "PL-P007",
                f"Duplicate definition of '{key}': it is in operation_kwargs, and the blueprint gives it to {_listed(nodes)}",
                f"Leave it out, or let what is given win: -p {ALLOW_KWARGS_OVERRIDE}=true",
            )


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = len(known) - SHOWN
    return ", ".join(f"'{name}'" for name in known[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")
