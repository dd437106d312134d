"""Compute what changes when a deployment gets another blueprint: its instances and its relationships (W60, N6, N7).

Nothing is stored and nothing runs. Instances, nodes and relationship instances keep their numbers. Removed nodes remain
in the topology as past nodes and removed relationships as cut links, so that past executions can still be shown.

Steps: ``diff_nodes`` decides about each node. Nodes of the new blueprint get their numbers, new nodes after the others.
Links are matched by their nodes and type. Then instances are added, removed and related as in any modification.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.blueprint.diff import BlueprintChange
from phaseline.plan.topology.blueprint_diff import Alike, node_changes, takes_one_of
from phaseline.plan.topology.containment_tree import Forest, plant
from phaseline.plan.topology.instance_counts import PLAIN, members_of, resize
from phaseline.plan.topology.modification import Modification, assembled
from phaseline.plan.topology.node_diff import PAST, NodeDiff, diff_nodes
from phaseline.plan.topology.relationship_rows import links_of

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Blueprint, Node
    from phaseline.model.blueprint.groups import ScalingGroup
    from phaseline.model.deployment.topology import Link, Topology

NO_INPUTS: frozenset[str] = frozenset()


@frozen
class Revision:
    """The change of a deployment to another blueprint.

    ``former`` is its topology until now. ``finished`` is its topology under the new blueprint, without the removed
    instances. ``fates`` is the decision about each node. ``added`` and ``removed`` are instance numbers, ascending.
    ``extended``, ``reduced`` and ``retied`` are numbers of relationships between staying instances: new ones, removed
    ones, and those whose operations changed. ``changed`` is {kept node: its changes}.
    """

    former: Topology
    finished: Topology
    fates: NodeDiff
    added: np.ndarray
    removed: np.ndarray
    extended: np.ndarray
    reduced: np.ndarray
    changed: Mapping[str, tuple[BlueprintChange, ...]]
    retied: np.ndarray

    @property
    def drifted(self) -> np.ndarray:
        """Numbers of the staying instances of nodes with a changed property or operation, ascending (W61)."""
        own = [name for name, changes in self.changed.items() if any(map(is_own, changes))]
        numbers = [self.fates.kept[name] for name in own]
        found = np.isin(self.finished.node, numbers) & self.finished.is_there
        found[self.added] = False
        chosen: np.ndarray = found.nonzero()[0].astype(np.int32)
        return chosen


def is_own(change: BlueprintChange) -> bool:
    """Return True if a change is in the node itself: its properties or operations, not its relationships or counts."""
    return change.what in {"property", "operation"} and ".relationships." not in change.path


def revise(
    topology: Topology,
    blueprint: Blueprint,
    *,
    suffixes: int,
    changed_inputs: frozenset[str] = NO_INPUTS,
    wanted: Mapping[str, int] | None = None,
    yes_many: bool = False,
) -> Revision:
    """Return the revision of a deployment to the blueprint, whose inputs must be evaluated.

    ``suffixes`` is the seed of new ids. ``changed_inputs`` are names of inputs; nodes with a property that uses one of
    them when it is evaluated later count as changed. A count that the blueprint changes replaces the present count;
    otherwise the present count stays, even if the node was scaled. ``wanted`` is {node or group: instances}; if it is
    given, it replaces the present counts.

    Raises: ``ProblemsError`` with PL-N001, PL-N005, PL-N006, PL-N007, PL-P002.
    """
    alike = Alike()
    found = diff_nodes(topology, blueprint, alike)
    nodes = _nodes(topology, blueprint, found)
    counts, each, asked = _counts(topology, nodes, found, wanted)
    past = topology.past | found.past
    forest = plant(nodes, found.groups, each, past)
    links = _links(topology, nodes, forest, past, alike)
    base = altered(
        topology,
        blueprint=blueprint,
        nodes=nodes,
        links=links.links,
        groups=altered(topology.groups, names=tuple(found.groups)) if found.groups else topology.groups,
        past=past,
        counts=counts,
        started=None,
    )
    members = members_of(base, len(nodes))
    lost = np.array([at in past for at in range(len(nodes))] + [name.startswith(PAST) for name in found.groups], bool)
    doomed = members.is_alive & lost[members.entity] if len(members) else members.is_alive
    living = altered(members, is_alive=members.is_alive & ~doomed)
    resized = resize(living, forest, asked, np.full(len(members), PLAIN, np.int64))
    resized = altered(resized, goes=resized.goes | doomed)
    new_links = links.fresh | links.rows
    made = assembled(base, forest, members, resized, suffixes, counts, yes_many=yes_many, new_links=new_links)
    changed = _changed(topology, blueprint, found, changed_inputs, alike)
    return _revision(topology, made, found, changed, links)


def _revision(
    topology: Topology,
    made: Modification,
    found: NodeDiff,
    changed: Mapping[str, tuple[BlueprintChange, ...]],
    links: _Links,
) -> Revision:
    finished, removed = made.finished, made.removed.changed
    extended, rows = made.extended.rows, len(topology.link)
    stays = topology.is_there.copy()
    stays[removed] = False
    is_between = stays[topology.source] & stays[topology.target] if rows else np.empty(0, bool)
    return Revision(
        former=topology,
        finished=finished,
        fates=found,
        added=made.added.changed,
        removed=removed,
        extended=extended[~links.rows[finished.link[extended]]] if len(extended) else extended,
        reduced=(is_between & links.cut[topology.link]).nonzero()[0].astype(np.int32) if rows else extended,
        changed=changed,
        retied=(is_between & links.retied[topology.link]).nonzero()[0].astype(np.int32) if rows else extended,
    )


def _nodes(topology: Topology, blueprint: Blueprint, found: NodeDiff) -> tuple[Node, ...]:
    """Return the present nodes with their new templates, then the added nodes in the order of the blueprint."""
    nodes = list(topology.nodes)
    for name, number in found.kept.items():
        nodes[number] = blueprint.nodes[name]
    return (*nodes, *(blueprint.nodes[name] for name in found.added))


def _counts(
    topology: Topology, nodes: Sequence[Node], found: NodeDiff, wanted: Mapping[str, int] | None
) -> tuple[dict[str, int], list[int], np.ndarray]:
    """Return (counts that differ from the blueprint's, counts of all entities, requested counts).

    A count is the number of instances in every instance of the parent. A requested count is -1 if the present one
    stays.
    """
    old_groups, past = topology.blueprint.scaling_groups, topology.past | found.past
    old_end = len(nodes) + len(topology.groups.names or old_groups)
    each: list[int] = []
    asked: list[int] = []
    counts: dict[str, int] = {}
    entities: list[Node | ScalingGroup] = [*nodes, *found.groups.values()]
    for at, one in enumerate(entities):
        former: Node | ScalingGroup | None = None
        if at < len(topology.nodes):
            former = topology.nodes[at]
        elif len(nodes) <= at < old_end:
            former = old_groups.get(one.name)
        declared = one.default_instances
        assert isinstance(declared, int), "counts are numbers once inputs are evaluated"
        if at in past or one.name.startswith(PAST):
            each.append(0)
            asked.append(0)
        elif wanted is not None and (former is not None or one.name in wanted):
            each.append(wanted.get(one.name, declared))
            asked.append(each[-1])
            if each[-1] != declared:
                counts[one.name] = each[-1]
        elif former is None:
            each.append(declared)
            asked.append(declared)
        else:
            said = former.default_instances
            assert isinstance(said, int), "counts are numbers in a deployment"
            in_force = topology.counts.get(one.name, said)
            each.append(in_force if declared == said else declared)
            asked.append(-1 if declared == said else declared)
            if each[-1] != declared:
                counts[one.name] = each[-1]
    return counts, each, np.array(asked, np.int64)


@frozen
class _Links:
    """The links of the new topology, present ones first, with columns of bool by link.

    ``cut`` marks links that the revision removes, ``fresh`` new ones, ``rows`` those that get rows and had none so far,
    and ``retied`` those whose operations differ.
    """

    links: tuple[Link, ...]
    cut: np.ndarray
    fresh: np.ndarray
    rows: np.ndarray
    retied: np.ndarray


def _links(topology: Topology, nodes: Sequence[Node], forest: Forest, past: frozenset[int], alike: Alike) -> _Links:
    """Match the links of both blueprints.

    Two links match if they have equal nodes, an equal type, and equally many earlier links with these nodes and type.
    """
    said = _numbered(links_of(nodes, forest, past))
    before = _numbered(link for link in topology.links if not (link.is_cut or link.source in past))
    keys = {id(link): key for key, link in before.items()}
    cut_before = Counter(link.source for link in topology.links if link.is_cut)
    links: list[Link] = []
    flags: list[tuple[bool, bool, bool, bool]] = []
    for link in topology.links:
        again = said.pop(keys[id(link)], None) if id(link) in keys else None
        if again is not None:
            links.append(altered(again, is_rule=False) if again.is_rule and not link.is_rule else again)
            flags.append((False, False, link.is_rule and not again.is_rule, _is_retied(link, again, alike)))
        elif id(link) in keys:
            links.append(altered(link, is_cut=True, is_rule=False, place=cut_before[link.source]))
            cut_before[link.source] += 1
            flags.append((True, False, False, False))
        else:
            links.append(link)
            flags.append((False, False, False, False))
    flags += [(False, True, False, False)] * len(said)
    columns = np.array(flags, bool).reshape(-1, 4).T
    return _Links((*links, *said.values()), *columns)


def _numbered(links: Iterable[Link]) -> dict[tuple[int, int, str, int], Link]:
    found: dict[tuple[int, int, str, int], Link] = {}
    for link in links:
        before = 0
        while (link.source, link.target, link.relationship.type, before) in found:
            before += 1
        found[link.source, link.target, link.relationship.type, before] = link
    return found


def _is_retied(old: Link, new: Link, alike: Alike) -> bool:
    one, other = old.relationship, new.relationship
    return not (
        alike.tables(one.source_operations, other.source_operations)
        and alike.tables(one.target_operations, other.target_operations)
    )


def _changed(
    topology: Topology, blueprint: Blueprint, found: NodeDiff, inputs: frozenset[str], alike: Alike
) -> dict[str, tuple[BlueprintChange, ...]]:
    """Return the changes of each kept node. A property that uses a changed input counts as changed, too."""
    changed: dict[str, tuple[BlueprintChange, ...]] = {}
    for name, number in found.kept.items():
        old, new = topology.nodes[number], blueprint.nodes[name]
        changes = node_changes(old, new, alike)
        if inputs and new.has_functions:
            told = {change.path for change in changes}
            changes += tuple(
                BlueprintChange("changed", "property", path, value, value)
                for key, value in new.properties.items()
                if (path := f"nodes.{name}.properties.{key}") not in told and takes_one_of(value, inputs)
            )
        if changes:
            changed[name] = changes
    return changed
