"""Actions that are forbidden for single nodes and instances until the restriction is lifted (source 2's restricted actions).

A node template sets restrictions (``restricted_actions``). A user can set them on a node or an instance of an existing deployment;
these are kept in ``Topology.restricted`` and replace those of the template, so they can lift them, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology

UPDATE, REPLACE, DELETE = RESTRICTABLE = ("update", "replace", "delete")
"""Change an existing resource; delete and re-create it; delete it."""
WORDS: Mapping[str, str] = {UPDATE: "updated", REPLACE: "replaced", DELETE: "taken away"}


def mending(word: str) -> str:
    """The fix for an action that is not one of ``RESTRICTABLE``.

    >>> mending("delet")
    "did you mean 'delete'? there are: update, replace, delete"
    """
    from phaseline.lang.did_you_mean import suggestion

    return f"{suggestion(word, RESTRICTABLE)}there are: {', '.join(RESTRICTABLE)}"


def restricted(topology: Topology, action: str) -> np.ndarray:
    """Instances for which the action is forbidden, bool by number: set on the instance, on its node, or in the blueprint."""
    said = topology.restricted
    nodes = [action in said.get(node.name, node.restricted_actions) for node in topology.nodes]
    found: np.ndarray = np.array(nodes, bool)[topology.node] & topology.is_there
    for name, actions in said.items():
        number = topology.number_of.get(name) if name not in topology.node_number else None
        if number is not None:
            found[number] = action in actions and topology.is_there[number]
    return found


def restricted_of(topology: Topology, number: int) -> Sequence[str]:
    """The actions that are forbidden for one instance."""
    node = topology.nodes[int(topology.node[number])]
    said = topology.restricted
    return said.get(topology.ids[number], said.get(node.name, node.restricted_actions))
