"""What nobody may do with single nodes and instances, until that is lifted (source 2's restricted actions).

A node template says it (``restricted_actions``), or a person says it of a node or an instance of a deployment that is there; that lies in
``Topology.restricted`` and holds in place of what the template says, so that it lifts as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology

UPDATE, REPLACE, DELETE = RESTRICTABLE = ("update", "replace", "delete")
"""Changing what stands; taking it away and making it anew; taking it away."""
WORDS: Mapping[str, str] = {UPDATE: "updated", REPLACE: "replaced", DELETE: "taken away"}


def mending(word: str) -> str:
    """How to mend a word that is none of ``RESTRICTABLE``.

    >>> mending("delet")
    "Did you mean 'delete'? There are: update, replace, delete."
    """
    from difflib import get_close_matches

    near = get_close_matches(word, RESTRICTABLE, 1)
    return (f"Did you mean '{near[0]}'? " if near else "") + f"There are: {', '.join(RESTRICTABLE)}."


def restricted(topology: Topology, action: str) -> np.ndarray:
    """Instances with which the action is forbidden, bool by number: what is said of the instance, of its node, in the blueprint."""
    said = topology.restricted
    nodes = [action in said.get(node.name, node.restricted_actions) for node in topology.nodes]
    found: np.ndarray = np.array(nodes, bool)[topology.node] & topology.is_there
    for name, actions in said.items():
        number = topology.number_of.get(name) if name not in topology.node_number else None
        if number is not None:
            found[number] = action in actions and topology.is_there[number]
    return found


def restricted_of(topology: Topology, number: int) -> Sequence[str]:
    """What nobody may do with one instance."""
    node = topology.nodes[int(topology.node[number])]
    said = topology.restricted
    return said.get(topology.ids[number], said.get(node.name, node.restricted_actions))
