"""Open batches: which entries one hand-over has, and which of them have answered."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine.rules import KIND_PENDING
from phaseline.model.distinct import neighbours
from phaseline.model.events import Segment
from phaseline.model.frozen import changeable
from phaseline.model.graph import SubjectKind

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


def segments_of(arena: Arena, positions: np.ndarray) -> tuple[Segment, ...]:
    """Members in order, cut where the graph or the kind of subject changes."""
    if len(positions) == 1:
        return (_segment_of_one(arena, positions),)
    numbers = arena.number_of(positions)
    where = neighbours(positions)
    kinds = arena.kind[where]
    breaks = kinds[1:] != kinds[:-1]
    if not isinstance(numbers, int):
        breaks |= numbers[1:] != numbers[:-1]
    bounds = [0, *(breaks.nonzero()[0] + 1).tolist(), len(positions)]
    bases, policy_bases = arena.slot_base[numbers], arena.slot_policy_base[numbers]
    mine, subjects = (positions - bases).astype(np.int32), arena.subject[where].copy()
    attempts, generations = arena.attempts[where].copy(), arena.generations[where].copy()
    policies = (arena.policy[where] - policy_bases).astype(np.uint16)
    order, owners = arena.order, (numbers if isinstance(numbers, int) else numbers[bounds[:-1]].tolist())
    kind_of = [KINDS[kind] for kind in kinds[bounds[:-1]].tolist()]
    segments = []
    for number, (low, high) in enumerate(pairwise(bounds)):
        slot = order[owners if isinstance(owners, int) else owners[number]]
        segments.append(
            Segment(
                slot.graph_id, slot.execution, slot.deployment, mine[low:high], kind_of[number], subjects[low:high],
                attempts[low:high], generations[low:high], policies[low:high],
            )
        )  # fmt: skip
    return tuple(segments)


def _segment_of_one(arena: Arena, positions: np.ndarray) -> Segment:
    cells, position = arena.cells, positions.item()
    slot = arena.order[cells.number_of(position)]
    where = slice(position, position + 1)
    return Segment(
        slot.graph_id,
        slot.execution,
        slot.deployment,
        np.array([position - slot.base], np.int32),
        KINDS[cells.kind[position]],
        arena.subject[where].copy(),
        arena.attempts[where].copy(),
        arena.generations[where].copy(),
        np.array([cells.policy[position] - slot.policy_base], np.uint16),
    )
