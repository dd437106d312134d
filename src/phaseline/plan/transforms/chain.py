"""Add edges so that each instance's entries run in the order of its sequence."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from phaseline.lang.arrays import every, some
from phaseline.lang.fast_dataclasses import altered, mutable
from phaseline.plan.graph.draft import GraphDraft, StepSlot

Pairs = tuple[np.ndarray, np.ndarray]
SINGLE = -1


def chain_entries(draft: GraphDraft) -> GraphDraft:
    """Return the draft with an edge from each entry of a participant to its next entry.

    The entries of one relationship group run side by side. So the entry before a group gets an edge to each of them,
    and the entry after the group gets an edge from each of them.
    """
    size = len(draft.participants)
    walk = _Walk(np.full(size, -1, np.int32), np.full(size, -1, np.int32), np.full(size, SINGLE, np.int32))
    chain: list[Pairs] = []
    edges: list[Pairs] = []
    position = 0
    for number, (_, stage) in enumerate(groupby(enumerate(draft.slots), _stage_of)):
        slots = [slot for _, slot in stage]
        count = sum(len(slot) for slot in slots)
        positions = np.arange(position, position + count, dtype=np.int32)
        position += count
        if slots[0].beside is not None:
            continue
        if len(slots) == 1 and slots[0].group < 0:
            chain.append(walk.step(slots[0].owner, positions, edges))
        else:
            walk.spread(np.concatenate([slot.owner for slot in slots]), positions, number, edges)
    return altered(draft, head=walk.head, tail=walk.tail, chain=tuple(chain), edges=draft.edges + tuple(edges))


def _stage_of(numbered: tuple[int, StepSlot]) -> tuple[int, int]:
    """Return a key that is equal for neighbouring slots that run side by side."""
    number, slot = numbered
    return (slot.group, -1) if slot.group >= 0 else (-1, number)


@mutable
class _Open:
    """Entries of a group, several side by side for each owner, which have no edges to the owner's next entry yet."""

    number: int
    owner: np.ndarray
    positions: np.ndarray


class _Walk:
    """The first and the last entry of each participant in the slots handled so far, indexed by participant place.

    ``group`` is the number of the relationship group whose entries are the participant's last ones, or ``SINGLE``.
    """

    def __init__(self, head: np.ndarray, tail: np.ndarray, group: np.ndarray) -> None:
        self.head = head
        self.tail = tail
        self.group = group
        self.open: list[_Open] = []

    def step(self, owner: np.ndarray, positions: np.ndarray, edges: list[Pairs]) -> Pairs:
        """Append one entry for each owner.

        Return the edges (former last entry, new entry) of owners that had a single last entry. Edges from several last
        entries are appended to ``edges``.
        """
        former = self.tail[owner]
        follows = former >= 0
        self._begin(owner, positions, ~follows)
        if self.open:
            follows &= self.group[owner] == SINGLE
        self.tail[owner] = positions
        self._consume(owner, edges)
        return (former, positions) if every(follows) else (former[follows], positions[follows])

    def spread(self, owner: np.ndarray, positions: np.ndarray, number: int, edges: list[Pairs]) -> None:
        """Append entries that run side by side, any number for each owner."""
        former = self.tail[owner]
        single = (former >= 0) & (self.group[owner] == SINGLE)
        edges.append((former[single], positions[single]))
        self._begin(owner, positions, former < 0)
        self.tail[owner] = positions
        self._consume(owner, edges)
        several = np.bincount(owner, minlength=len(self.tail))[owner] > 1
        if some(several):
            self.group[owner[several]] = number
            self.open.append(_Open(number, owner[several], positions[several]))

    def _begin(self, owner: np.ndarray, positions: np.ndarray, begins: np.ndarray) -> None:
        if some(begins):
            self.head[owner[begins]] = positions[begins]

    def _consume(self, owner: np.ndarray, edges: list[Pairs]) -> None:
        """Add edges from the entries of open groups to the new last entry of their owner, and close these groups."""
        if not self.open:
            return
        here = np.zeros(len(self.tail), bool)
        here[owner] = True
        for group in self.open:
            meets = here[group.owner]
            edges.append((group.positions[meets], self.tail[group.owner[meets]]))
            group.owner, group.positions = group.owner[~meets], group.positions[~meets]
        self.group[owner] = SINGLE
        self.open = [group for group in self.open if len(group.owner)]
