"""Expand a blueprint's node templates into numbered node instances with relationships (N1-N5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.deployment.topology import GroupInstances, Topology
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.plan.graph.dependency_order import circles, depths
from phaseline.plan.topology.containment_tree import Forest, plant
from phaseline.plan.topology.instance_ids import suffixes as draw
from phaseline.plan.topology.relationship_rows import connect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.blueprint.blueprint import Blueprint, Node
    from phaseline.model.blueprint.groups import ScalingGroup

MAX_INSTANCES = 10_000_000
"""Largest number of instances of one deployment; a larger number is considered a mistake."""


def expand(blueprint: Blueprint, *, suffixes: int, yes_many: bool = False) -> Topology:
    """Return the instances of all nodes, numbered by depth in the dependency order, place in the blueprint and index.

    ``suffixes`` is the seed for the ids of instances. Instance counts must be evaluated. ``yes_many`` allows more than
    a million relationship calls (decision 11).

    Raises: ``ProblemsError`` with all of: circles (PL-N002, PL-N003), wrong counts (PL-N004, PL-N005), unknown
    connection types (PL-N001), all to one in a scaling group (PL-N006), too many relationship calls (PL-P002).
    """
    nodes = ordered(blueprint)
    entities: list[Node | ScalingGroup] = [*nodes, *blueprint.scaling_groups.values()]
    forest = plant(nodes, blueprint.scaling_groups, _each(entities))
    totals = forest.totals()
    _raise_if_too_many(entities, totals)
    count = np.array(totals, np.int64)
    first = np.cumsum(count) - count
    first[len(nodes) :] -= int(count[: len(nodes)].sum())  # instances of groups are counted separately
    rows = connect(nodes, forest, first, count, yes_many=yes_many)
    everyone = _Entities(forest, first, count)
    node, index = everyone.laid_out(0, len(nodes))
    tails = draw(suffixes, int(count.sum()))
    container = everyone.ancestors(node, index, forest.container)
    groups, group = _groups(everyone, tails[len(node) :], node, index)
    return Topology(
        blueprint=blueprint,
        nodes=nodes,
        ids=_ids([node.name for node in nodes], count[: len(nodes)], tails),
        node=node,
        index=index,
        container=container,
        host=hosts(nodes, node, container),
        links=rows.links,
        link=rows.link,
        source=rows.source,
        target=rows.target,
        group=group,
        groups=groups,
    )


def named_anew(topology: Topology, *, suffixes: int) -> Topology:
    """Return a copy of a topology made by ``expand``, with new ids, for the next deployment of the blueprint."""
    groups = topology.groups
    tails = draw(suffixes, len(topology) + len(groups))
    names = [node.name for node in topology.nodes]
    ids = [f"{names[node]}_{tail}" for node, tail in zip(topology.node.tolist(), tails, strict=False)]
    if len(groups):
        own = zip(groups.group.tolist(), tails[len(ids) :], strict=True)
        groups = altered(groups, ids=[f"{groups.names[group]}_{tail}" for group, tail in own])
    return altered(topology, ids=ids, groups=groups)


@frozen
class _Entities:
    """Nodes and scaling groups with the positions of their instances.

    Instances in one parent instance are neighbours.
    """

    forest: Forest
    first: np.ndarray
    count: np.ndarray

    def laid_out(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (entity, index from 1) of all instances of the entities from ``begin`` to ``end - 1``, int32."""
        entity = np.repeat(np.arange(begin, end, dtype=np.int32), self.count[begin:end])
        place = np.arange(len(entity)) - self.first[entity]
        return entity, (place + 1).astype(np.int32)

    def ancestors(self, entity: np.ndarray, index: np.ndarray, above: np.ndarray) -> np.ndarray:
        """Return, for each instance, the number of the instance that contains it, int32; -1 for none.

        ``above`` has the container of each entity.
        """
        upper = above[entity]
        share = np.maximum(self.count[entity] // np.maximum(self.count[upper], 1), 1)
        return np.where(upper >= 0, self.first[upper] + (index - 1) // share, -1).astype(np.int32)


def _groups(
    everyone: _Entities, tails: Sequence[str], node: np.ndarray, index: np.ndarray
) -> tuple[GroupInstances, np.ndarray]:
    """Return (the instances of scaling groups, the group instance that each node instance is a member of, int32)."""
    forest = everyone.forest
    if not forest.groups:
        return GroupInstances(), np.empty(0, np.int32)
    begin = forest.node_count
    entity, ordinal = everyone.laid_out(begin, begin + len(forest.groups))
    lies_in_group = np.where(forest.parent >= begin, forest.parent, -1)
    made = GroupInstances(
        names=forest.groups,
        ids=_ids(forest.groups, everyone.count[begin:], tails),
        group=entity - np.int32(begin),
        index=ordinal,
        outer=everyone.ancestors(entity, ordinal, lies_in_group),
        container=everyone.ancestors(entity, ordinal, forest.container),
    )
    return made, everyone.ancestors(node, index, lies_in_group)


def _ids(names: Sequence[str], count: np.ndarray, tails: Sequence[str]) -> list[str]:
    bounds = np.concatenate(([0], np.cumsum(count))).tolist()
    found: list[str] = []
    for name, begin, end in zip(names, bounds, bounds[1:], strict=False):
        head = name + "_"
        found.extend([head + tail for tail in tails[begin:end]])
    return found


def ordered(blueprint: Blueprint) -> tuple[Node, ...]:
    """Return the nodes by depth in the dependency order, then in the order of the blueprint.

    Raises: PL-N002 or PL-N003 for each circle.
    """
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
            f"remove one of these contained_in relationships, for example that of '{names[-1]}'",
            circle[0].place,
            cloudify_code=100,
            cloudify_class="LogicException",
        )
    return Problem(
        "PL-N003",
        f"nodes depend on each other in a circle: {path}",
        f"each would wait for the next one for ever; remove one of these relationships, for example that of '{names[-1]}'",
        circle[0].place,
    )


def _each(entities: Sequence[Node | ScalingGroup]) -> list[int]:
    """Return the number of instances of each node or scaling group in every instance of its parent (N1).

    Raises: PL-N004 if a count is not a whole number, 0 or more.
    """
    problems: list[Problem] = []
    found: list[int] = []
    for one in entities:
        own = one.default_instances
        if isinstance(own, bool) or not isinstance(own, int) or own < 0:
            problems.append(
                Problem(
                    "PL-N004",
                    f"'{one.name}' cannot have {own!r} instances",
                    "give default_instances a whole number, 0 or more; functions must be evaluated before",
                    one.place,
                )
            )
            own = 0
        found.append(own)
    if problems:
        raise ProblemsError(problems)
    return found


def _raise_if_too_many(entities: Sequence[Node | ScalingGroup], totals: Sequence[int]) -> None:
    total = sum(totals)
    if total > MAX_INSTANCES:
        largest, count = max(zip(entities, totals, strict=True), key=lambda found: found[1])
        message = f"the blueprint makes {total:,} instances, {count:,} of '{largest.name}'"
        mend = (
            f"at most {MAX_INSTANCES:,} are allowed; counts of contained nodes multiply with those of their containers"
        )
        raise ProblemsError([Problem("PL-N005", message, mend, largest.place)])


def hosts(nodes: Sequence[Node], node: np.ndarray, container: np.ndarray) -> np.ndarray:
    """Return the host of each instance: the nearest Compute instance that contains it, or itself; -1 for none (N4).

    Every instance first points to its container; hosts and roots point to themselves. Each pass replaces a pointer by
    the pointer of the instance that it points to, which doubles the distance. So a chain of n takes log2(n) passes.
    """
    own = np.arange(len(node), dtype=np.int32)
    is_host = np.array([one.is_host for one in nodes], bool)[node] if len(nodes) else np.empty(0, bool)
    pointer = np.where(is_host | (container < 0), own, container)
    while True:
        further = pointer[pointer]
        if np.array_equal(further, pointer):
            break
        pointer = further
    return np.where(is_host[pointer], pointer, -1).astype(np.int32)
