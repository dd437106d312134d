"""A blueprint's node templates become numbered node instances with relationships between them (N1-N5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.frozen import frozen
from phaseline.model.problem import Problem, ProblemsError
from phaseline.model.topology import Topology
from phaseline.plan.ids import suffixes as draw
from phaseline.plan.order import circles, depths
from phaseline.plan.relations import connect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.blueprint import Blueprint, Node

MAX_INSTANCES = 10_000_000
"""More instances than this in one deployment are taken for a mistake."""


def expand(blueprint: Blueprint, *, suffixes: int, yes_many: bool = False) -> Topology:
    """The instances of all nodes, numbered by depth in the dependency order, place in the blueprint and index.

    ``suffixes``: seed of the ids. Scaling values must be evaluated. ``yes_many``: more than a million
    relationship calls are wanted (decision 11).

    Raises: ``ProblemsError`` with all of: circles (PL-N002, PL-N003), wrong counts (PL-N004, PL-N005), unknown
    connection types (PL-N001), too many relationship calls (PL-P002).
    """
    nodes = ordered(blueprint)
    counts = _counts(nodes)
    columns = _columns(nodes, counts)
    rows = connect(nodes, columns.first, columns.count, yes_many=yes_many)
    tails = draw(suffixes, len(columns.node))
    bounds = np.append(columns.first, len(columns.node)).tolist()
    ids: list[str] = []
    for number, node in enumerate(nodes):
        head = node.name + "_"
        ids.extend([head + tail for tail in tails[bounds[number] : bounds[number + 1]]])
    return Topology(
        blueprint=blueprint,
        nodes=nodes,
        ids=ids,
        node=columns.node,
        index=columns.index,
        container=columns.container,
        host=_hosts(nodes, columns),
        links=rows.links,
        link=rows.link,
        source=rows.source,
        target=rows.target,
    )


@frozen
class _Columns:
    """Columns over instances, and where the instances of each node lie."""

    first: np.ndarray
    count: np.ndarray
    node: np.ndarray
    index: np.ndarray
    container: np.ndarray


def ordered(blueprint: Blueprint) -> tuple[Node, ...]:
    """The nodes by depth in the dependency order, then as the blueprint has them; raises on circles."""
    nodes = list(blueprint.nodes.values())
    number = {node.name: place for place, node in enumerate(nodes)}
    targets = [[number[relationship.target] for relationship in node.relationships] for node in nodes]
    found = depths(targets)
    if -1 in found:
        raise ProblemsError(_circle_problem([nodes[place] for place in circle]) for circle in circles(targets))
    return tuple(nodes[place] for place in sorted(range(len(nodes)), key=found.__getitem__))


def _circle_problem(circle: Sequence[Node]) -> Problem:
    names = [node.name for node in circle]
    path = " -> ".join([*names, names[0]])
    following = [*names[1:], names[0]]
    if all(node.container == target for node, target in zip(circle, following, strict=True)):
        return Problem(
            "PL-N002",
            f"nodes contain each other in a circle: {path}",
            f"Remove one of these contained_in relationships, for example that of '{names[-1]}'.",
            circle[0].place,
            cloudify_code=100,
            cloudify_class="LogicException",
        )
    return Problem(
        "PL-N003",
        f"nodes depend on each other in a circle: {path}",
        f"Each would wait for the next one for ever. Remove one of these relationships, for example that of '{names[-1]}'.",
        circle[0].place,
    )


def _counts(nodes: Sequence[Node]) -> list[int]:
    """How many instances each node has: those of its container times its own (N1)."""
    problems: list[Problem] = []
    total: dict[str, int] = {}
    for node in nodes:
        own = node.default_instances
        if isinstance(own, bool) or not isinstance(own, int) or own < 0:
            problems.append(
                Problem(
                    "PL-N004",
                    f"node '{node.name}' cannot have {own!r} instances",
                    "Give default_instances a whole number, 0 or more; functions must be evaluated before.",
                    node.place,
                )
            )
            own = 0
        container = node.container
        total[node.name] = own * total[container] if container else own
    if sum(total.values()) > MAX_INSTANCES:
        largest = max(nodes, key=lambda node: total[node.name])
        problems.append(
            Problem(
                "PL-N005",
                f"the blueprint makes {sum(total.values()):,} node instances, {total[largest.name]:,} of '{largest.name}'",
                f"At most {MAX_INSTANCES:,} are allowed. Counts of contained nodes multiply with those of their containers.",
                largest.place,
            )
        )
    if problems:
        raise ProblemsError(problems)
    return list(total.values())


def _columns(nodes: Sequence[Node], counts: Sequence[int]) -> _Columns:
    """Instances of one node lie together; those of one container instance beside each other."""
    count = np.array(counts, np.int64)
    first = np.cumsum(count) - count
    number = {node.name: place for place, node in enumerate(nodes)}
    holder = np.array([number[node.container] if node.container else -1 for node in nodes], np.int64)
    each = np.array([node.default_instances for node in nodes], np.int64)
    node = np.repeat(np.arange(len(nodes), dtype=np.int32), count)
    place = np.arange(len(node)) - first[node]
    inside = first[holder[node]] + place // np.maximum(each, 1)[node] if len(nodes) else place
    return _Columns(
        first=first,
        count=count,
        node=node,
        index=(place + 1).astype(np.int32),
        container=np.where(holder[node] >= 0, inside, -1).astype(np.int32) if len(nodes) else place.astype(np.int32),
    )


def _hosts(nodes: Sequence[Node], columns: _Columns) -> np.ndarray:
    """The innermost Compute instance up the containment chain, itself included; -1 for none (N4).

    Every instance points at its container, hosts and roots at themselves; pointing at what the pointed-at points at
    doubles the reach of every pointer, so that a chain of n takes log2(n) passes.
    """
    own = np.arange(len(columns.node), dtype=np.int32)
    is_host = np.array([node.is_host for node in nodes], bool)[columns.node] if len(nodes) else np.empty(0, bool)
    pointer = np.where(is_host | (columns.container < 0), own, columns.container)
    while True:
        further = pointer[pointer]
        if np.array_equal(further, pointer):
            break
        pointer = further
    return np.where(is_host[pointer], pointer, -1).astype(np.int32)
