"""Open batches: which entries each batch has handed to a call, and which outcomes they have."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine.status_transitions import KIND_PENDING
from phaseline.lang.arrays import as_slice, every
from phaseline.lang.fast_dataclasses import mutable
from phaseline.model.graph.batch_members import MemberColumns
from phaseline.model.graph.graph import SubjectKind

if TYPE_CHECKING:
    from phaseline.engine.arena import Arena
    from phaseline.engine.lanes.lanes import Lane

KINDS = tuple(SubjectKind)


@mutable
class OpenBatch:
    """A batch in which at least one member has no outcome yet.

    ``positions`` has the position of each member's entry (int64, -1: its execution is not in the engine), ``kinds`` the
    kind of each member's outcome (uint8). ``held`` is the number of slots of the pool that the batch uses. ``lane`` is
    None after a restore, unless its calls still run in another process. ``functions`` lists the functions of its members,
    once the lane has looked them up. ``left`` has for each function the number of members without an outcome.
    ``places`` has for each member the index of its function, or is None if there is only one function. ``elsewhere`` is
    the number of members without an outcome whose executions are not in the engine; they keep the batch open until
    their execution is restored.
    """

    id: int
    lane: Lane | None
    positions: np.ndarray
    kinds: np.ndarray
    pending: int
    held: int
    changed: bool = False
    elsewhere: int = 0
    functions: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    places: np.ndarray | None = None

    def count(self, members: np.ndarray, functions: np.ndarray) -> list[int]:
        """Record the functions of ``members``, which have no outcome yet, and return each function once."""
        if every(functions == functions[0]):
            self.functions, self.left, self.places = [int(functions[0])], [len(members)], None
        else:
            known, places, counts = np.unique(functions, return_inverse=True, return_counts=True)
            self.functions, self.left = known.tolist(), counts.tolist()
            self.places = np.zeros(len(self.positions), np.int32)
            self.places[members] = places
        return self.functions

    def _tell_lane(self, members: np.ndarray) -> None:
        """Update ``left`` for members that now have an outcome, and report to the lane functions that have no member left."""
        counts = {0: len(members)} if self.places is None else Counter(self.places[members].tolist())
        for place, count in counts.items():
            self.left[place] -= count
        ended = [self.functions[place] for place in counts if not self.left[place]]
        if ended and self.lane is not None and self.lane.shelves is not None:
            self.lane.shelves.ended(ended)

    def answer(self, members: np.ndarray, kinds: np.ndarray | int) -> None:
        """Record outcomes of members that had none."""
        self.kinds[members] = kinds
        self.pending -= len(members)
        self.changed = True
        if self.functions:
            self._tell_lane(members)

    def answer_one(self, member: int, kind: int) -> None:
        """Record the outcome of one member that had none."""
        self.kinds[member] = kind
        self.pending -= 1
        self.changed = True
        if self.functions:
            self._tell_lane(np.array([member]))

    def pending_members(self) -> np.ndarray:
        """Return the numbers of the members without an outcome, ascending."""
        found: np.ndarray = ((self.kinds == KIND_PENDING) & (self.positions >= 0)).nonzero()[0]
        return found


def members_of(arena: Arena, positions: np.ndarray) -> MemberColumns:
    """Return the members of a batch in order. A segment ends where the graph or the kind of subject changes."""
    if len(positions) == 1:
        return _one_member(arena, positions)
    numbers = arena.number_of(positions)
    where = as_slice(positions)
    kinds = arena.kind[where]
    breaks = kinds[1:] != kinds[:-1]
    if not isinstance(numbers, int):
        breaks |= numbers[1:] != numbers[:-1]
    cuts = breaks.nonzero()[0]
    firsts = np.concatenate(([0], cuts + 1))
    owners = np.full(len(firsts), numbers) if isinstance(numbers, int) else numbers[firsts]
    return MemberColumns(
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


def _one_member(arena: Arena, positions: np.ndarray) -> MemberColumns:
    """Return the columns of a batch with a single member."""
    cells, position = arena.cells, positions.item()
    slot = arena.order[cells.number_of(position)]
    where = slice(position, position + 1)
    return MemberColumns(
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
