"""Open batches: which entries one hand-over has, and which of them have answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine.rules import KIND_PENDING
from phaseline.model.distinct import neighbours
from phaseline.model.frozen import changeable
from phaseline.model.graph import SubjectKind
from phaseline.model.members import Members

if TYPE_CHECKING:
    from phaseline.engine.arena import Arena
    from phaseline.engine.lanes import Lane

KINDS = tuple(SubjectKind)


@changeable
class OpenBatch:
    """A batch without an outcome for each member. ``positions`` int64 (-1: not held) and ``kinds`` uint8 by member.

    ``held``: slots of its pool that it takes; ``lane`` None after a restore, when nothing of it runs any more.
    ``elsewhere``: members without an outcome that belong to executions which are not held here: for them the batch
    stays open, until somebody takes their execution up.
    """

    id: int
    lane: Lane | None
    positions: np.ndarray
    kinds: np.ndarray
    pending: int
    held: int
    changed: bool = False
    elsewhere: int = 0

    def answer(self, members: np.ndarray, kinds: np.ndarray | int) -> None:
        """Remember outcomes of members that had none."""
        self.kinds[members] = kinds
        self.pending -= len(members)
        self.changed = True

    def answer_one(self, member: int, kind: int) -> None:
        """The same for one."""
        self.kinds[member] = kind
        self.pending -= 1
        self.changed = True

    def pending_members(self) -> np.ndarray:
        """Members without an outcome, ascending."""
        found: np.ndarray = ((self.kinds == KIND_PENDING) & (self.positions >= 0)).nonzero()[0]
        return found


def members_of(arena: Arena, positions: np.ndarray) -> Members:
    """Members in order, cut where the graph or the kind of subject changes."""
    if len(positions) == 1:
        return _one_member(arena, positions)
    numbers = arena.number_of(positions)
    where = neighbours(positions)
    kinds = arena.kind[where]
    breaks = kinds[1:] != kinds[:-1]
    if not isinstance(numbers, int):
        breaks |= numbers[1:] != numbers[:-1]
    cuts = breaks.nonzero()[0]
    firsts = np.concatenate(([0], cuts + 1))
    owners = np.full(len(firsts), numbers) if isinstance(numbers, int) else numbers[firsts]
    return Members(
        tuple(arena.slot_graph[owners].tolist()),
        tuple(arena.slot_execution[owners].tolist()),
        tuple(arena.slot_deployment[owners].tolist()),
        tuple(map(KINDS.__getitem__, kinds[firsts].tolist())),
        (*(cuts + 1).tolist(), len(positions)),
        (positions - arena.slot_base[numbers]).astype(np.int32),
        arena.subject[where].copy(),
        arena.attempts[where].copy(),
        arena.generations[where].copy(),
        (arena.policy[where] - arena.slot_policy_base[numbers]).astype(np.uint16),
    )


def _one_member(arena: Arena, positions: np.ndarray) -> Members:
    """The same for one."""
    cells, position = arena.cells, positions.item()
    slot = arena.order[cells.number_of(position)]
    where = slice(position, position + 1)
    return Members(
        (slot.graph_id,),
        (slot.execution,),
        (slot.deployment,),
        (KINDS[cells.kind[position]],),
        (1,),
        np.array([position - slot.base], np.int32),
        arena.subject[where].copy(),
        arena.attempts[where].copy(),
        arena.generations[where].copy(),
        np.array([cells.policy[position] - slot.policy_base], np.uint16),
    )
