"""A blueprint, its evaluated nodes and a topology as the values of two rows, and back.

A topology is eleven columns of one row: 100,000 instances are read in a few milliseconds, as rows of their own they
would take a hundred. Of the nodes only those are stored again whose properties evaluation has changed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Blueprint, Node, Relationship
from phaseline.model.deployment.topology import GroupInstances, Link, Topology
from phaseline.store.codec.columns import decode, encode
from phaseline.store.codec.instance_ids import SEPARATOR, ids_from
from phaseline.store.codec.json_documents import to_text

if TYPE_CHECKING:
    from phaseline.model.deployment.modification import Started

COLUMNS = ("nodes", "ids", "node", "ordinal", "container", "host", "links", "link", "source", "target")
"""Columns of the topology table that ``to_row`` fills and ``from_row`` reads, in this order."""
GROUPED = ("groups", "policies", "scaling_groups", "policy_types", "policy_triggers", "labels", "resource_tags")
"""Fields of a blueprint that nodes do not need."""
MOST_TEXT = 1_000_000
"""Characters of the longest blueprint that is kept to be written again."""
IS_CUT, IS_RULE, IN_GROUP = -1, 1, 2
"""The flag of a link: 0 for rows, ``IS_CUT``, ``IS_RULE``, or ``IN_GROUP`` and on for the scaling groups from 0 on."""
CUT = "cut "
"""Prefix of the name of a former node that keeps the relationships removed from another node."""


def to_row(topology: Topology, blueprint: Blueprint) -> tuple[str | bytes, ...]:
    """Values of ``COLUMNS``; ``blueprint`` is stored beside it."""
    links = np.array([(link.source, link.place, link.target, _reach(link)) for link in topology.links], np.int32)
    arrays = (topology.node, topology.index, topology.container, topology.host)
    rows = (topology.link, topology.source, topology.target)
    return (
        _nodes_to_text(topology, blueprint),
        SEPARATOR.join(topology.ids).encode(),
        *(encode(array) for array in arrays),
        encode(links.ravel()),
        *(encode(array) for array in rows),
    )


def from_row(row: Sequence[Any], blueprint: Blueprint) -> Topology:
    """The topology stored in the values of ``COLUMNS`` beside ``blueprint``."""
    stored = json.loads(row[0])
    former = blueprint_from_text(stored["former"]).nodes if "former" in stored else {}
    past = frozenset(stored.get("past", ()))
    nodes, groups, group = _nodes_from_json(stored, blueprint, former, past)
    ids = ids_from(row[1])
    node, index, container, host, links, link, source, target = (decode(part) for part in row[2:])
    return Topology(
        blueprint=blueprint,
        nodes=nodes,
        ids=ids,
        node=node,
        index=index,
        container=container,
        host=host,
        links=tuple(_link(nodes, former, *four) for four in links.reshape(-1, 4).tolist()),
        link=link,
        source=source,
        target=target,
        group=group,
        groups=groups,
        gone=_flags(np.array(stored.get("gone", []), np.int32), len(ids)),
        counts=stored.get("counts", {}),
        restricted=stored.get("restricted", {}),
        started=_started(stored.get("started")),
        past=past,
    )


def _link(nodes: Sequence[Node], former: Mapping[str, Node], at: int, place: int, to: int, reach: int) -> Link:
    if reach == IS_CUT:
        return Link(at, place, to, former[f"{CUT}{at}"].relationships[place], is_rule=False, is_cut=True)
    return Link(at, place, to, nodes[at].relationships[place], reach == IS_RULE, max(reach - IN_GROUP, -1))


def _reach(link: Link) -> int:
    """How far a link goes: nowhere any more, by rows, by rule, or by rows within the instances of a scaling group."""
    if link.is_cut:
        return IS_CUT
    return IN_GROUP + link.group if link.group >= 0 else int(link.is_rule)


class KnownTopologies:
    """A cache of topologies still in use, and of the last one requested, so that none is read twice.

    A stored topology with its blueprint is replaced by the next version of it. Ten thousand templates take a second to read.
    """

    def __init__(self) -> None:
        self._told: tuple[Blueprint, str] | None = None
        self._used: WeakValueDictionary[tuple[int, int], Topology] = WeakValueDictionary()
        self._last: Topology | None = None

    def find(self, deployment: int, version: int) -> Topology | None:
        """The topology of a deployment in this version, if it is cached."""
        return self._used.get((deployment, version))

    def keep(self, deployment: int, version: int, topology: Topology) -> None:
        """Cache it as long as it is in use, at least until the next one."""
        self._used[deployment, version] = self._last = topology

    def forget(self) -> None:
        """Empty the cache: the last topology in it may not have been stored."""
        self._used.clear()
        self._last = None

    def text_of(self, blueprint: Blueprint) -> str:
        """As ``blueprint_to_text``; the last text is cached, so that repeated installs of one blueprint write it once."""
        if self._told is not None and self._told[0] is blueprint:
            return self._told[1]
        text = blueprint_to_text(blueprint)
        self._told = (blueprint, text) if len(text) <= MOST_TEXT else None
        return text


def blueprint_to_text(blueprint: Blueprint) -> str:
    """The blueprint as JSON. The dsl is imported only where a blueprint is needed: it brings the YAML reader along."""
    from phaseline.dsl.documents.json_codec import blueprint_to_json

    return to_text(blueprint_to_json(blueprint))


def blueprint_from_text(text: str) -> Blueprint:
    """The blueprint of ``blueprint_to_text``."""
    from phaseline.dsl.documents.json_codec import blueprint_from_json

    return blueprint_from_json(json.loads(text))


def _nodes_to_text(topology: Topology, blueprint: Blueprint) -> str:
    """Names in the order of their numbers, the nodes that differ from the blueprint's, and what only some topologies have."""
    nodes, told = topology.nodes, blueprint.nodes
    changed = {
        node.name: node
        for at, node in enumerate(nodes)
        if at not in topology.past and (known := told.get(node.name)) is not node and known != node
    }
    evaluated = blueprint_to_text(_only(blueprint, changed)) if changed else ""
    stored: dict[str, Any] = {"names": [node.name for node in nodes], "evaluated": evaluated}
    groups = topology.groups
    if groups.names:
        columns = (groups.group, groups.index, groups.outer, groups.container, topology.group, groups.gone.nonzero()[0])
        stored["groups"] = [list(groups.names), list(groups.ids), *(column.tolist() for column in columns)]
    if len(topology.gone):
        stored["gone"] = topology.gone.nonzero()[0].tolist()
    former = _former(topology)
    if former:
        stored |= {"past": sorted(topology.past), "former": blueprint_to_text(_only(blueprint, former))}
    if topology.counts:
        stored["counts"] = dict(topology.counts)
    if topology.blueprint.on_path:
        from phaseline.model.resources.path_nodes import targets_of

        stored["targets"] = targets_of(topology)
    if topology.restricted:
        stored["restricted"] = {name: list(actions) for name, actions in topology.restricted.items()}
    if topology.started is not None:
        from phaseline.model.deployment import modification

        stored["started"] = modification.to_json(topology.started)
    return to_text(stored)


