"""Make instances wait for related instances: sources for targets in an install, targets for sources in an uninstall.

If all instances of two nodes are related, the instances of one node wait for a milestone of the other node, which
saves edges. If one of the nodes has a single instance, they wait for each other's entries directly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import Mark
from phaseline.plan.graph.draft import MILESTONE, GraphDraft, StepSlot
from phaseline.plan.graph.operation_names import LIFECYCLE

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Link

Pairs = tuple[np.ndarray, np.ndarray]
WHOLE = ""
"""Name that means the end of the whole sequence, used in place of the name of an operation to wait for."""


def wait_for_targets(draft: GraphDraft) -> GraphDraft:
    """Return the draft in which each participant waits for the targets of its relationships.

    It waits for the end of a target's sequence, or for one operation of the target if the relationship names one.
    """
    return _wait(draft, downwards=False)


def wait_for_sources(draft: GraphDraft) -> GraphDraft:
    """Return the draft in which each participant waits for all instances with a relationship to it."""
    return _wait(draft, downwards=True)


def _wait(draft: GraphDraft, *, downwards: bool) -> GraphDraft:
    links = draft.topology.links
    if not links:
        return draft
    awaited = [WHOLE if downwards else _operation(link) for link in links]
    ends = {name: _ends(draft, name) for name in sorted(set(awaited))}
    rows = _row_pairs(draft, awaited, ends, downwards=downwards)
    slot, pairs = _node_pairs(draft, awaited, ends, downwards=downwards)
    return altered(draft, items=draft.items + slot, edges=(*draft.edges, *rows, *pairs))


def _operation(link: Link) -> str:
    """Return the full name of the target's operation that a source waits for.

    It is ``WHOLE`` if the source waits for the end of the target's sequence.
    """
    name = link.relationship.lifecycle_operation
    if name is None:
        return WHOLE
    return name if "." in name else f"{LIFECYCLE}.{name}"


def _ends(draft: GraphDraft, operation: str) -> np.ndarray:
    """Return, for each participant place, the entry that dependents wait for.

    This is the entry of the operation, or the participant's last entry if it does not call the operation (W22).
    """
    if operation == WHOLE:
        return draft.tail
    ends = draft.tail.copy()
    position = 0
    for slot in draft.slots:
        if slot.phase == operation and slot.kind is SubjectKind.INSTANCE:
            ends[slot.owner] = np.arange(position, position + len(slot), dtype=np.int32)
        position += len(slot)
    return ends


def _row_pairs(draft: GraphDraft, awaited: list[str], ends: dict[str, np.ndarray], *, downwards: bool) -> list[Pairs]:
    """Return edges for relationships that are stored as pairs of instances, which excludes those of all to all."""
    topology, place = draft.topology, draft.participants.place
    rows = topology.has_rows[topology.link]
    source, target, link = place[topology.source[rows]], place[topology.target[rows]], topology.link[rows]
    here = (source >= 0) & (target >= 0)
    source, target, link = source[here], target[here], link[here]
    if downwards:
        return [(draft.tail[source], draft.head[target])]
    found: list[Pairs] = []
    names = list(ends)
    which = np.array([names.index(name) for name in awaited], np.int32)[link]
    for number, name in enumerate(names):
        mine = which == number
        found.append((ends[name][target[mine]], draft.head[source[mine]]))
    return found


@frozen
class _Ties:
    """Pairs of nodes whose instances are all related, as columns of node numbers.

    All instances of ``then`` wait for all instances of ``before``. ``end`` is the number of the operation of ``before``
    for whose end they wait.
    """

    before: np.ndarray
    then: np.ndarray
    end: np.ndarray


def _node_pairs(
    draft: GraphDraft, awaited: list[str], ends: dict[str, np.ndarray], *, downwards: bool
) -> tuple[tuple[StepSlot, ...], list[Pairs]]:
    """Return (milestones, edges) for the relationships that connect all instances of two nodes.

    The milestones are the entries of one ``StepSlot``; the first tuple is empty if there are none.
    """
    names = list(ends)
    count = draft.participants.count
    ties = {
        ((link.source, link.target) if downwards else (link.target, link.source)) + (names.index(name),): None
        for link, name in zip(draft.topology.links, awaited, strict=True)
        if link.ties_all and count[link.source] and count[link.target]
    }
    if not ties:
        return (), []
    columns = np.array(list(ties), np.int64)
    all_ends = np.stack(list(ends.values()))
    through = (count[columns[:, 0]] > 1) & (count[columns[:, 1]] > 1)
    direct = _direct(draft, _Ties(*columns[~through].T), all_ends)
    slot, pairs = _through_milestones(draft, _Ties(*columns[through].T), all_ends)
    return slot, [direct, *pairs]


def _direct(draft: GraphDraft, ties: _Ties, ends: np.ndarray) -> Pairs:
    """Return the edges between all instances of the two nodes of each pair. One node has a single instance."""
    participants = draft.participants
    length = np.maximum(participants.count[ties.before], participants.count[ties.then])
    tie = np.repeat(np.arange(len(length)), length)
    step = np.arange(len(tie)) - (np.cumsum(length) - length)[tie]
    before = participants.first[ties.before][tie] + np.where(participants.count[ties.before][tie] > 1, step, 0)
    then = participants.first[ties.then][tie] + np.where(participants.count[ties.then][tie] > 1, step, 0)
    return ends[ties.end[tie], before], draft.head[then]


def _through_milestones(draft: GraphDraft, ties: _Ties, ends: np.ndarray) -> tuple[tuple[StepSlot, ...], list[Pairs]]:
    """Return one milestone for each (node, operation) that is waited for, and its edges.

    The milestone waits for all instances of the node. All instances of each related node wait for the milestone.
    """
    if not len(ties.before):
        return (), []
    awaited, milestone = np.unique(np.stack((ties.before, ties.end)), axis=1, return_inverse=True)
    begin = sum(len(slot) for slot in draft.slots)
    into, member = _spread(draft, awaited[0])
    out, waiting = _spread(draft, ties.then)
    owner = draft.participants.first[awaited[0]].astype(np.int32)
    order = np.argsort(owner, kind="stable")
    position = np.empty(len(order), np.int32)
    position[order] = np.arange(begin, begin + len(order), dtype=np.int32)
    slot = StepSlot(
        MILESTONE,
        SubjectKind.NONE,
        owner[order],
        np.full(len(order), -1, np.int32),
        np.full(len(order), draft.policies.absent(), np.int32),
        marks=Mark.ABSENT,
    )
    return (slot,), [
        (ends[awaited[1][into], member], position[into]),
        (position[milestone.reshape(-1)[out]], draft.head[waiting]),
    ]


def _spread(draft: GraphDraft, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs (index in ``nodes``, place of a participant): one pair for each participant of each node."""
    length = draft.participants.count[nodes]
    which = np.repeat(np.arange(len(nodes)), length)
    step = np.arange(len(which)) - (np.cumsum(length) - length)[which]
    return which, draft.participants.first[nodes][which] + step
