"""What befell each entry, for tests and for whoever debugs at night: every change of status is held against the table.

Only a scheduler made with ``checked=True`` keeps stories; they cost time and memory.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from phaseline.engine.rules import TRANSITIONS
from phaseline.model.status import EntryStatus

CHANGES_KEPT = 10_000
"""Changes (of many entries each) that are remembered."""

ALLOWED = np.zeros((len(EntryStatus), len(EntryStatus)), bool)
"""[from, to] -> some fact makes this change."""
for (_status, _fact), _result in TRANSITIONS.items():
    ALLOWED[_status, _result] = True
    ALLOWED[_status, _status] = True


class InvalidTransition(AssertionError):
    """An entry was to change in a way that no fact allows. A mistake of ours, never of a user or a plugin."""

    def __init__(self, entry: int, before: EntryStatus, after: EntryStatus, story: tuple[str, ...]) -> None:
        """``entry`` is the position in the arena; ``story`` what befell it so far, oldest first."""
        self.entry, self.before, self.after, self.story = entry, before, after, story
        told = "; ".join(story) or "nothing befell it yet"
        super().__init__(f"entry {entry} cannot become {after.word} when {before.word} ({told})")


@dataclass(frozen=True, slots=True)
class Change:
    """Entries that changed at once: ``positions`` int64, statuses uint8, at ``now`` ms."""

    now: int
    positions: np.ndarray
    before: np.ndarray
    after: np.ndarray


class Stories:
    """The last changes, and the check of each new one."""

    def __init__(self) -> None:
        """Nothing has happened."""
        self.now = 0
        self._changes: deque[Change] = deque(maxlen=CHANGES_KEPT)

    def see(self, positions: np.ndarray, before: np.ndarray, after: np.ndarray) -> None:
        """Remember a change. Raises ``InvalidTransition`` for the first entry whose change the table does not have."""
        wrong = np.flatnonzero(~ALLOWED[before, after])
        if len(wrong):
            place = int(wrong[0])
            entry = int(positions[place])
            statuses = EntryStatus(int(before[place])), EntryStatus(int(after[place]))
            raise InvalidTransition(entry, *statuses, self.of(entry))
        self._changes.append(Change(self.now, positions.copy(), before.copy(), after.copy()))

    def of(self, entry: int) -> tuple[str, ...]:
        """What befell the entry at this position, such as ``5 ms: waiting -> running``, oldest first."""
        told = []
        for change in self._changes:
            for place in np.flatnonzero(change.positions == entry).tolist():
                before, after = EntryStatus(int(change.before[place])), EntryStatus(int(change.after[place]))
                if before is not after:
                    told.append(f"{change.now} ms: {before.word} -> {after.word}")
        return tuple(told)

    def move(self, moved: np.ndarray) -> None:
        """Follow entries to their new positions after a compaction."""
        kept = [Change(old.now, moved[old.positions], old.before, old.after) for old in self._changes]
        self._changes = deque(kept, maxlen=CHANGES_KEPT)
