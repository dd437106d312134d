"""A deployment of resources: its topology has one node for each resource type, and resources can be added later.

Its instances are the resources; their ids are the resources' names. A removed resource keeps its number for ever; its
name may be given to a later resource.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.blueprint import Blueprint, Node, Value
from phaseline.model.deployment.index_ranges import numbers_of
from phaseline.model.deployment.topology import Topology

if TYPE_CHECKING:
    from phaseline.model.execution.execution import Request

VERSION = "phaseline_resources"
"""The text used in place of a blueprint's language version."""
REMOVED = 63
"""The state of a removed resource; named states have higher numbers."""
REACH_WORKFLOW = "reach"
"""The workflow that brings resources to a target. Several executions of it may be open in one deployment."""


@frozen
class ResourceAddition:
    """Resources to be added after the ``first`` existing ones, with types that are new.

    ``node`` (int32) has their node numbers, counted after the existing types. ``documents`` is {number: attributes}.
    ``requests`` are executions to be stored in the same transaction.
    """

    first: int
    nodes: Sequence[Node]
    ids: Sequence[str]
    node: np.ndarray
    documents: Mapping[int, Mapping[str, Value]] = field(default_factory=dict)
    requests: Sequence[Request] = ()


def is_reach(request: Request) -> bool:
    """Return True for an execution that brings resources to a target."""
    return request.workflow == REACH_WORKFLOW


class OutgrownError(Exception):
    """Another process added resources in the meantime, so the numbers of this addition no longer match."""


def no_resources() -> Topology:
    """Return the topology of a deployment before its first resource.

    >>> len(no_resources())
    0
    """
    nothing = np.empty(0, np.int32)
    return Topology(Blueprint(VERSION, "", ""), (), (), nothing, nothing, nothing, nothing)


def type_node(name: str, hierarchy: tuple[str, ...]) -> Node:
    """Return the node of a resource type. ``hierarchy`` is the type and its parents, the farthest first."""
    return Node(name, name, hierarchy, {}, {}, default_instances=0)


def grown(topology: Topology, growth: ResourceAddition) -> Topology:
    """Return the topology with more resources. Raises ``OutgrownError``.

    >>> more = ResourceAddition(0, [type_node("Disk", ("Disk",))], ["d1", "d2"], np.array([0, 0], np.int32))
    >>> found = grown(no_resources(), more)
    >>> list(found.ids), found.index.tolist(), found.nodes[0].type
    (['d1', 'd2'], [1, 2], 'Disk')
    """
    if growth.first != len(topology):
        raise OutgrownError(f"{len(topology)} resources are there instead of {growth.first}")
    nodes = (*topology.nodes, *growth.nodes)
    added = growth.node.astype(np.int32)
    alone = np.full(len(added), -1, np.int32)
    told = {node.name: node for node in nodes}
    return Topology(
        blueprint=replace(topology.blueprint, nodes=told) if growth.nodes else topology.blueprint,
        nodes=nodes,
        ids=[*topology.ids, *growth.ids],
        node=np.concatenate((topology.node, added)).astype(np.int32),
        index=np.concatenate((topology.index, _indexes(topology, added, len(nodes)))).astype(np.int32),
        container=np.concatenate((topology.container, alone)).astype(np.int32),
        host=np.concatenate((topology.host, alone)).astype(np.int32),
        links=topology.links,
        link=topology.link,
        source=topology.source,
        target=topology.target,
    )


def newest_of(ways: Iterable[tuple[int, Value]], count: int) -> np.ndarray:
    """Return for each of ``count`` resources the latest execution that was requested to move it (0: none; int64).

    ``ways`` has (number of an execution, ranges of its subjects), in any order.

    >>> newest_of([(7, [[0, 3]]), (9, [[2, 2]])], 5).tolist()
    [7, 7, 9, 9, 0]
    """
    found = np.zeros(count, np.int64)
    for execution, ranges in ways:
        subjects = numbers_of(ranges)
        subjects = subjects[subjects < count]
        found[subjects] = np.maximum(found[subjects], execution)
    return found


def _indexes(topology: Topology, added: np.ndarray, node_count: int) -> np.ndarray:
    """Return the index of each added resource within its node, counted from 1."""
    before = np.bincount(topology.node, minlength=node_count)
    order = np.argsort(added, kind="stable")
    counts = np.bincount(added, minlength=node_count)
    first = np.cumsum(counts) - counts
    found = np.empty(len(added), np.int64)
    found[order] = np.arange(len(added)) - first[added[order]] + before[added[order]] + 1
    return found
