"""A clock that changes only when a test sets it."""

from __future__ import annotations


class VirtualClock:
    """A ``ports.clock.Clock`` for tests: time changes only by ``advance_to`` and ``jump``."""

    def __init__(self, now: int = 0) -> None:
        """The time in ms."""
        self._now = now

    def now(self) -> int:
        """Return the time that was set last, in ms."""
        return self._now

    def advance_to(self, at: int) -> None:
        """Set the time to ``at`` (ms), unless it is later already: a clock never goes back."""
        self._now = max(self._now, at)

    def jump(self, by_ms: int) -> None:
        """Set the machine's clock forward or back by ``by_ms``; only processes that start later see the new time.

        A running process counts from the time of its start and does not notice the jump; call this between two processes.
        """
        self._now = max(0, self._now + by_ms)
