"""Make entries for relationship operations: group after group, and side by side within a group (W6).

A group holds the relationships of an instance that are neighbours in the blueprint and have the same target node.
Operations of the source's and of the target's side run at the same time.
"""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import some
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import Mark
from phaseline.plan.graph.call_policies import PolicyOverrides
from phaseline.plan.graph.draft import GraphDraft, StepSlot

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.plan.graph.call_policies import Policies
    from phaseline.plan.graph.lifecycle_sequence import Relate


def relationship_slots(
    draft: GraphDraft, relate: Relate, who: np.ndarray, *, tolerant: bool, once: bool, first: int
) -> list[StepSlot]:
    """Return slots that call the operation on the relationship instances ``who`` (bool by relationship number).

    ``first`` is the group number of the slots for the first relationship group of each instance; the slots for the second
    group get the next number, and so on.
    """
    if not some(who):
        return []
    sides = _sides(draft.topology, relate.operation, draft.policies, PolicyOverrides(once=once))
    if max(sides[0].max(initial=-1), sides[1].max(initial=-1)) < 0:
        return []
    rank = _ranks(draft.topology, relate, (sides[0] >= 0) | (sides[1] >= 0))
    rows = np.flatnonzero(who & (rank[draft.topology.link] >= 0) & draft.topology.is_tied).astype(np.int32)
    owner = draft.participants.place[draft.topology.source[rows]]
    ranks = rank[draft.topology.link[rows]]
    order = np.lexsort((owner, ranks))
    rows, owner, ranks = rows[order], owner[order], ranks[order]
    bounds = [0, *((ranks[1:] != ranks[:-1]).nonzero()[0] + 1).tolist(), len(ranks)] if len(ranks) else []
    slots: list[StepSlot] = []
    for group, (begin, end) in enumerate(pairwise(bounds)):
        for kind, policies in zip((SubjectKind.SOURCE, SubjectKind.TARGET), sides, strict=True):
            policy = policies[draft.topology.link[rows[begin:end]]]
            is_called = policy >= 0
            if some(is_called):
                members = (owner[begin:end][is_called], rows[begin:end][is_called], policy[is_called])
                marks = Mark.TOLERANT if tolerant else 0
                slots.append(StepSlot(relate.operation, kind, *members, marks=marks, group=first + group))
    return slots


def _sides(topology: Topology, name: str, policies: Policies, manner: PolicyOverrides) -> tuple[np.ndarray, np.ndarray]:
    """Return the policy numbers of the source's and of the target's operation, by link; -1 without an operation."""
    number_of = policies.numbering(manner)
    source, target = np.full(len(topology.links), -1, np.int32), np.full(len(topology.links), -1, np.int32)
    for number, link in enumerate(topology.links):
        if link.is_cut:
            continue
        operation = link.relationship.source_operations.get(name)
        if operation is not None and operation.is_implemented:
            source[number] = number_of(operation)
        operation = link.relationship.target_operations.get(name)
        if operation is not None and operation.is_implemented:
            target[number] = number_of(operation)
    return source, target


def _ranks(topology: Topology, relate: Relate, is_called: np.ndarray) -> np.ndarray:
    """Return, for each link, the rank of its group among the groups of its source node, from 0; -1 if it calls nothing.

    Relationships that are neighbours in the blueprint and have the same target are one group.
    """
    ranks = np.full(len(topology.links), -1, np.int32)
    numbered = sorted(np.flatnonzero(is_called).tolist(), key=lambda number: _template_place(topology, number))
    follows = _follows(topology)
    for _, links in groupby(numbered, key=lambda number: topology.links[number].source):
        rank = -1
        former = -1
        chosen = list(links)
        for number in chosen:
            if former < 0 or follows[number] != follows[former]:
                rank += 1
            ranks[number] = rank
            former = number
        if relate.reverse:
            ranks[chosen] = rank - ranks[chosen]
    return ranks


def _template_place(topology: Topology, number: int) -> tuple[int, int]:
    link = topology.links[number]
    return link.source, link.place


def _follows(topology: Topology) -> list[int]:
    """Return, for each link, the first link of its group: neighbours in the blueprint with equal source and target."""
    found = [0] * len(topology.links)
    former = -1
    for number in sorted(range(len(topology.links)), key=lambda number: _template_place(topology, number)):
        link = topology.links[number]
        same = former >= 0 and (topology.links[former].source, topology.links[former].target) == (
            link.source,
            link.target,
        )
        found[number] = found[former] if same else number
        former = number
    return found
