"""A clock that stands still until it is told the time."""

from __future__ import annotations


class VirtualClock:
    """``ports.Clock`` for tests: time passes only by ``advance_to``.

    >>> clock = VirtualClock(5)
    >>> clock.advance_to(70)
    >>> clock.now()
    70
    """

    def __init__(self, now: int = 0) -> None:
        """The time in ms."""
        self._now = now

    def now(self) -> int:
        """The time that was told last, in ms."""
        return self._now

    def advance_to(self, at: int) -> None:
        """It is now ``at`` ms, or later if it was later already: a clock never goes back."""
        self._now = max(self._now, at)
