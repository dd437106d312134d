"""The plan for the user: a block for each node, then how it would run, then warnings."""

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
"""Created, removed, both, healed, or only checked, cleaned up or with changed relationships."""
SIGNS: Mapping[str, Sign] = {"install": "+", "uninstall": "-", "heal": "!"}


@frozen
class OperationPlan:
    """An operation that is called on ``count`` instances; ``name`` is full. ``form``: function, script or inline.

    A breakpoint has the form stop; ``count`` instances stop there.
    """

    name: str
    plugin: str
    implementation: str
    form: str
    count: int


@frozen
class RelationshipPlan:
    """A relationship of a node and its calls; ``count`` of an operation counts relationship instances."""

    type: str
    target: str
    connection: str
    source_operations: tuple[OperationPlan, ...]
    target_operations: tuple[OperationPlan, ...]


@frozen
class NodePlan:
    """The plan of one node's instances. ``properties``: {name: value}; values of hidden inputs are replaced.

    ``states``: the states that the node goes through if it is on a state path.
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
    """How one operation is called: ``calls`` plugin calls in ``batches`` batches, in waves.

    ``first_wave`` and ``last_wave``: the waves of its first and last entry. ``is_least``: a batch key may split the
    members into more batches than counted.
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
    """The whole plan. ``instances``: the number of instances that are added, removed or changed.

    ``resized``: nodes whose number of instances changes. ``expected_s``: the expected duration, from earlier
    durations of the operations; None if none of them ran before.
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
    """The plan of a workflow of several rounds, each beginning when the one before it has completed.

    ``resized``: nodes that have other instances at the end than before.
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
    """The plan of these rounds. ``warnings``: the warnings of the whole plan; each round keeps its own."""
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
    """The plan of a graph for the user. ``slots``: {pool: the largest number of calls at a time}.

    ``written``: the blueprint before inputs were evaluated, so that values of hidden inputs stay hidden.

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
    """Warnings before the graph runs."""
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
    """The kind of subject of each entry."""
    return np.repeat([step.kind for step in graph.steps], [step.count for step in graph.steps])


def _counts(topology: Topology, graph: Graph) -> np.ndarray:
    """For each node, the number of its instances that have a call or a change of state in the graph.

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
    """{node or link: [(operation, number of its calls)]}; operations in the order of the graph."""
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
    """The properties of a node; a value that comes from a hidden input is replaced (decision 30)."""
    if not hidden:
        return node.properties
    return {
        name: "(hidden)" if _mentions(written.properties.get(name), hidden) else value
        for name, value in node.properties.items()
    }


def _mentions(value: Value, hidden: frozenset[str]) -> bool:
    """True when the value as written in the blueprint uses one of the hidden inputs."""
    if isinstance(value, dict):
        asked = value.get("get_input")
        name = asked[0] if isinstance(asked, list) and asked else asked
        return (isinstance(name, str) and name in hidden) or any(_mentions(item, hidden) for item in value.values())
    return isinstance(value, list) and any(_mentions(item, hidden) for item in value)