def _former(topology: Topology) -> dict[str, Node]:
    """{number: a node that is past}, and {``CUT`` number: that node with the relationships it has no more, in their order}."""
    found = {str(at): altered(topology.nodes[at], name=str(at)) for at in topology.past}
    cut: dict[int, dict[int, Relationship]] = {}
    for link in topology.links:
        if link.is_cut:
            cut.setdefault(link.source, {})[link.place] = link.relationship
    for at, lost in cut.items():
        ordered = tuple(lost[place] for place in range(len(lost)))
        found[f"{CUT}{at}"] = altered(topology.nodes[at], name=f"{CUT}{at}", relationships=ordered)
    return found


def _nodes_from_json(
    stored: Mapping[str, Any], blueprint: Blueprint, former: Mapping[str, Node], past: Collection[int]
) -> tuple[tuple[Node, ...], GroupInstances, np.ndarray]:
    """(nodes, group instances, the group of each instance)."""
    evaluated = blueprint_from_text(stored["evaluated"]).nodes if stored["evaluated"] else {}
    told = blueprint.nodes
    nodes = tuple(
        altered(former[str(at)], name=name) if at in past else evaluated.get(name) or told[name]
        for at, name in enumerate(stored["names"])
    )
    names, ids, *columns = stored.get("groups", ((), (), [], [], [], [], [], []))
    group, index, outer, container, members, gone = (np.array(column, np.int32) for column in columns)
    groups = GroupInstances(tuple(names), ids, group, index, outer, container, _flags(gone, len(ids)))
    return nodes, groups, members


def _started(told: Mapping[str, Any] | None) -> Started | None:
    """The modification that is under way; what reads it is imported where there is one."""
    if told is None:
        return None
    from phaseline.model.deployment import modification

    return modification.from_json(told)


def _flags(numbers: np.ndarray, count: int) -> np.ndarray:
    """Bool by number; an empty array if all are False."""
    found = np.zeros(count if len(numbers) else 0, bool)
    found[numbers] = True
    return found


def _only(blueprint: Blueprint, nodes: dict[str, Node]) -> Blueprint:
    """A blueprint that contains only these nodes."""
    return altered(
        blueprint,
        nodes=nodes,
        inputs={},
        outputs={},
        capabilities={},
        plugins={},
        workflows={},
        metadata={},
        warnings=(),
        **{name: {} for name in GROUPED},
    )
