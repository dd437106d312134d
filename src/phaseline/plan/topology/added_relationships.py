"""Connect added instances: append relationship rows to the existing ones (N2, N6).

A row is one relationship instance, a pair of a source and a target instance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.problems.problem import Problem, ProblemsError, problem_error
from phaseline.plan.topology.relationship_rows import MAX_CALLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.deployment.topology import Link, Topology

NOBODY = np.empty(0, np.int64)


def tie(topology: Topology, is_new: np.ndarray, *, yes_many: bool, new_links: np.ndarray | None = None) -> Topology:
    """Return the topology with relationship rows for its new instances (``is_new``, bool by number).

    ``new_links`` marks links without rows so far, bool by link; all instances at their ends get rows.

    Raises: PL-N007 (several targets of an all_to_one are in use), PL-P002 (more than a million rows).
    """
    links = topology.links
    if not links:
        return topology
    kinds = _Kinds.of(links)
    made = [_containments(topology, kinds, is_new), _ones(topology, kinds, is_new)]
    fresh = np.zeros(len(links), bool) if new_links is None else new_links
    made += _pairs(topology, kinds, is_new, fresh, yes_many=yes_many)
    link, source, target = (np.concatenate(columns) for columns in zip(*made, strict=True))
    order = np.lexsort((target, source, link))
    return altered(
        topology,
        link=np.concatenate((topology.link, link[order])).astype(np.int32),
        source=np.concatenate((topology.source, source[order])).astype(np.int32),
        target=np.concatenate((topology.target, target[order])).astype(np.int32),
    )


Columns = tuple[np.ndarray, np.ndarray, np.ndarray]
"""(link, source, target) of new relationship rows, as three columns."""


@frozen
class _Kinds:
    """The links of a topology, as columns indexed by link.

    ``source`` and ``target`` are node numbers. ``group`` is the number of the scaling group within whose instances an
    all_to_all relationship stays, -1 for none. Three bool columns mark the kind of relationship: ``contains``
    containment, ``one`` all_to_one, ``pairs`` all_to_all that needs rows.
    """

    source: np.ndarray
    target: np.ndarray
    group: np.ndarray
    contains: np.ndarray
    one: np.ndarray
    pairs: np.ndarray

    @classmethod
    def of(cls, links: Sequence[Link]) -> _Kinds:
        """Return the columns of these links."""
        cut = np.array([link.is_cut for link in links])
        contains = np.array([link.relationship.is_containment for link in links]) & ~cut
        everyone = np.array([link.relationship.ties_all for link in links]) | cut
        rule = np.array([link.is_rule for link in links]) | cut
        return cls(
            source=np.array([link.source for link in links], np.int64),
            target=np.array([link.target for link in links], np.int64),
            group=np.array([link.group for link in links], np.int64),
            contains=contains,
            one=~contains & ~everyone,
            pairs=everyone & ~rule,
        )


def _containments(topology: Topology, kinds: _Kinds, is_new: np.ndarray) -> Columns:
    """Return the rows from new instances to their containers."""
    link_of = np.full(len(topology.nodes), -1, np.int64)
    inside = kinds.contains.nonzero()[0]
    link_of[kinds.source[inside]] = inside
    source = (is_new & (topology.container >= 0)).nonzero()[0]
    link = link_of[topology.node[source]]
    return link, source, topology.container[source].astype(np.int64)


def _ones(topology: Topology, kinds: _Kinds, is_new: np.ndarray) -> Columns:
    """Return the rows of all_to_one relationships: from each new source to the target that already has sources (N2).

    If no target has one, each source is connected to the target instance with the smallest index.
    """
    there = topology.is_there
    first = _first_of_nodes(topology, there)
    in_use = (
        kinds.one[topology.link] & there[topology.source] & there[topology.target] if len(topology.link) else NOBODY
    )
    rows = in_use.nonzero()[0]
    lowest = np.full(len(topology.links), len(topology), np.int64)
    highest = np.full(len(topology.links), -1, np.int64)
    np.minimum.at(lowest, topology.link[rows], topology.target[rows])
    np.maximum.at(highest, topology.link[rows], topology.target[rows])
    several = ((highest >= 0) & (lowest != highest)).nonzero()[0]
    if len(several):
        raise ProblemsError(_several_targets(topology, number) for number in several.tolist())
    aim = np.where(highest >= 0, highest, first[kinds.target])
    has_new = np.zeros(len(topology.nodes), bool)
    has_new[topology.node[is_new]] = True
    lost = kinds.one & (highest < 0)  # no target in use: all sources, not the new ones alone
    links = (kinds.one & (aim >= 0) & (has_new[kinds.source] | lost)).nonzero()[0]
    link, source = _of_nodes(topology, links, kinds.source[links])
    chosen = is_new[source] | lost[link]
    link, source = link[chosen], source[chosen]
    return link, source, aim[link]


def _pairs(
    topology: Topology, kinds: _Kinds, is_new: np.ndarray, new_links: np.ndarray, *, yes_many: bool
) -> list[Columns]:
    """Return the rows of all_to_all relationships that are stored as pairs, each within one group instance.

    New sources are connected to all targets, and old sources to new targets. All sources of a new link are new.
    """
    has_new = np.zeros(len(topology.nodes), bool)
    has_new[topology.node[is_new]] = True
    links = (kinds.pairs & (has_new[kinds.source] | has_new[kinds.target] | new_links)).nonzero()[0]
    if not len(links):
        return []
    sources = _Ends.of(topology, kinds, links, kinds.source[links])
    targets = _Ends.of(topology, kinds, links, kinds.target[links])
    first = is_new[sources.instance] | new_links[sources.link]
    passes = (
        (sources.only(first), targets),
        (sources.only(~first), targets.only(is_new[targets.instance])),
    )
    total = sum(_count(*ends) for ends in passes)
    if total > MAX_CALLS and not yes_many:
        message = f"the modification would make {total:,} relationships between instances"
        mend = (
            "set the relationship's property connection_type to all_to_one, or give --yes-many if every pair is needed"
        )
        raise problem_error("PL-P002", message, mend)
    return [_crossed(*ends) for ends in passes]


@frozen
class _Ends:
    """The instances at one end of some links, as columns.

    ``block`` is the group instance within which ``instance`` is related to others; -1 for none.
    """

    link: np.ndarray
    instance: np.ndarray
    block: np.ndarray

    @classmethod
    def of(cls, topology: Topology, kinds: _Kinds, links: np.ndarray, nodes: np.ndarray) -> _Ends:
        """Return all existing instances of the node at this end of each link."""
        link, instance = _of_nodes(topology, links, nodes)
        return cls(link, instance, _blocks(topology, instance, kinds.group[link]))

    def only(self, chosen: np.ndarray) -> _Ends:
        """Return only the chosen ends."""
        return _Ends(self.link[chosen], self.instance[chosen], self.block[chosen])

    def key(self, blocks: int) -> np.ndarray:
        """Return a key for each end. Instances at the two ends of a link are related if their keys are equal.

        ``blocks`` is a number greater than every ``block`` at both ends.
        """
        found: np.ndarray = self.link * (blocks + 1) + self.block + 1
        return found


def _keys(sources: _Ends, targets: _Ends) -> tuple[np.ndarray, np.ndarray]:
    blocks = max(int(sources.block.max(initial=-1)), int(targets.block.max(initial=-1))) + 1
    return sources.key(blocks), targets.key(blocks)


def _count(sources: _Ends, targets: _Ends) -> int:
    """Return the number of pairs of related instances."""
    own, other = _keys(sources, targets)
    other = np.sort(other)
    return int((np.searchsorted(other, own, "right") - np.searchsorted(other, own, "left")).sum())


def _crossed(sources: _Ends, targets: _Ends) -> Columns:
    """Return the rows that connect every source with all targets that have an equal key."""
    own, other = _keys(sources, targets)
    order = np.argsort(other, kind="stable")
    ranked = other[order]
    begin = np.searchsorted(ranked, own, "left")
    lengths = np.searchsorted(ranked, own, "right") - begin
    at = np.arange(lengths.sum()) + np.repeat(begin - (np.cumsum(lengths) - lengths), lengths)
    who = np.repeat(np.arange(len(own)), lengths)
    return sources.link[who], sources.instance[who], targets.instance[order[at]]


def _blocks(topology: Topology, instance: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return, for each instance, the number of the group instance in which it is, directly or not; -1 for none.

    ``group`` has, for each instance, the number of the scaling group whose instance is wanted, -1 for no group.
    """
    found = np.full(len(instance), -1, np.int64)
    if not len(topology.group):
        return found
    groups = topology.groups
    open_ = (group >= 0).nonzero()[0]
    at = topology.group[instance[open_]].astype(np.int64)
    holder = instance[open_].astype(np.int64)
    while len(open_):
        lies = at >= 0
        hit = lies & (groups.group[at] == group[open_]) if len(groups) else lies
        found[open_[hit]] = at[hit]
        upwards = np.where(lies, groups.outer[at], -1) if len(groups) else at
        leaves = upwards < 0  # past the outermost group: continue in the container
        holder = np.where(leaves, topology.container[holder], holder)
        upwards = np.where(leaves & (holder >= 0), topology.group[holder], upwards)
        goes_on = ~hit & ((upwards >= 0) | (holder >= 0))
        open_, at, holder = open_[goes_on], upwards[goes_on].astype(np.int64), holder[goes_on]
    return found


def _of_nodes(topology: Topology, links: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (link, instance) for every link and every existing instance of its node in ``nodes``."""
    order, start = topology.by_node
    lengths = start[nodes + 1] - start[nodes]
    at = np.arange(lengths.sum()) + np.repeat(start[nodes] - (np.cumsum(lengths) - lengths), lengths)
    return np.repeat(links, lengths), order[at].astype(np.int64)


def _first_of_nodes(topology: Topology, there: np.ndarray) -> np.ndarray:
    """Return, for each node, the number of its existing instance with the smallest index; -1 for none."""
    found = np.full(len(topology.nodes), -1, np.int64)
    alive = there.nonzero()[0]
    order = alive[np.lexsort((-topology.index[alive], topology.node[alive]))]
    found[topology.node[order]] = order  # the last one written is the one with the smallest index
    return found


def _several_targets(topology: Topology, number: int) -> Problem:
    link = topology.links[number]
    source, target = topology.nodes[link.source], topology.nodes[link.target]
    return Problem(
        "PL-N007",
        f"instances of '{source.name}' are connected to several instances of '{target.name}', though all_to_one",
        "uninstall and install the deployment, or make the relationship all_to_all",
        source.place,
        cloudify_class="IllegalAllToOneState",
    )
