"""Find the instances that have a role of a stage task (F19 in the Fuel document, source 4).

A role's name is looked up in this order, and the first match counts: a node of the blueprint; a node type, with its
derived types; the label ``role`` in a node's property ``labels``; a group. ``primary-X`` is the instance with the
lowest index among the instances of X.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.regex import compiled

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Node
    from phaseline.model.blueprint.groups import NodeGroup
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.packages.package import Roles

PRIMARY = "primary-"
LABELS, ROLE = "labels", "role"


class RoleMasks:
    """The instances of each role, bool by instance number. Each name is looked up only once."""

    def __init__(self, topology: Topology, split: frozenset[str] = frozenset()) -> None:
        """Remember the topology. ``split`` are the names whose instances do not include the primary instance."""
        self._topology = topology
        self._split = split
        self._masks: dict[str, np.ndarray] = {}
        self._names: frozenset[str] | None = None

    def of(self, roles: Roles) -> np.ndarray:
        """Return the existing instances with one of these roles, bool by number.

        A role that means the engine's own machine selects no instance.
        """
        topology = self._topology
        if roles.scope != "named":
            return topology.is_there.copy() if roles.scope == "all" else np.zeros(len(topology), bool)
        found = np.zeros(len(topology), bool)
        for name in self._named(roles):
            found |= self._mask(name)
        return found

    def _named(self, roles: Roles) -> Iterable[str]:
        """Return the names of the roles, and all known names at whose beginning a pattern of the roles matches."""
        yield from roles.names
        for text in roles.patterns:
            fits = compiled(text).matches
            yield from (name for name in sorted(self._known()) if fits(name))

    def _known(self) -> frozenset[str]:
        """Return every name that selects instances, including the ``primary-`` names."""
        if self._names is None:
            topology = self._topology
            present = [node for number, node in enumerate(topology.nodes) if number not in topology.past]
            names = {node.name for node in present} | {kind for node in present for kind in node.type_hierarchy}
            names |= {role for node in present for role in roles_of(node)} | set(topology.blueprint.groups)
            self._names = frozenset(names | {PRIMARY + name for name in names})
        return self._names

    def _mask(self, name: str) -> np.ndarray:
        found = self._masks.get(name)
        if found is None:
            found = self._meant(name)
            if not found.any() and name.startswith(PRIMARY):
                found = self._primary(self._meant(name.removeprefix(PRIMARY)))
            elif name in self._split:
                found = found & ~self._primary(found)
            self._masks[name] = found
        return found

    def _meant(self, name: str) -> np.ndarray:
        topology = self._topology
        if name in topology.node_number:
            return self._instances({name})
        by_type = {node.name for node in topology.nodes if name in node.type_hierarchy}
        by_label = {node.name for node in topology.nodes if name in roles_of(node)} if not by_type else set()
        return self._instances(by_type or by_label or members_of(topology.blueprint.groups, name))

    def _instances(self, nodes: Iterable[str]) -> np.ndarray:
        topology = self._topology
        wanted = set(nodes)
        by_node = np.array(
            [node.name in wanted and number not in topology.past for number, node in enumerate(topology.nodes)], bool
        )
        found: np.ndarray = by_node[topology.node] & topology.is_there
        return found

    def _primary(self, mask: np.ndarray) -> np.ndarray:
        """Return the instance with the lowest index among those in ``mask``; both bool by instance number.

        If several nodes have an instance with this index, the first node's instance is returned.
        """
        found = np.zeros(len(mask), bool)
        numbers = mask.nonzero()[0]
        if len(numbers):
            index = self._topology.index[numbers]
            found[numbers[index.argmin()]] = True
        return found


def roles_of(node: Node) -> tuple[str, ...]:
    """Return the roles that a node has by its label ``role``.

    >>> from phaseline.testing.builders import node
    >>> roles_of(node("web", properties={"labels": {"role": ["controller", "storage"]}}))
    ('controller', 'storage')
    """
    labels = node.properties.get(LABELS)
    said = labels.get(ROLE) if isinstance(labels, dict) else None
    values = said if isinstance(said, list) else [said]
    return tuple(value for value in values if isinstance(value, str))


def members_of(groups: Mapping[str, NodeGroup], name: str) -> set[str]:
    """Return the names of the nodes in a group, including those in the groups that it contains."""
    found: set[str] = set()
    waiting = [name] if name in groups else []
    while waiting:
        for member in groups[waiting.pop()].members:
            if member in groups and member not in found:
                waiting.append(member)
            found.add(member)
    return found
