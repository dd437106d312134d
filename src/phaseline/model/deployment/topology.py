"""The instances and relationship instances of a deployment as columns.

Instances are numbered 0, 1, 2, ... within their deployment: first by depth in the order of dependencies, then by node
and index, so that instances which become ready together are adjacent. A number never changes and is never used again;
instances added later get the next numbers.

Relationship instances are numbered likewise, but only those have a number (and a row) that need it: contained_in,
all_to_one, and all_to_all if it has an operation. An all_to_all relationship without operations is a *rule*
(``is_rule``): it relates every source instance to every target instance without rows (decision 11).
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.model.blueprint.blueprint import Blueprint, Node, Relationship
    from phaseline.model.deployment.modification import Started


@frozen
class Link:
    """One relationship of a node template, by which the topology relates instances.

    ``source`` and ``target`` are node numbers. ``place`` is its position in the template, counted separately for
    removed relationships. ``is_rule`` means: no rows, every source instance is related to every target instance.
    ``group`` is the index in ``Topology.groups.names`` of the scaling group within whose instances an all_to_all
    relationship stays (-1: none). ``is_cut`` means that the blueprint no longer has it; its rows are kept only for past
    executions.
    """

    source: int
    place: int
    target: int
    relationship: Relationship
    is_rule: bool
    group: int = -1
    is_cut: bool = False

    @property
    def ties_all(self) -> bool:
        """True if every source instance is connected to every target instance (all_to_all), by rows or by rule."""
        return self.relationship.ties_all and self.group < 0 and not self.is_cut


def _nothing() -> np.ndarray:
    return np.empty(0, np.int32)


@frozen
class GroupInstances:
    """Instances of scaling groups, with numbers 0, 1, 2, ... of their own; entries of graphs never act on them (N1).

    ``names`` are the scaling groups. The other columns are by group instance: ``ids`` (texts), ``group`` (int32, index
    in ``names``), ``index`` (int32, from 1 within its group), ``outer`` (int32, the group instance around it, -1:
    none), ``container`` (int32, the node instance that contains it, -1: none) and ``gone`` (bool: it was removed; empty
    if none was).
    """

    names: tuple[str, ...] = ()
    ids: Sequence[str] = ()
    group: np.ndarray = field(default_factory=_nothing)
    index: np.ndarray = field(default_factory=_nothing)
    outer: np.ndarray = field(default_factory=_nothing)
    container: np.ndarray = field(default_factory=_nothing)
    gone: np.ndarray = field(default_factory=lambda: np.empty(0, bool))

    def __len__(self) -> int:
        """Return the number of group instances, including removed ones."""
        return len(self.ids)

    @property
    def is_there(self) -> np.ndarray:
        """True for each group instance that was not removed (bool array)."""
        return ~self.gone if len(self.gone) else np.ones(len(self), bool)


@frozen
class Topology:
    """The instances of one deployment and their relationships.

    ``nodes`` are ordered by depth; a node's number is its index. Columns by instance number: ``ids`` (texts), ``node``
    int32, ``index`` int32 (from 1), ``container`` int32 (instance number, -1: none), ``host`` int32 (the innermost
    Compute instance that contains the instance or is the instance, -1: none). Columns by relationship number: ``link``
    int32 (index in ``links``), ``source`` and ``target`` int32 (instance numbers); first ordered by link, source and
    target, later ones at the end. ``group`` int32 is by instance number the innermost group instance that the instance
    belongs to (-1: none); it is empty without scaling groups. ``groups`` has these group instances. ``gone`` is by
    instance number True for removed instances; it is empty if none was removed. ``counts`` is {node or scaling group:
    number of instances in each instance of its container} where it differs from the blueprint. ``started`` is a
    modification that has not ended. ``past`` has numbers of nodes that were removed from the blueprint or got another
    number; all their instances are removed. ``restricted`` is {node or instance id: actions that a user has forbidden};
    it replaces the restrictions of the blueprint.
    """

    blueprint: Blueprint
    nodes: Sequence[Node]
    ids: Sequence[str]
    node: np.ndarray
    index: np.ndarray
    container: np.ndarray
    host: np.ndarray
    links: tuple[Link, ...] = ()
    link: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    source: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    target: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    group: np.ndarray = field(default_factory=_nothing)
    groups: GroupInstances = field(default_factory=GroupInstances)
    gone: np.ndarray = field(default_factory=lambda: np.empty(0, bool))
    counts: Mapping[str, int] = field(default_factory=dict)
    started: Started | None = None
    past: frozenset[int] = frozenset()
    restricted: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of instances, including removed ones."""
        return len(self.ids)

    @cached_property
    def is_restricted(self) -> bool:
        """True if some action is forbidden for some instance, which is rare (see ``model.deployment.restrictions``)."""
        return bool(self.restricted) or any(node.restricted_actions for node in self.nodes)

    @cached_property
    def is_there(self) -> np.ndarray:
        """True for each instance that was not removed (bool by instance number)."""
        return ~self.gone if len(self.gone) else np.ones(len(self), bool)

    @cached_property
    def is_tied(self) -> np.ndarray:
        """True for each relationship instance whose source and target instances were not removed (bool by relationship number)."""
        if not len(self.gone):
            return np.ones(len(self.link), bool)
        there = self.is_there
        found: np.ndarray = there[self.source] & there[self.target]
        return found

    def groups_around(self, instance: int) -> dict[str, int]:
        """Return {scaling group: number of its group instance} for all groups around an instance, nearest first.

        These are the groups that contain the instance itself or one of its containers.
        """
        found: dict[str, int] = {}
        while instance >= 0 and len(self.group):
            inside = int(self.group[instance])
            while inside >= 0:
                found[self.groups.names[self.groups.group[inside]]] = inside
                inside = int(self.groups.outer[inside])
            instance = int(self.container[instance])
        return found

    def within(self, node: int, group: str) -> Mapping[int, Sequence[int]]:
        """Return {number of a group instance of ``group``: numbers of the instances of a node in it}; computed at the first call."""
        found = self._within.get((node, group))
        if found is None:
            grouped: dict[int, list[int]] = {}
            for instance in self.instances_of(node).tolist():
                number = self.groups_around(instance).get(group)
                if number is not None:
                    grouped.setdefault(number, []).append(instance)
            found = self._within[node, group] = grouped
        return found

    @cached_property
    def _within(self) -> dict[tuple[int, str], Mapping[int, Sequence[int]]]:
        return {}

    @cached_property
    def is_cut(self) -> np.ndarray:
        """True for each link that was removed from the blueprint (bool by link)."""
        return np.array([link.is_cut for link in self.links], bool)

    @cached_property
    def node_number(self) -> dict[str, int]:
        """{node name: node number}."""
        return {node.name: number for number, node in enumerate(self.nodes)}

    @cached_property
    def number_of(self) -> dict[str, int]:
        """{instance id: instance number}; computed at the first use."""
        return {text: number for number, text in enumerate(self.ids)}

    @cached_property
    def ties_all(self) -> np.ndarray:
        """True for each link that connects every source to every target (bool by link)."""
        return np.fromiter((link.ties_all for link in self.links), bool, len(self.links))

    @cached_property
    def has_rows(self) -> np.ndarray:
        """True for each link whose connections are stored as rows (bool by link); False for removed links."""
        cut = np.fromiter((link.is_cut for link in self.links), bool, len(self.links))
        found: np.ndarray = ~(self.ties_all | cut)
        return found

    @cached_property
    def called(self) -> frozenset[str]:
        """Names of the operations that at least one node implements."""
        return frozenset(
            {name for node in self.nodes for name, operation in node.operations.items() if operation.form != "none"}
        )

    @cached_property
    def called_between(self) -> frozenset[str]:
        """Names of the operations that at least one relationship implements, for its source or its target."""
        relationships = [link.relationship for link in self.links]
        sides = [side for one in relationships for side in (one.source_operations, one.target_operations)]
        return frozenset({name for side in sides for name, operation in side.items() if operation.form != "none"})

    def instances_of(self, node: int) -> np.ndarray:
        """Return the numbers of a node's instances that were not removed, ascending."""
        return self.by_node[0][self.by_node[1][node] : self.by_node[1][node + 1]]

    @cached_property
    def by_node(self) -> tuple[np.ndarray, np.ndarray]:
        """(numbers of the instances that were not removed, ordered by node; index at which each node's instances begin and end)."""
        order = np.argsort(self.node, kind="stable").astype(np.int32)
        if len(self.gone):
            order = order[~self.gone[order]]
        counts = np.bincount(self.node[order], minlength=len(self.nodes))
        return order, np.concatenate(([0], np.cumsum(counts)))

    @cached_property
    def rows_by_source(self) -> tuple[np.ndarray, np.ndarray]:
        """(relationship numbers ordered by source, ptr): the relationships of instance i are order[ptr[i]:ptr[i+1]]."""
        order = np.argsort(self.source, kind="stable").astype(np.int32)
        if any(link.is_cut for link in self.links):
            order = order[~self.is_cut[self.link[order]]]
        source = self.source[order]
        counts = np.bincount(source, minlength=len(self)) if len(source) else np.zeros(len(self), np.int64)
        return order, np.concatenate(([0], np.cumsum(counts)))
