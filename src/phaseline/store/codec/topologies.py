"""Conversion of blueprints, and of topologies with their evaluated nodes, to values of database rows, and back.

A blueprint and a topology are in different rows. A topology is stored as columns in one row: 100,000 instances are read
in a few milliseconds, whereas one row per instance would take a hundred. A node is stored a second time only if
evaluation has changed its properties.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
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
"""Fields of a blueprint that are not needed to store nodes."""
MOST_TEXT = 1_000_000
"""Longest blueprint text, in characters, that is kept in memory in case the blueprint is stored again."""
MOST_SHARED, MOST_SHARED_TEXT = 8, 200_000
"""Limits of the cache of decoded blueprints: number of blueprints, and characters of the longest text.

A thousand deployments of one blueprint (GR2) are then read as one.
"""
IS_CUT, IS_RULE, IN_GROUP = -1, 1, 2
"""Codes for how the instances of a link (a relationship of a node) are stored; 0: one row for each related pair.

``IS_RULE``: no rows, every source is related to every target. ``IN_GROUP + n``: rows, with pairs only within an
instance of scaling group n. ``IS_CUT``: rows kept after an update removed the relationship from the blueprint.
"""
CUT = "cut "
"""Prefix in the name of a stored node that keeps the relationships which an update removed from a node."""


def to_row(topology: Topology, blueprint: Blueprint) -> tuple[str | bytes, ...]:
    """Return a topology as the values of ``COLUMNS``. The caller stores ``blueprint`` in another row."""
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


def ids_in(row: Sequence[str | bytes]) -> bytes:
    """Return the ids of the instances in a row that ``to_row`` has made, as they are stored."""
    found = row[COLUMNS.index("ids")]
    assert isinstance(found, bytes)
    return found


def from_row(row: Sequence[Any], blueprint: Blueprint) -> Topology:
    """Return the topology whose values of ``COLUMNS`` are given; ``blueprint`` comes from another row."""
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
    """Return the code that states how a link is stored: ``IS_CUT``, ``IS_RULE``, ``IN_GROUP`` and above, or 0."""
    if link.is_cut:
        return IS_CUT
    return IN_GROUP + link.group if link.group >= 0 else int(link.is_rule)


class KnownTopologies:
    """Cache of the topologies that are still in use, and of the last one requested, so that none is read twice.

    Reading a topology of ten thousand node templates takes a second. A new version of a topology replaces the former
    version.
    """

    def __init__(self) -> None:
        self._told: tuple[Blueprint, str] | None = None
        self._used: WeakValueDictionary[tuple[int, int], Topology] = WeakValueDictionary()
        self._last: Topology | None = None

    def find(self, deployment: int, version: int) -> Topology | None:
        """Return the cached topology of a deployment in this version, or None."""
        return self._used.get((deployment, version))

    def keep(self, deployment: int, version: int, topology: Topology) -> None:
        """Cache a topology as long as anything refers to it, but at least until the next one is cached."""
        self._used[deployment, version] = self._last = topology

    def forget(self) -> None:
        """Empty the cache, after a failed transaction: its last topology may not have been stored."""
        self._used.clear()
        self._last = None

    def text_of(self, blueprint: Blueprint) -> str:
        """Return the blueprint as JSON. The last text is cached, so repeated installs of a blueprint encode it once."""
        if self._told is not None and self._told[0] is blueprint:
            return self._told[1]
        text = blueprint_to_text(blueprint)
        self._told = (blueprint, text) if len(text) <= MOST_TEXT else None
        return text


def blueprint_to_text(blueprint: Blueprint) -> str:
    """Return the blueprint as JSON.

    The ``dsl`` package is imported only here, because it also imports the YAML reader.
    """
    from phaseline.dsl.documents.json_codec import blueprint_to_json

    return to_text(blueprint_to_json(blueprint))


def blueprint_from_text(text: str) -> Blueprint:
    """Return the blueprint that ``blueprint_to_text`` has converted to JSON. Deployments with equal texts share it."""
    return _shared(text) if len(text) <= MOST_SHARED_TEXT else _from_text(text)


def _from_text(text: str) -> Blueprint:
    from phaseline.dsl.documents.json_codec import blueprint_from_json

    return blueprint_from_json(json.loads(text))


_shared = lru_cache(maxsize=MOST_SHARED)(_from_text)


def _nodes_to_text(topology: Topology, blueprint: Blueprint) -> str:
    """Return as JSON: node names by number, nodes that differ from the blueprint's, and what only some topologies have."""
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
    """Return nodes to store beside the blueprint's: {number: a node that the blueprint no longer has}.

    Also {``CUT`` + number: a node with the relationships that an update removed from it}.
    """
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
    """Return (nodes, group instances, number of the group instance that contains each instance)."""
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
    """Return the modification that is under way, or None. Its module is imported only if one is."""
    if told is None:
        return None
    from phaseline.model.deployment import modification

    return modification.from_json(told)


def _flags(numbers: np.ndarray, count: int) -> np.ndarray:
    """Return a bool array of ``count`` values that is True at these numbers; an empty array if there are no numbers."""
    found = np.zeros(count if len(numbers) else 0, bool)
    found[numbers] = True
    return found


def _only(blueprint: Blueprint, nodes: dict[str, Node]) -> Blueprint:
    """Return the blueprint reduced to these nodes."""
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
