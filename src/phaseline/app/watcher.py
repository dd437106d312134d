"""Watchers: how a client follows an execution that this process runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from phaseline.calls.deployments.progress import Failing, Progress, ProgressRow

__all__ = ["LOOK_S", "PATIENCE_S", "Failing", "NullWatcher", "Progress", "ProgressRow", "Throttle", "Watcher"]

PATIENCE_S = 10.0
"""Time without an owner of the store after which no more progress is expected."""
LOOK_S = 0.2
"""Time between two checks of a follower whether to take over, and whether something has changed."""
EVERY_MS = 100
"""Least time between two calls of a watcher."""
SHARE = 50
"""Watching takes at most one millisecond in this many."""


class Watcher(Protocol):
    """Receives progress while a use case runs; called from the thread that runs it."""

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        """The execution runs now. ``interrupt``: a function for signal handlers, after which no new call begins."""
        ...

    @property
    def wants_progress(self) -> bool:
        """True if ``progressed`` has an effect: counting takes time in large executions."""
        ...

    def progressed(self, progress: Progress, now: int) -> None:
        """Receive the progress of the execution; ``now`` in ms."""
        ...

    def noticed(self, text: str) -> None:
        """Receive a message for the user."""
        ...

    def ended(self) -> None:
        """The execution does not run any more."""
        ...


class NullWatcher:
    """Ignores everything: for programs that only want the result."""

    wants_progress = False

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        """Ignore it."""

    def progressed(self, progress: Progress, now: int) -> None:
        """Ignore it."""

    def noticed(self, text: str) -> None:
        """Ignore it."""

    def ended(self) -> None:
        """Ignore it."""


class Throttle:
    """Permits looks at the progress, at most one in ``EVERY_MS``.

    They are so seldom that looking takes at most a fiftieth of the time.
    """

    def __init__(self) -> None:
        """Permit the first look."""
        self._next = 0

    def lets_through(self, now: int) -> bool:
        """True if a look is permitted at ``now`` (ms)."""
        return now >= self._next

    def looked(self, begun: int, ended: int) -> None:
        """Record the begin and end of a look (ms)."""
        self._next = begun + max(EVERY_MS, (ended - begun) * SHARE)
