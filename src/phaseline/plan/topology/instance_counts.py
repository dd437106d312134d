"""Compute which instances are added and removed when the counts of nodes and scaling groups change (N6).

The containment forest is walked level by level, all entities of a level at once. In the end each entity has its wanted
number of instances in every instance of its parent. The content of a removed instance is removed with it.

Instances of nodes and of groups have one numbering here, as *members*: first the instances of nodes, then those of
scaling groups, then new ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen, mutable

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.plan.topology.containment_tree import Forest

KEEP, PLAIN, GO = 2, 1, 0
"""Order of removal, highest number last: ``GO`` is removed first, ``KEEP`` last."""


@frozen
class MemberNumbering:
    """The instances of nodes and of groups in one numbering; each is a *member*.

    Columns indexed by member: ``entity`` of the forest, ``parent`` (the member that contains it, -1 for none),
    ``index`` (from 1 within its entity) and ``is_alive``. The first ``node_count`` members are node instances.
    """

    node_count: int
    entity: np.ndarray
    parent: np.ndarray
    index: np.ndarray
    is_alive: np.ndarray

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self.entity)


def members_of(topology: Topology, node_count: int) -> MemberNumbering:
    """Return all members, including removed ones.

    ``node_count`` is the number of nodes; the entities of groups are numbered after the nodes.
    """
    count, groups = len(topology), topology.groups
    group = topology.group if len(topology.group) else np.full(count, -1, np.int32)
    inside = np.where(group >= 0, group.astype(np.int64) + count, topology.container)
    outer = np.where(groups.outer >= 0, groups.outer.astype(np.int64) + count, groups.container)
    return MemberNumbering(
        node_count=count,
        entity=np.concatenate((topology.node, groups.group + node_count)).astype(np.int64),
        parent=np.concatenate((inside, outer)).astype(np.int64),
        index=np.concatenate((topology.index, groups.index)).astype(np.int64),
        is_alive=np.concatenate((topology.is_there, groups.is_there)),
    )


@frozen
class ResizedTopology:
    """The result of new counts: members to add, and members to remove.

    ``entity``, ``parent`` and ``index`` describe the new members, which are numbered after the existing ones. ``goes``
    marks the members to remove, bool by member.
    """

    entity: np.ndarray
    parent: np.ndarray
    index: np.ndarray
    goes: np.ndarray


def resize(members: MemberNumbering, forest: Forest, wanted: np.ndarray, turn: np.ndarray) -> ResizedTopology:
    """Return the members to add and to remove.

    ``wanted`` is the number of instances of each entity in every instance of its parent. It is -1 for an entity whose
    count is not modified: its existing instances stay, and each new instance of its parent gets the number in
    ``forest``. ``turn`` has ``GO`` for members that are removed first and ``KEEP`` for those removed last; among members with
    equal values, the one with the highest index is removed first.
    """
    walk = _Walk.begin(members, forest, wanted, turn)
    affected = wanted >= 0
    for level in range(int(forest.level.max(initial=-1)) + 1):
        here = (forest.level == level).nonzero()[0]
        if level:
            affected[here] |= affected[forest.parent[here]]
        entities = here[affected[here]]
        if len(entities):
            walk.step(entities)
    return walk.result()


@mutable
class _Walk:
    """One pass down the containment forest, which collects the members to add and to remove."""

    members: MemberNumbering
    forest: Forest
    wanted: np.ndarray
    turn: np.ndarray
    each: np.ndarray
    is_alive: np.ndarray
    order: np.ndarray
    start: np.ndarray
    new_first: np.ndarray
    new_count: np.ndarray
    rank: np.ndarray
    new_entity: list[np.ndarray]
    new_parent: list[np.ndarray]
    total: int

    @classmethod
    def begin(cls, members: MemberNumbering, forest: Forest, wanted: np.ndarray, turn: np.ndarray) -> _Walk:
        """Return a walk that has not handled any level of the forest yet."""
        entities = len(forest.parent)
        counts = np.bincount(members.entity, minlength=entities)
        return cls(
            members=members,
            forest=forest,
            wanted=wanted,
            turn=turn,
            each=np.array(forest.each, np.int64),
            is_alive=members.is_alive.copy(),
            order=np.argsort(members.entity, kind="stable"),
            start=np.concatenate(([0], np.cumsum(counts))),
            new_first=np.zeros(entities, np.int64),
            new_count=np.zeros(entities, np.int64),
            rank=np.zeros(len(members), np.int64),
            new_entity=[],
            new_parent=[],
            total=len(members),
        )

    def step(self, entities: np.ndarray) -> None:
        """Add and remove members of these entities, all of one level, until they have the wanted counts.

        The levels above must be done before.
        """
        parents = self.forest.parent[entities]
        pair_parent, lengths = self._living(parents)
        pair_entity = np.repeat(entities, lengths)
        first = np.zeros(len(self.forest.parent), np.int64)
        first[entities] = np.cumsum(lengths) - lengths
        kids, _ = self._own(entities)
        above = self.members.parent[kids]
        is_orphan = (above >= 0) & ~self.is_alive[above]
        self.is_alive[kids[is_orphan]] = False
        kids, above = kids[~is_orphan], above[~is_orphan]
        pair = first[self.members.entity[kids]] + np.where(above >= 0, self.rank[above], 0)
        have = np.bincount(pair, minlength=len(pair_entity))
        asked = self.wanted[pair_entity]
        as_new = np.where(pair_parent >= len(self.members), self.each[pair_entity], have)
        want = np.where(asked >= 0, asked, as_new)
        self._remove(kids, pair, have - want)
        self._add(entities, pair_entity, pair_parent, np.maximum(want - have, 0))

    def _own(self, entities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (existing members of the entities, index in ``entities`` of each member's entity).

        Members that the walk has removed so far are left out.
        """
        lengths = self.start[entities + 1] - self.start[entities]
        place = np.repeat(np.arange(len(entities)), lengths)
        found = self.order[_ranges(self.start[entities], lengths)]
        alive = self.is_alive[found]
        return found[alive], place[alive]

    def _living(self, entities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (members that exist in the end, entity by entity; their number for each entity).

        If the entities are -1, because they are the parents of roots, each counts as one member -1.
        """
        if not len(entities) or entities[0] < 0:
            return np.full(len(entities), -1, np.int64), np.ones(len(entities), np.int64)
        old, place = self._own(entities)
        made = self.new_count[entities]
        new = _ranges(self.new_first[entities], made)
        places = np.concatenate((place, np.repeat(np.arange(len(entities)), made)))
        order = np.argsort(places, kind="stable")
        lengths = np.bincount(places, minlength=len(entities))
        counted = np.bincount(place, minlength=len(entities))
        self.rank[old] = np.arange(len(old)) - (np.cumsum(counted) - counted)[place]
        return np.concatenate((old, new))[order], lengths

    def _remove(self, kids: np.ndarray, pair: np.ndarray, excess: np.ndarray) -> None:
        order = np.lexsort((-self.members.index[kids], self.turn[kids], pair))
        sorted_pair = pair[order]
        counts = np.bincount(sorted_pair, minlength=len(excess))
        rank = np.arange(len(order)) - (np.cumsum(counts) - counts)[sorted_pair]
        self.is_alive[kids[order[rank < excess[sorted_pair]]]] = False

    def _add(self, entities: np.ndarray, pair_entity: np.ndarray, pair_parent: np.ndarray, missing: np.ndarray) -> None:
        entity = np.repeat(pair_entity, missing)
        counts = np.bincount(entity, minlength=len(self.forest.parent))[entities]
        self.new_count[entities] = counts
        self.new_first[entities] = self.total + np.cumsum(counts) - counts
        self.new_entity.append(entity)
        self.new_parent.append(np.repeat(pair_parent, missing))
        self.total += len(entity)

    def result(self) -> ResizedTopology:
        """Return the result. New members of an entity get the indexes after its highest index."""
        nothing = np.empty(0, np.int64)
        entity = np.concatenate([nothing, *self.new_entity])
        highest = np.zeros(len(self.forest.parent), np.int64)
        np.maximum.at(highest, self.members.entity, self.members.index)
        behind = np.arange(len(entity)) + len(self.members) - self.new_first[entity]
        return ResizedTopology(
            entity=entity,
            parent=np.concatenate([nothing, *self.new_parent]),
            index=highest[entity] + behind + 1,
            goes=self.members.is_alive & ~self.is_alive,
        )


def _ranges(first: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return consecutive numbers: ``lengths[i]`` numbers from ``first[i]`` on, for each i in order."""
    found: np.ndarray = np.arange(lengths.sum()) + np.repeat(first - (np.cumsum(lengths) - lengths), lengths)
    return found
