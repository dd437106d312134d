"""Nodes and scaling groups as one containment forest, along which instance counts multiply (N1).

In the forest a scaling group contains its members, and the container of the members contains the outermost group. So a
group is like an invisible container: all code that multiplies, counts or adds instances treats nodes and groups alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from phaseline.model.blueprint.blueprint import Node
    from phaseline.model.blueprint.groups import ScalingGroup


@frozen
class Forest:
    """A containment forest of entities: first the nodes by number, then the scaling groups in the order of ``groups``.

    Columns indexed by entity: ``parent`` int64 (-1 for none), ``container`` int64 (the node that contains it, skipping
    groups; -1 for none), ``level`` int64 (0 for roots), and ``each`` (the number of its instances in every instance of
    its parent).
    """

    node_count: int
    groups: tuple[str, ...]
    parent: np.ndarray
    container: np.ndarray
    level: np.ndarray
    each: tuple[int, ...]

    def groups_of(self, entity: int) -> list[int]:
        """Return the groups that contain an entity, as entity numbers, nearest first.

        Groups of its containers are included.
        """
        found = []
        while (entity := int(self.parent[entity])) >= 0:
            if entity >= self.node_count:
                found.append(entity)
        return found

    def shared_group(self, one: int, other: int) -> int:
        """Return the entity number of the nearest group around ``one`` that also contains ``other``; -1 for none."""
        around = set(self.groups_of(other))
        return next((group for group in self.groups_of(one) if group in around), -1)

    def totals(self) -> list[int]:
        """Return the total number of instances of each entity: counts multiply from the roots down.

        The numbers are Python integers, because they may be too large for arrays.
        """
        total = list(self.each)
        parent = self.parent.tolist()
        for entity in np.argsort(self.level, kind="stable").tolist():
            if parent[entity] >= 0:
                total[entity] *= total[parent[entity]]
        return total


def plant(
    nodes: Sequence[Node],
    scaling: Mapping[str, ScalingGroup],
    each: Sequence[int],
    past: Collection[int] = (),
) -> Forest:
    """Return the forest of ``nodes`` and scaling groups (``scaling``).

    ``each`` is the number of instances of every entity in each instance of its parent. ``past`` are numbers of removed
    nodes, which have no container.
    """
    if past:
        nodes = [_nowhere(node, place) if place in past else node for place, node in enumerate(nodes)]
    number = {node.name: place for place, node in enumerate(nodes)}
    for name in scaling:
        number[name] = len(number)
    within = {member: name for name, group in scaling.items() for member in group.members}
    container = [number[node.container] if node.container else -1 for node in nodes]
    container += [_container_of(name, scaling, nodes, number) for name in scaling]
    parent = [number[within[name]] if name in within else container[place] for name, place in number.items()]
    return Forest(
        node_count=len(nodes),
        groups=tuple(scaling),
        parent=np.array(parent, np.int64),
        container=np.array(container, np.int64),
        level=_levels(parent),
        each=tuple(each),
    )


def _container_of(
    group: str, scaling: Mapping[str, ScalingGroup], nodes: Sequence[Node], number: Mapping[str, int]
) -> int:
    """Return the number of the node that contains all members of a group; -1 for none."""
    name = group
    while name in scaling:
        if not scaling[name].members:
            return -1
        name = scaling[name].members[0]
    holder = nodes[number[name]].container
    return number[holder] if holder else -1


def _nowhere(node: Node, place: int) -> Node:
    """Return a removed node under a unique name and without relationships, so that it is in no container."""
    return altered(node, name=f"\0{place}", relationships=())


def _levels(parent: Sequence[int]) -> np.ndarray:
    found = [0 if upper < 0 else -1 for upper in parent]
    for entity, level in enumerate(found):
        if level >= 0:
            continue
        way = [entity]
        while found[parent[way[-1]]] < 0:
            way.append(parent[way[-1]])
        above = found[parent[way[-1]]]
        for place, step in enumerate(reversed(way)):
            found[step] = above + place + 1
    return np.array(found, np.int64)
