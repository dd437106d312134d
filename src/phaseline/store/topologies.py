"""A blueprint, its evaluated nodes and a topology as the values of two rows, and back.

A topology is eleven columns of one row: 100,000 instances are read in a few milliseconds, as rows of their own they
would take a hundred. Of the nodes only those are stored again whose properties evaluation has changed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from phaseline.model.blueprint import Blueprint, Node
from phaseline.model.frozen import altered
from phaseline.model.topology import Link, Topology
from phaseline.store.columns import decode, encode
from phaseline.store.documents import to_text

COLUMNS = ("nodes", "ids", "node", "ordinal", "container", "host", "links", "link", "source", "target")
"""Columns of the topology table that ``to_row`` fills and ``from_row`` reads, in this order."""
SEPARATOR = "\0"
"""Between ids; the one character that no YAML name can contain."""


def to_row(topology: Topology, blueprint: Blueprint) -> tuple[str | bytes, ...]:
    """Values of ``COLUMNS``; ``blueprint`` is stored beside it."""
    links = np.array([(link.source, link.place, link.target, link.is_rule) for link in topology.links], np.int32)
    arrays = (topology.node, topology.index, topology.container, topology.host)
    rows = (topology.link, topology.source, topology.target)
    return (
        _nodes_to_text(topology.nodes, blueprint),
        SEPARATOR.join(topology.ids).encode(),
        *(encode(array) for array in arrays),
        encode(links.ravel()),
        *(encode(array) for array in rows),
    )


def from_row(row: Sequence[Any], blueprint: Blueprint) -> Topology:
    """The topology stored in the values of ``COLUMNS`` beside ``blueprint``."""
    nodes = _nodes_from_text(row[0], blueprint)
    ids = row[1].decode().split(SEPARATOR) if row[1] else []
    node, index, container, host, links, link, source, target = (decode(part) for part in row[2:])
    return Topology(
        blueprint=blueprint,
        nodes=nodes,
        ids=ids,
        node=node,
        index=index,
        container=container,
        host=host,
        links=tuple(
            Link(at, place, to, nodes[at].relationships[place], bool(is_rule))
            for at, place, to, is_rule in links.reshape(-1, 4).tolist()
        ),
        link=link,
        source=source,
        target=target,
    )


class KnownTopologies:
    """Topologies that somebody still uses, and the last one asked for: what was read or written is not read again.

    A stored topology and its blueprint never change. Ten thousand templates take a second to read.
    """

    def __init__(self) -> None:
        """Knows none."""
        self._used: WeakValueDictionary[int, Topology] = WeakValueDictionary()
        self._last: Topology | None = None

    def find(self, deployment: int) -> Topology | None:
        """The topology of a deployment, if it is at hand."""
        return self._used.get(deployment)

    def keep(self, deployment: int, topology: Topology) -> None:
        """Have it at hand for as long as somebody uses it, at least until the next."""
        self._used[deployment] = self._last = topology


def blueprint_to_text(blueprint: Blueprint) -> str:
    """The blueprint as JSON. The dsl is imported only where a blueprint is needed: it brings the YAML reader along."""
    from phaseline.dsl.dump import blueprint_to_json

    return to_text(blueprint_to_json(blueprint))


def blueprint_from_text(text: str) -> Blueprint:
    """The blueprint of ``blueprint_to_text``."""
    from phaseline.dsl.dump import blueprint_from_json

    return blueprint_from_json(json.loads(text))


def _nodes_to_text(nodes: Sequence[Node], blueprint: Blueprint) -> str:
    """Names in the order of their numbers, and the nodes that differ from the blueprint's."""
    told = blueprint.nodes
    changed = {node.name: node for node in nodes if (known := told.get(node.name)) is not node and known != node}
    evaluated = blueprint_to_text(_only(blueprint, changed)) if changed else ""
    return to_text({"names": [node.name for node in nodes], "evaluated": evaluated})


def _nodes_from_text(text: str, blueprint: Blueprint) -> tuple[Node, ...]:
    stored = json.loads(text)
    evaluated = blueprint_from_text(stored["evaluated"]).nodes if stored["evaluated"] else {}
    told = blueprint.nodes
    return tuple(evaluated.get(name) or told[name] for name in stored["names"])


def _only(blueprint: Blueprint, nodes: dict[str, Node]) -> Blueprint:
    """A blueprint that says nothing but these nodes."""
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
    )
