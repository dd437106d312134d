"""The history of each entry, for tests and debugging: every change of status is compared with the table.

Only a scheduler made with ``checked=True`` keeps stories; they cost time and memory.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from phaseline.engine.status_transitions import TRANSITIONS
from phaseline.lang.arrays import every
from phaseline.model.graph.status import EntryStatus

CHANGES_KEPT = 10_000
"""The number of changes (of many entries each) that are kept."""

ALLOWED = np.zeros((len(EntryStatus), len(EntryStatus)), bool)
"""[from, to] -> a fact makes this change."""
for (_status, _fact), _result in TRANSITIONS.items():
    ALLOWED[_status, _result] = True
    ALLOWED[_status, _status] = True
MAY_BECOME = ALLOWED.tolist()
"""The allowed transitions as plain lists, for one entry."""


class InvalidTransition(AssertionError):
    """A change of an entry that no fact allows: an error in the engine, never of a user or a plugin."""

    def __init__(self, entry: int, before: EntryStatus, after: EntryStatus, story: tuple[str, ...]) -> None:
        """``entry`` is the position in the arena; ``story`` its changes so far, oldest first."""
        self.entry, self.before, self.after, self.story = entry, before, after, story
        told = "; ".join(story) or "nothing befell it yet"
        super().__init__(f"entry {entry} cannot become {after.word} when {before.word} ({told})")


Column = np.ndarray | int
Change = tuple[int, Column, Column, Column]
"""(now in ms, positions, statuses before, statuses after): columns, or for one entry plain numbers."""


class Stories:
    """The last changes, and the check of each new one."""

    def __init__(self) -> None:
        self.now = 0
        self._changes: deque[Change] = deque(maxlen=CHANGES_KEPT)

    def see(self, positions: np.ndarray, before: np.ndarray, after: np.ndarray) -> None:
        """Record a change. Raises ``InvalidTransition`` for the first entry with a change that is not in the table."""
        allowed = ALLOWED[before, after]
        if not every(allowed):
            place = int((~allowed).nonzero()[0][0])
            entry = int(positions[place])
            statuses = EntryStatus(int(before[place])), EntryStatus(int(after[place]))
            raise InvalidTransition(entry, *statuses, self.of(entry))
        self._changes.append((self.now, positions.copy(), before.copy(), after.copy()))

    def see_one(self, position: int, before: int, after: int) -> None:
        """Check and record the change of one entry."""
        if not MAY_BECOME[before][after]:
            raise InvalidTransition(position, EntryStatus(before), EntryStatus(after), self.of(position))
        self._changes.append((self.now, position, before, after))

    def of(self, entry: int) -> tuple[str, ...]:
        """The changes of the entry at this position, such as ``5 ms: waiting -> running``, oldest first."""
        told = []
        for now, *columns in self._changes:
            positions, *statuses = map(np.atleast_1d, columns)
            for place in np.flatnonzero(positions == entry).tolist():
                before, after = (EntryStatus(int(column[place])) for column in statuses)
                if before is not after:
                    told.append(f"{now} ms: {before.word} -> {after.word}")
        return tuple(told)

    def move(self, moved: np.ndarray) -> None:
        """Replace the positions of entries by their new positions after a compaction (``Arena.compact``)."""
        kept = ((now, moved[positions], before, after) for now, positions, before, after in self._changes)
        self._changes = deque(kept, maxlen=CHANGES_KEPT)
