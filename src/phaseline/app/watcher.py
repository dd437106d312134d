"""How a door watches an execution that this process runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from phaseline.calls.deployments.progress import Failing, Progress, ProgressRow

__all__ = ["LOOK_S", "PATIENCE_S", "Failing", "NullWatcher", "Progress", "ProgressRow", "Throttle", "Watcher"]

PATIENCE_S = 10.0
"""So long no process may own the store until nothing is expected to come."""
LOOK_S = 0.2
"""A follower looks so often whether it is to take over, and whether something has changed."""
EVERY_MS = 100
"""A watcher is told at most so often."""
SHARE = 50
"""Of so many milliseconds at most one is spent on looking."""


class Watcher(Protocol):
    """Told what happens while a use case runs; called from the thread that runs it."""

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        """The execution runs now. ``interrupt`` begins no new call and may be called from a signal handler."""
        ...

    @property
    def wants_progress(self) -> bool:
        """Whether ``progressed`` does anything: counting takes time in large executions."""
        ...

    def progressed(self, progress: Progress, now: int) -> None:
        """How far the execution is; ``now`` in ms."""
        ...

    def noticed(self, text: str) -> None:
        """A sentence the user should read."""
        ...

    def ended(self) -> None:
        """Nothing runs any more."""
        ...


class NullWatcher:
    """Ignores everything: for programs that only want the result."""

    wants_progress = False

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        """Not looked at."""

    def progressed(self, progress: Progress, now: int) -> None:
        """Not looked at."""

    def noticed(self, text: str) -> None:
        """Not looked at."""

    def ended(self) -> None:
        """Not looked at."""


class Throttle:
    """Lets a look through at most once in ``EVERY_MS``, and so seldom that looking takes a fiftieth of the time."""

    def __init__(self) -> None:
        """Let the first one through."""
        self._next = 0

    def lets_through(self, now: int) -> bool:
        """Whether somebody may look at ``now`` (ms)."""
        return now >= self._next

    def looked(self, begun: int, ended: int) -> None:
        """A look began and ended then (ms)."""
        self._next = begun + max(EVERY_MS, (ended - begun) * SHARE)
