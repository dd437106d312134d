"""Sleeping entries, which wait for a time, in groups ordered by the earliest time in each group."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine.status_transitions import SLEEPING
from phaseline.lang.arrays import unique

if TYPE_CHECKING:
    from phaseline.engine.arena import Arena

NOBODY = np.empty(0, np.int64)
NEVER = (-1, -1)
"""Value that means: the first due time is not computed yet."""


class Sleepers:
    """All sleeping entries, in a heap of (earliest due time, number, positions).

    An entry that no longer sleeps is removed only when its group is due.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, np.ndarray]] = []
        self._count = 0
        self._looked: tuple[int, int] = NEVER

    def add(self, positions: np.ndarray, due: np.ndarray) -> None:
        """Add sleeping entries; ``due`` are their times (ms), which the arena's column ``due`` already has."""
        if len(positions):
            self._count += 1
            heapq.heappush(self._heap, (int(due.min()), self._count, positions))

    def are_due(self, now: int) -> bool:
        """Return True if an entry may be due at ``now`` (ms), or False if certainly none is."""
        return bool(self._heap) and self._heap[0][0] <= now

    def due(self, arena: Arena, now: int) -> np.ndarray:
        """Remove and return the positions of sleeping entries that are due, each once, ascending."""
        woken: list[np.ndarray] = []
        while self._heap and self._heap[0][0] <= now:
            positions = heapq.heappop(self._heap)[2]
            self._looked = NEVER
            positions = positions[arena.status[positions] == SLEEPING]
            times = arena.due[positions]
            woken.append(positions[times <= now])
            self.add(positions[times > now], times[times > now])
        return unique(np.concatenate(woken)) if woken else NOBODY

    def next(self, arena: Arena) -> int | None:
        """Return the time (ms) when the first sleeping entry is due, or None.

        The time is computed again only after the set of sleeping entries has changed.
        """
        seen = (arena.sleep_changes, self._count)
        if seen == self._looked:
            return self._heap[0][0] if self._heap else None
        while self._heap:
            due, _, positions = self._heap[0]
            asleep = positions[arena.status[positions] == SLEEPING]
            if len(asleep) and int(arena.due[asleep].min()) == due:
                break
            heapq.heappop(self._heap)
            self.add(asleep, arena.due[asleep])
        self._looked = (arena.sleep_changes, self._count)
        return self._heap[0][0] if self._heap else None

    def soon(self, arena: Arena, until: int) -> np.ndarray:
        """Return the positions of sleeping entries that are due by ``until`` (ms), each once, ascending, without removing them."""
        found = [positions for due, _, positions in self._heap if due <= until]
        if not found:
            return NOBODY
        positions = unique(np.concatenate(found))
        soon: np.ndarray = positions[(arena.status[positions] == SLEEPING) & (arena.due[positions] <= until)]
        return soon

    def known(self) -> dict[int, int]:
        """Return {position of an entry: earliest time (ms) at which ``due`` examines it} for all entries here."""
        looked: dict[int, int] = {}
        for due, _, positions in self._heap:
            for position in positions.tolist():
                looked[position] = min(due, looked.get(position, due))
        return looked

    def move(self, moved: np.ndarray) -> None:
        """Replace the positions of entries by their new positions after a compaction of the arena."""
        self._looked = NEVER
        heap = [(due, number, moved[positions]) for due, number, positions in self._heap]
        self._heap = [(due, number, positions[positions >= 0]) for due, number, positions in heap]
