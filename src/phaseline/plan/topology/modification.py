"""Compute a modification: the instances that are added, removed and related when instance counts change (N6, N7).

Nothing is stored and nothing runs: ``modify`` returns a topology with the added instances after the existing ones. A
workflow can then install or uninstall only the changed instances, and call relationship operations of their neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import unique
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.deployment.topology import GroupInstances, Topology
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.plan.topology.added_relationships import tie
from phaseline.plan.topology.containment_tree import Forest, plant
from phaseline.plan.topology.expansion import MAX_INSTANCES, hosts
from phaseline.plan.topology.instance_counts import (
    GO,
    KEEP,
    PLAIN,
    MemberNumbering,
    ResizedTopology,
    members_of,
    resize,
)
from phaseline.plan.topology.instance_ids import suffixes as draw
from phaseline.plan.topology.modification_lifecycle import without
from phaseline.plan.topology.node_diff import groups_in_order

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Node
    from phaseline.model.blueprint.groups import ScalingGroup

AS_DECLARED: Mapping[str, int] = MappingProxyType({})
"""Argument ``counts`` for a deployment in which every node and group has the count of its blueprint."""


@frozen
class WantedCount:
    """The wanted number of instances of a node or scaling group in every instance of its parent.

    ``include`` are ids of instances to remove first; ``exclude`` are ids of instances to remove only if no others are
    left. For a group they may be ids of its instances or of node instances within them.
    """

    instances: int
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()


@frozen
class ModifiedInstances:
    """Instances that change, the instances next to them, and the relationships between these (N7).

    ``changed`` and ``related`` are instance numbers, ascending. ``rows`` are numbers of relationship instances with a
    changed instance at one end. ``rules`` are numbers of links without rows that relate a changed instance to others.
    """

    changed: np.ndarray
    related: np.ndarray
    rows: np.ndarray
    rules: np.ndarray


@frozen
class Modification:
    """The result of a modification.

    ``topology`` has both the added and the removed instances. ``finished`` is the topology at the end, without the
    removed instances. ``extended`` are instances that stay but get another target at the end. ``counts`` is {node or
    group: instances in every instance of its parent} where this differs from the blueprint. ``added_groups`` and
    ``removed_groups`` are numbers of group instances.
    """

    topology: Topology
    finished: Topology
    counts: Mapping[str, int]
    added: ModifiedInstances
    removed: ModifiedInstances
    extended: ModifiedInstances
    added_groups: np.ndarray
    removed_groups: np.ndarray

    def rolled_back(self) -> Topology:
        """Return the topology after a rollback, without the added instances.

        Their numbers and ids are not used again.
        """
        return without(self.topology, self.added.changed, self.added_groups)


def modify(
    topology: Topology,
    wanted: Mapping[str, WantedCount],
    *,
    suffixes: int,
    counts: Mapping[str, int] = AS_DECLARED,
    force_limits: bool = False,
    yes_many: bool = False,
    most: int = MAX_INSTANCES,
) -> Modification:
    """Return the modification that gives nodes and scaling groups the ``wanted`` counts.

    ``counts`` are present counts that differ from the blueprint's. ``suffixes`` is the seed of the new ids. With
    ``force_limits``, min_instances and max_instances are ignored. ``yes_many`` allows more than a million new
    relationship instances. ``most`` is the largest number of instances of a deployment.

    Raises: ``ProblemsError`` with PL-N007 (several targets of an all_to_one), PL-N008 (no such node or group), PL-N009
    (wrong count), PL-N010 (beyond the limits), PL-N011 (an id that is none of its instances), PL-N005, PL-P002.
    """
    groups = groups_in_order(topology)
    entities: list[Node | ScalingGroup] = [*topology.nodes, *groups.values()]
    number = {one.name: place for place, one in enumerate(entities) if place not in topology.past}
    _check(wanted, entities, number, force_limits=force_limits)
    each = [0 if at in topology.past else _count(one, wanted, counts) for at, one in enumerate(entities)]
    forest = plant(topology.nodes, groups, each, topology.past)
    members = members_of(topology, len(topology.nodes))
    asked = np.full(len(entities), -1, np.int64)
    for name, one in wanted.items():
        asked[number[name]] = one.instances
    turn = _turns(topology, members, wanted, number)
    found = resize(members, forest, asked, turn)
    if int(members.is_alive.sum()) + len(found.entity) > most:
        message = f"the modification makes {len(found.entity):,} instances"
        mend = f"at most {most:,} are allowed in a deployment"
        raise ProblemsError([Problem("PL-N005", message, mend)])
    changed = {name: each[at] for name, at in number.items() if each[at] != entities[at].default_instances}
    return assembled(topology, forest, members, found, suffixes, changed, yes_many=yes_many)


def assembled(
    topology: Topology,
    forest: Forest,
    members: MemberNumbering,
    found: ResizedTopology,
    suffixes: int,
    counts: Mapping[str, int],
    *,
    yes_many: bool,
    new_links: np.ndarray | None = None,
) -> Modification:
    """Return the modification that adds and removes the members in ``found``.

    ``new_links`` marks links without rows so far.
    """
    grown = _grown(topology, forest, members, found, suffixes)
    before, groups_before = len(topology), len(topology.groups)
    removed = found.goes[:before].nonzero()[0].astype(np.int32)
    removed_groups = found.goes[before:].nonzero()[0].astype(np.int32)
    added = np.arange(before, len(grown), dtype=np.int32)
    is_new = np.zeros(len(grown), bool)
    is_new[before:] = True
    finished, extended = _with_extended_last(
        tie(without(grown, removed, removed_groups), is_new, yes_many=yes_many, new_links=new_links),
        is_new,
        len(topology.link),
    )
    rows = slice(0, len(finished.link) - len(extended.rows))
    whole = altered(grown, link=finished.link[rows], source=finished.source[rows], target=finished.target[rows])
    return Modification(
        topology=whole,
        finished=finished,
        counts=counts,
        added=_related(whole, added, finished.is_there),
        removed=_related(whole, removed, whole.is_there & ~is_new),
        extended=extended,
        added_groups=np.arange(groups_before, len(grown.groups), dtype=np.int32),
        removed_groups=removed_groups,
    )


def _check(
    wanted: Mapping[str, WantedCount],
    entities: Sequence[Node | ScalingGroup],
    number: Mapping[str, int],
    *,
    force_limits: bool,
) -> None:
    problems: list[Problem] = []
    for name, one in wanted.items():
        if name not in number:
            problems.append(_unknown(name, number))
            continue
        count, known = one.instances, entities[number[name]]
        least, most = known.min_instances, known.max_instances
        if count.__class__ is not int or not 0 <= count <= MAX_INSTANCES:
            mend = f"give a whole number from 0 to {MAX_INSTANCES:,}"
            problems.append(Problem("PL-N009", f"'{name}' cannot have {count!r} instances", mend, known.place))
        elif not force_limits and isinstance(least, int) and count < least:
            problems.append(_beyond(name, count, f"less than its min_instances {least}", known))
        elif not force_limits and isinstance(most, int) and 0 <= most < count:
            problems.append(_beyond(name, count, f"more than its max_instances {most}", known))
    if problems:
        raise ProblemsError(problems)


def _count(one: Node | ScalingGroup, wanted: Mapping[str, WantedCount], counts: Mapping[str, int]) -> int:
    """Return the final number of instances of a node or group in every instance of its parent."""
    if one.name in wanted:
        return wanted[one.name].instances
    declared = one.default_instances
    assert isinstance(declared, int), "counts are numbers when there are instances"
    return counts.get(one.name, declared)


def _unknown(name: str, known: Mapping[str, int]) -> Problem:
    from phaseline.lang.did_you_mean import suggestion

    mend = suggestion(name, known).rstrip() or "name a node or a scaling group of the deployment"
    return Problem("PL-N008", f"there is no node or scaling group '{name}'", mend)


def _beyond(name: str, count: int, how: str, known: Node | ScalingGroup) -> Problem:
    mend = "choose a number within the limits, or ignore them with force_limits"
    return Problem("PL-N010", f"{count} instances of '{name}' are {how}", mend, known.place)


def _turns(
    topology: Topology, members: MemberNumbering, wanted: Mapping[str, WantedCount], number: Mapping[str, int]
) -> np.ndarray:
    """Return the order of removal of each member: ``GO``, ``PLAIN`` or ``KEEP``.

    Raises: PL-N011 for an id that belongs to no instance of the node or group.
    """
    turn = np.full(len(members), PLAIN, np.int64)
    if not any(one.include or one.exclude for one in wanted.values()):
        return turn
    place = {id: at for at, id in enumerate([*topology.ids, *topology.groups.ids])}
    problems: list[Problem] = []
    for name, one in wanted.items():
        for ids, value in ((one.exclude, KEEP), (one.include, GO)):
            for id in ids:
                at = place.get(id, -1)
                while at >= 0 and members.entity[at] != number[name]:
                    at = int(members.parent[at]) if name in topology.blueprint.scaling_groups else -1
                if at < 0 or not members.is_alive[at]:
                    mend = f"see the ids: phaseline instances list; only instances of '{name}' can be named"
                    problems.append(Problem("PL-N011", f"'{id}' is no instance of '{name}', nor within one", mend))
                else:
                    turn[at] = value
    if problems:
        raise ProblemsError(problems)
    return turn


def _grown(
    topology: Topology, forest: Forest, members: MemberNumbering, found: ResizedTopology, suffixes: int
) -> Topology:
    """Return the topology with the new instances after the others, ordered by node and index, but not yet related."""
    is_node = found.entity < forest.node_count
    nodes, groups = is_node.nonzero()[0], (~is_node).nonzero()[0]
    nodes = nodes[np.lexsort((found.index[nodes], found.entity[nodes]))]
    groups = groups[np.lexsort((found.index[groups], found.entity[groups]))]
    final = np.empty(len(found.entity), np.int64)
    final[nodes] = len(topology) + np.arange(len(nodes))
    final[groups] = len(topology.groups) + np.arange(len(groups))
    inside, container = _lies_in(forest, members, found, final)
    taken = frozenset(id.rpartition("_")[2] for id in (*topology.ids, *topology.groups.ids))
    tails = draw(suffixes, len(found.entity), taken=taken)
    names = [node.name for node in topology.nodes]
    ids = [f"{names[entity]}_{tail}" for entity, tail in zip(found.entity[nodes].tolist(), tails, strict=False)]
    node = np.concatenate((topology.node, found.entity[nodes])).astype(np.int32)
    containers = np.concatenate((topology.container, container[nodes])).astype(np.int32)
    return altered(
        topology,
        ids=[*topology.ids, *ids],
        node=node,
        index=np.concatenate((topology.index, found.index[nodes])).astype(np.int32),
        container=containers,
        host=hosts(topology.nodes, node, containers),
        group=_behind(topology.group, inside[nodes], len(topology)) if forest.groups else topology.group,
        groups=_grown_groups(topology.groups, forest, found, groups, (inside, container), tails[len(nodes) :]),
        gone=np.concatenate((topology.gone, np.zeros(len(nodes), bool))) if len(topology.gone) else topology.gone,
    )


def _lies_in(
    forest: Forest, members: MemberNumbering, found: ResizedTopology, final: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each new member, (the group instance that directly contains it, the nearest node instance around it).

    A number is -1 if there is no such instance.
    """
    entity = np.concatenate((members.entity, found.entity))
    parent = np.concatenate((members.parent, found.parent))
    number = np.arange(len(members))
    number[members.node_count :] -= members.node_count
    number = np.concatenate((number, final))
    is_group = entity >= forest.node_count
    above = found.parent
    inside = np.where((above >= 0) & is_group[above], number[above], -1)
    while (climbing := (above >= 0) & is_group[above]).any():
        above = np.where(climbing, parent[above], above)
    return inside, np.where(above >= 0, number[above], -1)


