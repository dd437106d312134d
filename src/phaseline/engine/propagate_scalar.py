"""Change the status of a few entries one by one; has the same result as ``propagate_vector``, but is faster for few entries.

Each operation on a whole column costs at least a microsecond; a turn that changes three entries would need two hundred
of them. This module reads and writes single cells of the same memory. Tests check that both modules have the same
results.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine.status_transitions import (
    ABSENT,
    ANY,
    BLOCKED,
    ENDED,
    GATE,
    IS_STORED,
    MAY_MOVE,
    PASSED,
    RUNNING,
    SKIPPED,
    SLEEPING,
    TOLD,
    TOLERANT,
    UNSURE,
    WAITING,
)
from phaseline.model.graph.status import PAGE_ENTRIES, EntryStatus

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from phaseline.engine.arena import Arena

FEW = 16
"""Number of entries up to which they are changed one by one; for more entries columns are faster."""
FEW_EDGES = 64
"""Number of edges from the changed entries up to which they are changed one by one."""

_STATUSES = range(len(EntryStatus))
STORED = tuple(IS_STORED.tolist())
MOVES = tuple(MAY_MOVE.tolist())


def _told(change: int) -> tuple[int, int]:
    return int(TOLD[0][change]), int(TOLD[1][change])


TELLS = tuple(
    tuple(_told((old * len(EntryStatus) + new) * 2 + tolerant) for tolerant in (0, 1) for new in _STATUSES)
    for old in _STATUSES
)
"""[old][new + tolerant * number of statuses] -> change of (unmet, lost) in each dependent; see ``status_transitions.TOLD``."""
QUIET = tuple(
    tuple(TELLS[old][new] == TELLS[old][new + len(EntryStatus)] == (0, 0) for new in _STATUSES) for old in _STATUSES
)
"""[old][new] -> True if this change of status affects no dependent, whether the entry is tolerant or not."""
REACTS = tuple(status in {EntryStatus.BLOCKED, EntryStatus.SKIPPED} for status in EntryStatus)
"""[status] -> True if a change of its needs can change an entry with this status."""
WHEN_TOLERANT = len(EntryStatus)


class Cells:
    """The columns of an arena as memory views, for fast access to single cells. They are valid until the columns grow."""

    __slots__ = (
        "end", "first_page", "idx", "kind", "lost", "marks", "needs", "open", "owner", "policy", "slot_base", "status", "unmet", "unsure",
    )  # fmt: skip

    def __init__(self, arena: Arena) -> None:
        """Create views of the arena's present columns; writing to a view changes the arena."""
        self.status, self.marks, self.end = arena.status.data, arena.marks.data, arena.end.data
        self.unmet, self.lost, self.needs = arena.unmet.data, arena.lost.data, arena.needs.data
        self.policy, self.owner, self.kind = arena.policy.data, arena.owner.data, arena.kind.data
        self.idx = arena.idx.data
        self.open, self.unsure = arena.slot_open.data, arena.slot_unsure.data
        self.slot_base, self.first_page = arena.slot_base.data, arena.slot_first_page.data

    def number_of(self, position: int) -> int:
        """Return the number of the graph that an entry belongs to."""
        return bisect_right(self.slot_base, position) - 1

    def has_few_edges(self, positions: Sequence[int]) -> bool:
        """Return True if these entries together have at most ``FEW_EDGES`` edges."""
        if len(self.idx) <= FEW_EDGES:
            return True
        end, count = self.end, 0
        for position in positions:
            count += end[position] - (end[position - 1] if position else 0)
        return count <= FEW_EDGES


def set_few(arena: Arena, positions: Sequence[int], new: Sequence[int]) -> set[int]:
    """Give each entry its new status, and return the dependents whose counters of needs changed."""
    cells, felt = arena.cells, set()
    status, marks, end, idx, unmet, lost = cells.status, cells.marks, cells.end, cells.idx, cells.unmet, cells.lost
    for position, after in zip(positions, new, strict=True):
        before = status[position]
        _give(arena, cells, position, before, after)
        is_unmet, is_lost = TELLS[before][after + WHEN_TOLERANT if marks[position] & TOLERANT else after]
        if is_unmet or is_lost:
            for edge in range(end[position - 1] if position else 0, end[position]):
                target = idx[edge]
                unmet[target] += is_unmet
                lost[target] += is_lost
                felt.add(target)
    return felt


def run_one(arena: Arena, position: int, batch: int) -> None:
    """Mark one waiting entry as running in a batch; does for one entry what ``Arena.hand_over`` does for many."""
    cells = arena.cells
    if arena.stories is not None:
        arena.stories.see_one(position, cells.status[position], RUNNING)
    cells.status[position] = RUNNING
    cells.marks[position] &= ~GATE
    cells.owner[position] = batch


def _give(arena: Arena, cells: Cells, position: int, before: int, after: int) -> None:
    """Set the status of an entry, update the counts of its graph, and mark its page to be written."""
    cells.status[position] = after
    if arena.stories is not None:
        arena.stories.see_one(position, before, after)
    if not (STORED[after] or STORED[before]):
        return
    number = bisect_right(cells.slot_base, position) - 1
    cells.open[number] += MOVES[after] - MOVES[before]
    if after == UNSURE:
        cells.unsure[number] += 1
    if before == UNSURE:
        cells.unsure[number] -= 1
    if before == SLEEPING or after == SLEEPING:  # noqa: PLR1714 - a set would be made each time
        arena.sleep_changes += 1
    arena.few_dirty.add(cells.first_page[number] + (position - cells.slot_base[number]) // PAGE_ENTRIES)
    arena.touched.add(number)


def judge_few(arena: Arena, moved: Collection[int]) -> tuple[list[int], list[int]]:
    """Determine the status of blocked and skipped entries (ascending) from their needs; return those that change, and their new status.

    Add entries that become waiting or passed to ``arena.released`` and ``arena.passed``. Entries whose change affects
    no dependent are changed here at once and not returned.
    """
    cells = arena.cells
    status = cells.status
    changed: list[int] = []
    new: list[int] = []
    released: list[int] = []
    passed: list[int] = []
    for position in moved:
        before = status[position]
        if not REACTS[before]:
            continue
        after = ruled(cells, position)
        if after == before:
            continue
        if after == WAITING:
            released.append(position)
        elif after == PASSED:
            passed.append(position)
        if QUIET[before][after]:
            _give(arena, cells, position, before, after)
        else:
            changed.append(position)
            new.append(after)
    if released:
        arena.released.append(np.array(released, np.int64))
    if passed:
        arena.passed.append(np.array(passed, np.int64))
    return changed, new


def ruled(cells: Cells, position: int) -> int:
    """Return the status that an entry's needs alone give it. Has the same rule as ``status_transitions.ruled_status``."""
    unmet, lost, marks = cells.unmet[position], cells.lost[position], cells.marks[position]
    if marks & ANY:
        needs = cells.needs[position]
        if unmet < needs or not needs:
            return PASSED
        return SKIPPED if lost == needs else BLOCKED
    if marks & ENDED:
        return PASSED if unmet == lost else BLOCKED
    if lost:
        return SKIPPED
    if unmet:
        return BLOCKED
    return PASSED if marks & GATE == ABSENT else WAITING
