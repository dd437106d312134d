"""Statuses of entries and executions, and what an entry's status means to those that wait for it.

An entry contributes to each dependent a pair: *unmet* (1 while the need is not done)
and *lost* (1 when it will never be done). Everything the engine does follows from the
change of that pair (ARCHITECTURE section 1).
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
        """The name users know, such as ``completed``."""
        return self.name.lower()


FIRST_ENDED = EntryStatus.COMPLETED
"""Statuses from this one on are ended."""
PAGE_ENTRIES = 1000
"""Entries whose statuses share one row of the store."""


class Mark(IntEnum):
    """Bits that vary the one rule for an entry."""

    ABSENT = 1
    """Passes when its needs are done; is never called."""
    TOLERANT = 2
    """Failed counts as done for others."""
    ANY = 4
    """Absent entry that passes with the first need that is done."""
    ENDED = 8
    """Absent entry that passes when all its needs have ended, however."""
    ANNOUNCE = 16
    """Listeners are notified when it passes (command ``Announce``)."""
    EXIT = 32
    """When it passes, the planner is asked to continue with its subject (command ``Ask``)."""
    CONDITIONAL = 64
    """Before it waits in a lane, the shell is asked whether it applies (``Evaluate``); of an absent one, before it passes."""


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
        """True when nothing more happens without a user's request."""
        return self in ENDED


ENDED = frozenset({ExecutionStatus.COMPLETED, ExecutionStatus.FAILED, ExecutionStatus.CANCELED})
"""Statuses of executions that have their verdict."""


class OutcomeKind(IntEnum):
    """What a call returned for one of its members; the numbers are stored with the batch."""

    PENDING = 0
    COMPLETED = 1
    AGAIN = 2
    """Call me again at the due time; not a failure, not counted as a retry."""
    RETRY = 3
    """Failed, may be tried again if retries remain; a due time may be given."""
    FAILED = 4
    """Failed for good."""
    UNSURE = 5
    """Unknown whether it was carried out."""
    LOST = 6
    """The calling process died; it waits to be called again."""