def _grown_groups(
    groups: GroupInstances,
    forest: Forest,
    found: ResizedTopology,
    new: np.ndarray,
    lies: tuple[np.ndarray, np.ndarray],
    tails: Sequence[str],
) -> GroupInstances:
    if not len(new):
        return groups
    place = found.entity[new] - forest.node_count
    ids = [f"{forest.groups[at]}_{tail}" for at, tail in zip(place.tolist(), tails, strict=True)]
    outer, container = lies
    return altered(
        groups,
        names=forest.groups,
        ids=[*groups.ids, *ids],
        group=np.concatenate((groups.group, place)).astype(np.int32),
        index=np.concatenate((groups.index, found.index[new])).astype(np.int32),
        outer=np.concatenate((groups.outer, outer[new])).astype(np.int32),
        container=np.concatenate((groups.container, container[new])).astype(np.int32),
        gone=np.concatenate((groups.gone, np.zeros(len(new), bool))) if len(groups.gone) else groups.gone,
    )


def _behind(column: np.ndarray, more: np.ndarray, length: int) -> np.ndarray:
    """Return a column with ``more`` appended; an empty column counts as ``length`` times -1."""
    full = column if len(column) else np.full(length, -1, np.int32)
    return np.concatenate((full, more)).astype(np.int32)


