"""Statuses of entries and executions, and how an entry's status affects the entries that need it.

An entry contributes two numbers to each entry that needs it: *unmet* (1 while it is not done) and *lost* (1 if it will
never be done). The engine's decisions follow from changes of these numbers (ARCHITECTURE section 1).
"""

from __future__ import annotations

from enum import IntEnum, StrEnum


class EntryStatus(IntEnum):
    """The status of one entry of a graph; status pages hold the numbers."""

    BLOCKED = 0
    WAITING = 1
    RUNNING = 2
    SLEEPING = 3
    CANCELING = 4
    UNSURE = 5
    COMPLETED = 6
    PASSED = 7
    FAILED = 8
    SKIPPED = 9
    CANCELED = 10

    @property
    def word(self) -> str:
        """The name that users see, such as ``completed``."""
        return self.name.lower()


FIRST_ENDED = EntryStatus.COMPLETED
"""The first of the statuses that mean an ended entry; later ones mean this, too."""
PAGE_ENTRIES = 1000
"""Number of entries whose statuses share one page (row of the store)."""


class Mark(IntEnum):
    """Bits that vary the rules for an entry."""

    ABSENT = 1
    """The entry is never called; it passes when its needs are done."""
    TOLERANT = 2
    """A failure of the entry counts as done for the entries that need it."""
    ANY = 4
    """With ``ABSENT``: the entry passes when the first of its needs is done."""
    ENDED = 8
    """With ``ABSENT``: the entry passes when all its needs have ended, even if they failed."""
    ANNOUNCE = 16
    """Listeners are notified when the entry passes or completes (command ``Announce``)."""
    EXIT = 32
    """When the entry passes, the planner is asked to continue with its subject (command ``Ask``)."""
    CONDITIONAL = 64
    """The shell evaluates whether the entry applies (``Evaluate``) before it enters a lane, or if it is absent, before it passes."""


class ExecutionStatus(StrEnum):
    """The status of one execution."""

    QUEUED = "queued"
    RUNNING = "running"
    CANCELING = "canceling"
    ATTENTION = "attention"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"

    @property
    def is_ended(self) -> bool:
        """True if nothing more happens until a user requests it."""
        return self in ENDED


ENDED = frozenset({ExecutionStatus.COMPLETED, ExecutionStatus.FAILED, ExecutionStatus.CANCELED})
"""Statuses of executions that have ended."""
LEFT = (ExecutionStatus.FAILED, ExecutionStatus.CANCELED)
"""Statuses of executions that may have left failed entries."""


class OutcomeKind(IntEnum):
    """What a call returned for one of its members; the numbers are stored with the batch."""

    PENDING = 0
    COMPLETED = 1
    AGAIN = 2
    """Not done yet: call again at the due time. Not a failure and not counted as a retry."""
    RETRY = 3
    """Failed, and may be tried again if retries remain; a due time may be given."""
    FAILED = 4
    """Failed, and must not be tried again."""
    UNSURE = 5
    """It is unknown whether the call was carried out."""
    LOST = 6
    """The calling process died; the entry waits for another call."""
