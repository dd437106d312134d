"""Decide which nodes of a deployment another blueprint keeps, replaces, removes and adds (W60, decision 18)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.groups import ScalingGroup
from phaseline.plan.topology.blueprint_diff import relationships_by_key

if TYPE_CHECKING:
    from collections.abc import Collection

    from phaseline.model.blueprint.blueprint import Blueprint, Node
    from phaseline.model.deployment.topology import Topology
    from phaseline.plan.topology.blueprint_diff import Alike

PAST = "\0"
"""First character of the names of removed groups. No name in YAML can contain it, so it never equals a real name."""


@frozen
class NodeDiff:
    """The decision for each node of both blueprints, by name.

    ``kept`` is {node: its number}, ``replaced`` {node: why it cannot be updated in place}, ``removed`` {node: its
    number}, which includes replaced nodes. ``added`` are the nodes of the new blueprint that get a new number, which
    includes replaced nodes, in the order of the blueprint. ``groups`` are the new blueprint's scaling groups: first
    those that keep their instances, in the order of the topology, then new ones. Removed groups keep their positions,
    renamed and without members.
    """

    kept: Mapping[str, int]
    replaced: Mapping[str, str]
    removed: Mapping[str, int]
    added: tuple[str, ...]
    groups: Mapping[str, ScalingGroup]

    @property
    def past(self) -> frozenset[int]:
        """Numbers of the nodes to remove."""
        return frozenset(self.removed.values())


def diff_nodes(topology: Topology, blueprint: Blueprint, alike: Alike) -> NodeDiff:
    """Return the decision for each node: kept, replaced, removed or added."""
    current = current_nodes(topology)
    groups, regrouped = _groups(topology, blueprint)
    kept: dict[str, int] = {}
    replaced: dict[str, str] = {}
    removed: dict[str, int] = {}
    for name, number in current.items():
        node = blueprint.nodes.get(name)
        if node is None:
            removed[name] = number
            continue
        why = regrouped.get(name) or _why_replaced(topology.nodes[number], node, alike)
        if why:
            replaced[name] = why
            removed[name] = number
        else:
            kept[name] = number
    added = tuple(name for name in blueprint.nodes if name not in kept)
    return NodeDiff(kept, replaced, removed, added, groups)


def current_nodes(topology: Topology) -> dict[str, int]:
    """Return {node of the present blueprint: its number}."""
    return {node.name: number for number, node in enumerate(topology.nodes) if number not in topology.past}


def groups_in_order(topology: Topology) -> dict[str, ScalingGroup]:
    """Return the scaling groups of the present blueprint, in the order in which their instances are numbered.

    Removed groups are included, without members.
    """
    return _groups(topology, topology.blueprint)[0]


def _why_replaced(old: Node, new: Node, alike: Alike) -> str:
    """Return why a node cannot be updated in place; empty if it can."""
    if old.type != new.type:
        return f"its type changes from {old.type} to {new.type}"
    if alike.relationships(old.relationships, new.relationships):
        return ""
    if old.container != new.container:
        return f"its container changes from {old.container or 'none'} to {new.container or 'none'}"
    before, after = relationships_by_key(old), relationships_by_key(new)
    for key, (_, one) in before.items():
        if key in after and one.properties != after[key][1].properties:
            return f"a property of its relationship {one.type.rpartition('.')[2]} to '{one.target}' changes"
    return ""


def _groups(topology: Topology, blueprint: Blueprint) -> tuple[dict[str, ScalingGroup], dict[str, str]]:
    """Return (scaling groups as in ``NodeDiff.groups``, {node to replace because its group changes: why})."""
    old, new = topology.blueprint.scaling_groups, blueprint.scaling_groups
    names = topology.groups.names or tuple(old)
    if not names and not new:
        return {}, {}
    changed = {name for name in (*old, *new) if _members(old, name) != _members(new, name)}
    for name in list(changed):  # a group nested in another group than before is another group
        changed |= _groups_in(name, old) | _groups_in(name, new)
    found: dict[str, ScalingGroup] = {}
    for place, name in enumerate(names):
        last = name not in names[place + 1 :]
        if last and name in new and name in old and name not in changed:
            found[name] = new[name]
        else:
            no_more = f"{PAST}group {place}"
            found[no_more] = ScalingGroup(no_more, (), default_instances=0)
    found.update((name, group) for name, group in new.items() if name not in found)
    why = {}
    for name in sorted(changed):
        for node in _nodes_of(name, old) | _nodes_of(name, new):
            why[node] = f"the scaling group '{name}' has other members"
    return found, why


def _members(groups: Mapping[str, ScalingGroup], name: str) -> frozenset[str] | None:
    return frozenset(groups[name].members) if name in groups else None


def _groups_in(name: str, groups: Mapping[str, ScalingGroup]) -> set[str]:
    """Return the scaling groups within a scaling group, at any depth."""
    found: set[str] = set()
    open_ = [name]
    while open_:
        group = groups.get(open_.pop())
        inside = [member for member in (group.members if group is not None else ()) if member in groups]
        open_ += [member for member in inside if member not in found]
        found.update(inside)
    return found


def _nodes_of(name: str, groups: Mapping[str, ScalingGroup], seen: Collection[str] = ()) -> set[str]:
    """Return the nodes within a scaling group, including those of groups in it."""
    if name not in groups or name in seen:
        return set()
    found: set[str] = set()
    for member in groups[name].members:
        found |= _nodes_of(member, groups, (*seen, name)) if member in groups else {member}
    return found
