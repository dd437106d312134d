"""The history of each entry, for tests and debugging; each change of status is compared with the table of allowed changes.

Only a scheduler created with ``checked=True`` keeps histories, because they cost time and memory.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from phaseline.engine.status_transitions import TRANSITIONS
from phaseline.lang.arrays import every
from phaseline.model.graph.status import EntryStatus

CHANGES_KEPT = 10_000
"""Number of changes that are kept; each may concern many entries."""

ALLOWED = np.zeros((len(EntryStatus), len(EntryStatus)), bool)
"""[status before, status after] -> True if some fact makes this change."""
for (_status, _fact), _result in TRANSITIONS.items():
    ALLOWED[_status, _result] = True
    ALLOWED[_status, _status] = True
MAY_BECOME = ALLOWED.tolist()
"""``ALLOWED`` as nested lists, which are faster for a single entry."""


class InvalidTransition(AssertionError):
    """A change of status that no fact allows: an error in the engine, never caused by a user or a plugin."""

    def __init__(self, entry: int, before: EntryStatus, after: EntryStatus, story: tuple[str, ...]) -> None:
        """Record the error. ``entry`` is the position in the arena; ``story`` lists its earlier changes, oldest first."""
        self.entry, self.before, self.after, self.story = entry, before, after, story
        told = "; ".join(story) or "nothing befell it yet"
        super().__init__(f"entry {entry} cannot become {after.word} when {before.word} ({told})")


Column = np.ndarray | int
Change = tuple[int, Column, Column, Column]
"""(time in ms, positions, statuses before, statuses after): arrays, or plain numbers for a single entry."""


class Stories:
    """The last changes of status of all entries; each new change is checked."""

    def __init__(self) -> None:
        self.now = 0
        self._changes: deque[Change] = deque(maxlen=CHANGES_KEPT)

    def see(self, positions: np.ndarray, before: np.ndarray, after: np.ndarray) -> None:
        """Record changes of entries. Raise ``InvalidTransition`` for the first entry whose change is not in the table."""
        allowed = ALLOWED[before, after]
        if not every(allowed):
            place = int((~allowed).nonzero()[0][0])
            entry = int(positions[place])
            statuses = EntryStatus(int(before[place])), EntryStatus(int(after[place]))
            raise InvalidTransition(entry, *statuses, self.of(entry))
        self._changes.append((self.now, positions.copy(), before.copy(), after.copy()))

    def see_one(self, position: int, before: int, after: int) -> None:
        """Record the change of one entry. Raise ``InvalidTransition`` if the change is not in the table."""
        if not MAY_BECOME[before][after]:
            raise InvalidTransition(position, EntryStatus(before), EntryStatus(after), self.of(position))
        self._changes.append((self.now, position, before, after))

    def of(self, entry: int) -> tuple[str, ...]:
        """Return the changes of the entry at this position, oldest first, each as a text such as ``5 ms: waiting -> running``."""
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
