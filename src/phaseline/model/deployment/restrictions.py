"""Restricted actions: actions that are forbidden for nodes or instances until a user permits them (as in the Heat document).

A node template sets restrictions (``restricted_actions``). A user can set them on a node or an instance of an existing
deployment; ``Topology.restricted`` keeps these. They replace those of the template, so a user can also remove the
latter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology

UPDATE, REPLACE, DELETE = RESTRICTABLE = ("update", "replace", "delete")
"""The actions that can be restricted: change a resource, delete and re-create it, delete it."""
WORDS: Mapping[str, str] = {UPDATE: "updated", REPLACE: "replaced", DELETE: "taken away"}


def mending(word: str) -> str:
    """Return a text that explains how to correct the name of an action that is not one of ``RESTRICTABLE``.

    >>> mending("delet")
    "did you mean 'delete'? there are: update, replace, delete"
    """
    from phaseline.lang.did_you_mean import suggestion

    return f"{suggestion(word, RESTRICTABLE)}there are: {', '.join(RESTRICTABLE)}"


def restricted(topology: Topology, action: str) -> np.ndarray:
    """Return a bool array by instance number: True if the action is forbidden for the instance, its node, or by the blueprint."""
    said = topology.restricted
    nodes = [action in said.get(node.name, node.restricted_actions) for node in topology.nodes]
    found: np.ndarray = np.array(nodes, bool)[topology.node] & topology.is_there
    for name, actions in said.items():
        number = topology.number_of.get(name) if name not in topology.node_number else None
        if number is not None:
            found[number] = action in actions and topology.is_there[number]
    return found


def restricted_of(topology: Topology, number: int) -> Sequence[str]:
    """Return the actions that are forbidden for one instance."""
    node = topology.nodes[int(topology.node[number])]
    said = topology.restricted
    return said.get(topology.ids[number], said.get(node.name, node.restricted_actions))