def _related(topology: Topology, changed: np.ndarray, there: np.ndarray) -> ModifiedInstances:
    """Return the changed instances with their neighbours. Only relationships between instances in ``there`` count.

    ``there`` marks instances, bool by number.
    """
    is_changed = np.zeros(len(topology), bool)
    is_changed[changed] = True
    near = np.zeros(len(topology), bool)
    rows = topology.link[:0]
    if len(topology.link):
        touched = is_changed[topology.source] | is_changed[topology.target]
        rows = (touched & there[topology.source] & there[topology.target]).nonzero()[0].astype(np.int32)
        near[topology.source[rows]] = near[topology.target[rows]] = True
    rules, nodes = _ruled(topology, changed)
    near |= nodes[topology.node] & there
    return ModifiedInstances(changed, (near & ~is_changed).nonzero()[0].astype(np.int32), rows, rules)


def _ruled(topology: Topology, changed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (links without rows that have a changed instance at one end, nodes at their other ends, bool by node)."""
    is_hit = np.zeros(len(topology.nodes), bool)
    is_hit[topology.node[changed]] = True
    rules = np.array([place for place, link in enumerate(topology.links) if link.is_rule], np.int32)
    source = np.array([topology.links[place].source for place in rules.tolist()], np.int64)
    target = np.array([topology.links[place].target for place in rules.tolist()], np.int64)
    others = np.zeros(len(topology.nodes), bool)
    others[target[is_hit[source]]] = True
    others[source[is_hit[target]]] = True
    return rules[is_hit[source] | is_hit[target]], others


def _with_extended_last(topology: Topology, is_new: np.ndarray, rows_before: int) -> tuple[Topology, ModifiedInstances]:
    """Return (topology with new rows between kept instances moved to the end, instances and rows that this concerns).

    Such rows arise if the only target of an all_to_one is removed and its sources get another target. They are added
    only when the modification is finished, so that a rollback leaves none of them.
    """
    new = np.arange(rows_before, len(topology.link))
    is_kept = ~is_new[topology.source[new]] & ~is_new[topology.target[new]]
    order = np.concatenate((np.arange(rows_before), new[~is_kept], new[is_kept]))
    link, source, target = topology.link[order], topology.source[order], topology.target[order]
    rows = np.arange(len(order) - int(is_kept.sum()), len(order), dtype=np.int32)
    changed = unique(source[rows]).astype(np.int32)
    is_near = np.zeros(len(topology), bool)
    is_near[target[rows]] = True
    is_near[changed] = False
    related = is_near.nonzero()[0].astype(np.int32)
    sorted_last = altered(topology, link=link, source=source, target=target)
    return sorted_last, ModifiedInstances(changed, related, rows, rows[:0])
