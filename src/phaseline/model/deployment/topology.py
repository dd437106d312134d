"""A deployment's instances and relationship instances as columns.

Instances are numbered 0, 1, 2, ... within their deployment, at first by depth in the dependency
order, then node, then index, so that instances that become ready together are adjacent. A number never
changes and is never used again; later instances get the next numbers.

Relationship instances are numbered the same way; only those that need a row of their own have one
(contained_in, all_to_one, and all_to_all where an operation is mapped). An all_to_all relationship
without operations is a *rule* (``is_rule``): every source instance to every target instance
(decision 11).
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
    """One relationship of a node template as the topology sees it.

    ``source`` and ``target`` are node numbers, ``place`` its position in the template (of one that is cut: among those of its
    source that are).
    ``is_rule``: no rows, all sources to all targets. ``group``: place in ``Topology.groups.names`` of the scaling group
    within whose instances all_to_all stays, -1 for none. ``is_cut``: the blueprint has it no more; nothing follows from it,
    and its rows are there for what has run over them.
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
        """True when every source instance is connected to every target instance, by rows or by rule."""
        return self.relationship.ties_all and self.group < 0 and not self.is_cut


def _nothing() -> np.ndarray:
    return np.empty(0, np.int32)


@frozen
class GroupInstances:
    """Instances of scaling groups, numbered 0, 1, 2, ... separately; no graph entry is about them (N1).

    ``names``: the scaling groups. By group instance: ``ids`` (texts), ``group`` int32 (place in ``names``), ``index``
    int32 (from 1 within its group), ``outer`` int32 (the group instance around it, -1 for none), ``container`` int32 (the
    node instance that contains it, -1 for none) and ``gone`` bool (it was removed; empty where none was).
    """

    names: tuple[str, ...] = ()
    ids: Sequence[str] = ()
    group: np.ndarray = field(default_factory=_nothing)
    index: np.ndarray = field(default_factory=_nothing)
    outer: np.ndarray = field(default_factory=_nothing)
    container: np.ndarray = field(default_factory=_nothing)
    gone: np.ndarray = field(default_factory=lambda: np.empty(0, bool))

    def __len__(self) -> int:
        """The number of group instances, removed ones included."""
        return len(self.ids)

    @property
    def is_there(self) -> np.ndarray:
        """Group instances that were not removed, bool by group instance."""
        return ~self.gone if len(self.gone) else np.ones(len(self), bool)


@frozen
class Topology:
    """Instances of one deployment.

    ``nodes``: node number -> Node, in order of depth. Columns over instance numbers:
    ``ids`` (texts), ``node`` int32, ``index`` int32 (from 1), ``container`` int32 (instance number, -1
    for none), ``host`` int32 (innermost Compute up the containment chain, itself included; -1 for none).
    Columns over relationship numbers: ``link`` int32 (position in ``links``), ``source`` and
    ``target`` int32 (instance numbers), at first ordered by link, then source, then target; later ones come behind.
    ``group``: int32 by instance number, the innermost group instance an instance is a member of, -1 for none; empty
    where there are no scaling groups. ``groups``: those group instances. ``gone``: bool by instance number, removed for
    ever; empty where none was.
    ``counts``: {node or scaling group: instances in each instance of its container} where they differ from the
    blueprint. ``started``: a modification that has not ended. ``past``: numbers of nodes that were removed from the
    blueprint, or replaced under another number; all their instances are removed.
    ``restricted``: {node or instance id: actions that a user has forbidden}, in place of those of the blueprint.
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
        """The number of instances, removed ones included."""
        return len(self.ids)

    @cached_property
    def is_restricted(self) -> bool:
        """True if any action is forbidden for any instance, which is rare (``model.deployment.restrictions``)."""
        return bool(self.restricted) or any(node.restricted_actions for node in self.nodes)

    @cached_property
    def is_there(self) -> np.ndarray:
        """Instances that were not removed, bool by instance number."""
        return ~self.gone if len(self.gone) else np.ones(len(self), bool)

    @cached_property
    def is_tied(self) -> np.ndarray:
        """Relationships whose source and target were not removed, bool by relationship number."""
        if not len(self.gone):
            return np.ones(len(self.link), bool)
        there = self.is_there
        found: np.ndarray = there[self.source] & there[self.target]
        return found

    def groups_around(self, instance: int) -> dict[str, int]:
        """{scaling group: its instance} for the groups of an instance and of its containers, nearest first."""
        found: dict[str, int] = {}
        while instance >= 0 and len(self.group):
            inside = int(self.group[instance])
            while inside >= 0:
                found[self.groups.names[self.groups.group[inside]]] = inside
                inside = int(self.groups.outer[inside])
            instance = int(self.container[instance])
        return found

    def within(self, node: int, group: str) -> Mapping[int, Sequence[int]]:
        """{instance of a scaling group: the instances of a node in it}; made on first use."""
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
        """Links that were removed from the blueprint, bool by link."""
        return np.array([link.is_cut for link in self.links], bool)

    @cached_property
    def node_number(self) -> dict[str, int]:
        """{node name: node number}."""
        return {node.name: number for number, node in enumerate(self.nodes)}

    @cached_property
    def number_of(self) -> dict[str, int]:
        """{instance id: instance number}; built on first use."""
        return {text: number for number, text in enumerate(self.ids)}

    @cached_property
    def ties_all(self) -> np.ndarray:
        """Links that connect every source to every target, bool by link."""
        return np.fromiter((link.ties_all for link in self.links), bool, len(self.links))

    @cached_property
    def has_rows(self) -> np.ndarray:
        """Links whose connections are stored as rows, bool by link; rows of removed links are ignored."""
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
        """Names of the operations that at least one relationship implements, on either side."""
        relationships = [link.relationship for link in self.links]
        sides = [side for one in relationships for side in (one.source_operations, one.target_operations)]
        return frozenset({name for side in sides for name, operation in side.items() if operation.form != "none"})

    def instances_of(self, node: int) -> np.ndarray:
        """Instance numbers of a node that were not removed, ascending."""
        return self.by_node[0][self.by_node[1][node] : self.by_node[1][node + 1]]

    @cached_property
    def by_node(self) -> tuple[np.ndarray, np.ndarray]:
        """Instance numbers by node, those that were removed left out, and where each node's begin and end."""
        order = np.argsort(self.node, kind="stable").astype(np.int32)
        if len(self.gone):
            order = order[~self.gone[order]]
        counts = np.bincount(self.node[order], minlength=len(self.nodes))
        return order, np.concatenate(([0], np.cumsum(counts)))

    @cached_property
    def rows_by_source(self) -> tuple[np.ndarray, np.ndarray]:
        """(relationship numbers ordered by source then number, ptr): rows of instance i are order[ptr[i]:ptr[i+1]]."""
        order = np.argsort(self.source, kind="stable").astype(np.int32)
        if any(link.is_cut for link in self.links):
            order = order[~self.is_cut[self.link[order]]]
        source = self.source[order]
        counts = np.bincount(source, minlength=len(self)) if len(source) else np.zeros(len(self), np.int64)
        return order, np.concatenate(([0], np.cumsum(counts)))
