"""A clock that changes only when a test sets it."""

from __future__ import annotations


class VirtualClock:
    """``ports.clock.Clock`` for tests: time passes only by ``advance_to``, and is set by ``jump``.

    >>> clock = VirtualClock(5)
    >>> clock.advance_to(70)
    >>> clock.now()
    70
    """

    def __init__(self, now: int = 0) -> None:
        """The time in ms."""
        self._now = now

    def now(self) -> int:
        """Return the time that was set last, in ms."""
        return self._now

    def advance_to(self, at: int) -> None:
        """It is now ``at`` ms, or later if it was later already: a clock never goes back."""
        self._now = max(self._now, at)

    def jump(self, by_ms: int) -> None:
        """Set the clock of the machine forward or back: processes that begin from now on see the new time.

        A running process does not notice it (it counts from the time at its start): call this between two processes.

        >>> clock = VirtualClock(5_000)
        >>> clock.jump(-3_000)
        >>> clock.now()
        2000
        """
        self._now = max(0, self._now + by_ms)
