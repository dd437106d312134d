"""Watchers: how a client follows an execution that this process runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from phaseline.calls.deployments.progress import Failing, Progress, ProgressRow

__all__ = ["LOOK_S", "PATIENCE_S", "Failing", "NullWatcher", "Progress", "ProgressRow", "Throttle", "Watcher"]

PATIENCE_S = 10.0
"""Seconds without an owner of the store after which a follower expects no more progress."""
LOOK_S = 0.2
"""Seconds between two checks by a follower: can it become the owner, and has anything changed?"""
EVERY_MS = 100
"""Least time in ms between two calls of a watcher."""
SHARE = 50
"""Divisor that limits the cost of watching: counting progress may use at most 1/50 of the time."""


class Watcher(Protocol):
    """Receives progress while a use case runs. Its methods are called from the thread that runs the use case."""

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        """Take note that the execution runs now.

        ``interrupt``: a function for signal handlers; no new call begins after it.
        """
        ...

    @property
    def wants_progress(self) -> bool:
        """True if ``progressed`` does anything.

        If not, progress is not counted, which takes time in large executions.
        """
        ...

    def progressed(self, progress: Progress, now: int) -> None:
        """Receive the progress of the execution; ``now`` in ms."""
        ...

    def noticed(self, text: str) -> None:
        """Receive a message for the user."""
        ...

    def ended(self) -> None:
        """Take note that the execution does not run any more."""
        ...


class NullWatcher:
    """A watcher that ignores everything, for programs that only want the result."""

    wants_progress = False

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        """Do nothing."""

    def progressed(self, progress: Progress, now: int) -> None:
        """Do nothing."""

    def noticed(self, text: str) -> None:
        """Do nothing."""

    def ended(self) -> None:
        """Do nothing."""


class Throttle:
    """Limits how often progress is counted: at most once in ``EVERY_MS``, and rarer if counting takes long.

    Counting then uses at most a fiftieth of the time.
    """

    def __init__(self) -> None:
        """Permit the first count."""
        self._next = 0

    def lets_through(self, now: int) -> bool:
        """Return True if progress may be counted at ``now`` (ms)."""
        return now >= self._next

    def looked(self, begun: int, ended: int) -> None:
        """Record when a count began and ended (ms), to decide when the next one is permitted."""
        self._next = begun + max(EVERY_MS, (ended - begun) * SHARE)
