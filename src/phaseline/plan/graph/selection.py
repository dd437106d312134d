"""Select the instances that match the three filters of a request: types, nodes and instance ids (spec 7.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request

TYPE_NAMES = "type_names"
NODE_IDS = "node_ids"
NODE_INSTANCE_IDS = "node_instance_ids"
FILTERS = (TYPE_NAMES, NODE_IDS, NODE_INSTANCE_IDS)


def choose(topology: Topology, request: Request) -> np.ndarray:
    """Return the existing instances that match all filters, bool indexed by instance number.

    An empty filter matches all. A type filter matches any type of the node's hierarchy. Unknown names match no
    instance.
    """
    chosen = topology.is_there.copy()
    types, nodes, ids = (set(names(request, which)) for which in FILTERS)
    if types or nodes:
        by_node = [
            (not nodes or node.name in nodes) and (not types or not types.isdisjoint(node.type_hierarchy))
            for node in topology.nodes
        ]
        chosen &= np.array(by_node, bool)[topology.node]
    if ids:
        named = np.zeros(len(topology), bool)
        named[[topology.number_of[text] for text in ids if text in topology.number_of]] = True
        chosen &= named
    return chosen


def names(request: Request, which: str) -> list[str]:
    """Return the names in the filter ``which``; a single text counts as a list of one name."""
    value = request.parameters.get(which)
    if isinstance(value, str):
        return [value]
    return [str(name) for name in value] if isinstance(value, list) else []
