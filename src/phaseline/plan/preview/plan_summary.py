"""Summarise a plan for the user: a block for each node, then how the calls would run, then warnings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution.breakpoints import PREFIX as STOP
from phaseline.model.graph.graph import SubjectKind, phase_of
from phaseline.model.graph.status import Mark
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.plan.preview.agent_warnings import agent_warning
from phaseline.plan.preview.graph_simulation import walk, waves
from phaseline.plan.states.state_summary import states_by_node
from phaseline.plan.topology.relationship_rows import MAX_CALLS

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Blueprint, Node, Operation, Value
    from phaseline.model.deployment.topology import Link, Topology
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.preview.count_changes import CountChange
    from phaseline.plan.states.state_summary import StatePlan

Sign = Literal["+", "-", "-/+", "!", "~"]
"""Sign of a node in a plan: created, removed, removed and created again, or healed.

``~`` is for all other changes: the node is only checked, cleaned up, updated, or only its relationships change.
"""
SIGNS: Mapping[str, Sign] = {"install": "+", "uninstall": "-", "heal": "!"}


@frozen
class OperationPlan:
    """An operation that a plan calls on ``count`` instances; ``name`` is the full name.

    ``form`` is function, script or inline. A breakpoint has the form stop; ``count`` instances stop at it.
    """

    name: str
    plugin: str
    implementation: str
    form: str
    count: int


@frozen
class RelationshipPlan:
    """A relationship of a node with its calls. The ``count`` of an operation counts relationship instances."""

    type: str
    target: str
    connection: str
    source_operations: tuple[OperationPlan, ...]
    target_operations: tuple[OperationPlan, ...]


@frozen
class NodePlan:
    """The plan for the instances of one node.

    ``properties`` is {name: value}; values that come from hidden inputs are replaced. ``states`` are the states that
    the node goes through if it is on a state path.
    """

    sign: Sign
    name: str
    type: str
    count: int
    properties: Mapping[str, Value]
    operations: tuple[OperationPlan, ...]
    relationships: tuple[RelationshipPlan, ...]
    states: tuple[StatePlan, ...] = ()


@frozen
class PhasePlan:
    """How a plan calls one operation: with ``calls`` plugin calls in ``batches`` batches, in some waves.

    ``first_wave`` and ``last_wave`` are the waves of its first and its last entry. ``is_least`` is true if a batch key
    may split the members into more batches and calls than counted.
    """

    name: str
    form: Literal["bulk", "each"]
    pool: str
    count: int
    batches: int
    calls: int
    first_wave: int
    last_wave: int
    is_least: bool


@frozen
class PlanSummary:
    """The whole plan of one graph.

    ``instances`` is the number of instances that are added, removed or changed. ``resized`` are the nodes whose number
    of instances changes. ``expected_s`` is the expected duration in seconds, or None if no operation of the plan ran
    before.
    """

    workflow: str
    nodes: tuple[NodePlan, ...]
    instances: int
    waves: int
    phases: tuple[PhasePlan, ...]
    batches: int
    calls: int
    warnings: tuple[Problem, ...]
    resized: tuple[CountChange, ...] = ()
    expected_s: float | None = None


@frozen
class RoundsPlan:
    """The plan of a workflow with several rounds, each of which begins when the round before it has completed.

    ``resized`` are the nodes whose instances at the end differ from those before.
    """

    workflow: str
    rounds: tuple[PlanSummary, ...]
    batches: int
    calls: int
    warnings: tuple[Problem, ...]
    resized: tuple[CountChange, ...] = ()


def in_rounds(
    workflow: str,
    rounds: tuple[PlanSummary, ...],
    warnings: tuple[Problem, ...],
    resized: tuple[CountChange, ...] = (),
) -> RoundsPlan:
    """Return the plan of these rounds. ``warnings`` concern the whole plan; each round keeps its own warnings."""
    batches, calls = sum(item.batches for item in rounds), sum(item.calls for item in rounds)
    return RoundsPlan(workflow, rounds, batches, calls, warnings, resized)


def summarise(
    topology: Topology,
    graph: Graph,
    *,
    slots: Mapping[str, int],
    written: Blueprint | None = None,
    yes_many: bool = False,
) -> PlanSummary:
    """Return the plan of a graph for the user. ``slots`` is {pool: the largest number of calls at a time}.

    ``written`` is the blueprint before its inputs were evaluated; it shows which values come from hidden inputs.

    Raises: PL-P002 if the plan makes more than a million relationship calls and ``yes_many`` does not allow them.
    """
    if not yes_many:
        _raise_if_too_many(graph)
    nodes = _nodes(topology, graph, written or topology.blueprint)
    wave = waves(graph)
    lanes = walk(topology, graph, wave, slots)
    phases = tuple(
        PhasePlan(
            name=phase_of(found.lane.phase) or found.lane.phase,
            form=found.lane.form,
            pool=found.lane.pool,
            count=found.entries,
            batches=found.batches,
            calls=found.calls,
            first_wave=found.first_wave,
            last_wave=found.last_wave,
            is_least=found.lane.key is not None,
        )
        for found in lanes
        if not found.lane.phase.startswith(STOP)  # no plugin is called there
    )
    return PlanSummary(
        workflow=graph.name,
        nodes=nodes,
        instances=sum(node.count for node in nodes),
        waves=int(wave.max(initial=0)),
        phases=phases,
        batches=sum(phase.batches for phase in phases),
        calls=sum(phase.calls for phase in phases),
        warnings=warnings(topology, graph),
    )


def warnings(topology: Topology, graph: Graph) -> tuple[Problem, ...]:
    """Return the warnings that the user gets before the graph runs."""
    touched = _counts(topology, graph)
    found = agent_warning([node for number, node in enumerate(topology.nodes) if touched[number]])
    return (found,) if found and graph.verb == "install" else ()


def _raise_if_too_many(graph: Graph) -> None:
    calls = sum(step.count for step in graph.steps if step.kind in {SubjectKind.SOURCE, SubjectKind.TARGET})
    if calls > MAX_CALLS:
        raise ProblemsError(
            [
                Problem(
                    "PL-P002",
                    f"'{graph.name}' would make {calls:,} calls of relationship operations",
                    "set the relationship's property connection_type to all_to_one, map the operation on the node "
                    "instead, or give --yes-many if every pair really needs its call",
                )
            ]
        )


def _kinds(graph: Graph) -> np.ndarray:
    """Return the kind of subject of each entry."""
    return np.repeat([step.kind for step in graph.steps], [step.count for step in graph.steps])


def _counts(topology: Topology, graph: Graph) -> np.ndarray:
    """Return the number of instances of each node that have a call or a change of state in the graph.

    Calls of relationship operations are not counted.
    """
    moves = np.array([bool(policy.enter or policy.leave) for policy in graph.policies], bool)
    mine = (_kinds(graph) == SubjectKind.INSTANCE) & (((graph.marks & Mark.ABSENT) == 0) | moves[graph.policy])
    touched = np.zeros(len(topology), bool)
    touched[graph.subject[mine]] = True
    return np.bincount(topology.node[touched], minlength=len(topology.nodes))


def _nodes(topology: Topology, graph: Graph, written: Blueprint) -> tuple[NodePlan, ...]:
    counts = _counts(topology, graph).tolist()
    own = _tally(graph, SubjectKind.INSTANCE, topology.node)
    source = _tally(graph, SubjectKind.SOURCE, topology.link)
    target = _tally(graph, SubjectKind.TARGET, topology.link)
    links: list[list[RelationshipPlan]] = [[] for _ in topology.nodes]
    related = {topology.links[number].source for number in (*source, *target)}
    for number, link in enumerate(topology.links):
        if link.is_cut or not (counts[link.source] or link.source in related):
            continue
        sides = (
            _operations(source.get(number, []), link.relationship.source_operations),
            _operations(target.get(number, []), link.relationship.target_operations),
        )
        links[link.source].append(_relationship(topology, link, *sides))
    states = states_by_node(topology, graph)
    hidden = frozenset(name for name, schema in written.inputs.items() if schema.hidden)
    return tuple(
        NodePlan(
            sign=SIGNS.get(graph.verb, "~") if counts[number] else "~",
            name=node.name,
            type=node.type,
            count=counts[number],
            properties=_properties(node, written.nodes.get(node.name, node), hidden),
            operations=_operations(own.get(number, []), node.operations),
            relationships=tuple(links[number]),
            states=states.get(number, ()),
        )
        for number, node in enumerate(topology.nodes)
        if counts[number] or number in related
    )


def _tally(graph: Graph, kind: SubjectKind, column: np.ndarray) -> dict[int, list[tuple[str, int]]]:
    """Return {node or link number: [(operation, number of its calls)]}, with operations in the order of the graph."""
    found: dict[int, list[tuple[str, int]]] = {}
    phases: dict[str, int] = {}
    number = np.array([phases.setdefault(step.phase, len(phases)) for step in graph.steps], np.int64)
    sizes = [step.count for step in graph.steps]
    mine = (np.repeat([step.kind for step in graph.steps], sizes) == kind) & ((graph.marks & Mark.ABSENT) == 0)
    key = column[graph.subject[mine]].astype(np.int64) * len(phases) + np.repeat(number, sizes)[mine]
    names = list(phases)
    values, first, counts = np.unique(key, return_index=True, return_counts=True)
    order = np.argsort(first)
    for value, count in zip(values[order].tolist(), counts[order].tolist(), strict=True):
        place, phase = divmod(value, len(phases))
        found.setdefault(place, []).append((names[phase], count))
    return found


def _operations(tally: list[tuple[str, int]], operations: Mapping[str, Operation]) -> tuple[OperationPlan, ...]:
    return tuple(_called(name, operations, count) for name, count in tally if phase_of(name) is None)


def _called(name: str, operations: Mapping[str, Operation], count: int) -> OperationPlan:
    if name.startswith(STOP):
        return OperationPlan(name, "", "stops until an operator clears it", "stop", count)
    operation = operations[name]
    return OperationPlan(operation.name, operation.plugin, operation.implementation, operation.form, count)


def _relationship(
    topology: Topology, link: Link, source: tuple[OperationPlan, ...], target: tuple[OperationPlan, ...]
) -> RelationshipPlan:
    relationship = link.relationship
    connection = "contained_in" if relationship.is_containment else relationship.connection_type
    return RelationshipPlan(relationship.type, topology.nodes[link.target].name, connection, source, target)


def _properties(node: Node, written: Node, hidden: frozenset[str]) -> Mapping[str, Value]:
    """Return the properties of a node, with values that come from a hidden input replaced (decision 30)."""
    if not hidden:
        return node.properties
    return {
        name: "(hidden)" if _mentions(written.properties.get(name), hidden) else value
        for name, value in node.properties.items()
    }


def _mentions(value: Value, hidden: frozenset[str]) -> bool:
    """Return True if the value, as written in the blueprint, uses one of the hidden inputs."""
    if isinstance(value, dict):
        asked = value.get("get_input")
        name = asked[0] if isinstance(asked, list) and asked else asked
        return (isinstance(name, str) and name in hidden) or any(_mentions(item, hidden) for item in value.values())
    return isinstance(value, list) and any(_mentions(item, hidden) for item in value)
