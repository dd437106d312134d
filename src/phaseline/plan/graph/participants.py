"""Participants of a workflow: chosen instances, and instances between them that only keep the order (W22).

An instance is between chosen ones if it is on a dependency path from one to another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import every, some
from phaseline.lang.fast_dataclasses import frozen
from phaseline.plan.graph import dependency_order

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology


@frozen
class Participants:
    """The instances that take part in a graph.

    Each has a place 0, 1, 2, ...; places are ordered by level, node and number. This order puts entries that are ready
    together next to each other. Columns indexed by place: ``number`` (of the instance), ``node`` and ``level`` (depth
    in the dependency order), int32, and ``is_chosen``, bool. Instances that are not chosen only keep the order.
    ``place`` is indexed by instance number: its place, -1 if it does not take part. ``first`` and ``count`` are indexed
    by node: the first place and the number of its instances.
    """

    number: np.ndarray
    node: np.ndarray
    level: np.ndarray
    is_chosen: np.ndarray
    place: np.ndarray
    first: np.ndarray
    count: np.ndarray

    def __len__(self) -> int:
        """Return the number of participants."""
        return len(self.number)


def gather(
    topology: Topology, chosen: np.ndarray, extra: np.ndarray, *, downwards: bool, with_bridges: bool = True
) -> Participants:
    """Return the participants: ``chosen`` and ``extra`` instances, and instances on a dependency path between these.

    ``chosen`` and ``extra`` are bool arrays indexed by instance number. With ``downwards``, dependents come first, as
    in uninstall. Without ``with_bridges``, instances on such paths do not take part.
    """
    involved = chosen | extra
    if with_bridges and topology.links and not every(involved):
        involved |= _reached(topology, involved, upwards=True) & _reached(topology, involved, upwards=False)
    depth = node_depths(topology)
    level = depth.max(initial=0) - depth if downwards else depth
    by_level = level.argsort(kind="stable")
    number = involved.nonzero()[0].astype(np.int32)
    rank = np.empty(len(level), np.int32)
    rank[by_level] = np.arange(len(level), dtype=np.int32)
    ranks = rank[topology.node[number]]
    if some(ranks[1:] < ranks[:-1]):
        number = number[ranks.argsort(kind="stable")]
    node = topology.node[number]
    place = np.full(len(topology), -1, np.int32)
    place[number] = np.arange(len(number), dtype=np.int32)
    count = np.bincount(node, minlength=len(level))
    first = np.zeros(len(level), np.int64)
    placed = count[by_level]
    first[by_level] = placed.cumsum() - placed
    return Participants(number, node, level[node].astype(np.int32), chosen[number], place, first, count)


def node_depths(topology: Topology) -> np.ndarray:
    """Return the depth of each node in the dependency order, int32 indexed by node number."""
    if not topology.links:
        return np.zeros(len(topology.nodes), np.int32)

    targets: list[list[int]] = [[] for _ in topology.nodes]
    for link in topology.links:
        if not link.is_cut:
            targets[link.source].append(link.target)
    return np.array(dependency_order.depths(targets), np.int32)


def _reached(topology: Topology, start: np.ndarray, *, upwards: bool) -> np.ndarray:
    """Return the instances on which ``start`` depends, directly or not; bool indexed by instance number.

    Without ``upwards``, return the instances that depend on ``start`` instead.
    """
    everyone = [
        (topology.links[number].source, topology.links[number].target) for number in topology.ties_all.nonzero()[0]
    ]
    rows = topology.has_rows[topology.link] & topology.is_tied if len(topology.link) else np.empty(0, bool)
    source, target = topology.source[rows], topology.target[rows]
    tail, head = (source, target) if upwards else (target, source)
    steps = [(a, b) if upwards else (b, a) for a, b in everyone]
    ahead: list[list[int]] = [[] for _ in topology.nodes]
    for from_node, to_node in steps:
        ahead[from_node].append(to_node)
    order = np.argsort(tail, kind="stable")
    head = head[order]
    ptr = np.concatenate(([0], np.cumsum(np.bincount(tail, minlength=len(topology)))))
    seen = np.zeros(len(topology), bool)
    passed = np.zeros(len(topology.nodes), bool)
    front = np.flatnonzero(start)
    while len(front):
        found = [_neighbours(front, ptr, head)]
        for node in np.unique(topology.node[front]).tolist():
            if not passed[node] and ahead[node]:
                found += [topology.instances_of(to_node) for to_node in ahead[node]]
            passed[node] = True
        together = np.unique(np.concatenate(found))
        front = together[~seen[together]]
        seen[front] = True
    return seen


def _neighbours(front: np.ndarray, ptr: np.ndarray, idx: np.ndarray) -> np.ndarray:
    """Return the ends of all edges that begin in ``front``, with repetitions."""
    length = ptr[front + 1] - ptr[front]
    begin = np.repeat(ptr[front] - (np.cumsum(length) - length), length)
    return idx[begin + np.arange(len(begin))]
