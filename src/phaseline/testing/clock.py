"""A clock that stands still until it is told the time."""

from __future__ import annotations


class VirtualClock:
    """``ports.Clock`` for tests: time passes only by ``advance_to``, and is set by ``jump``.

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

    def jump(self, by_ms: int) -> None:
        """Somebody sets the clock of the machine: processes that begin from now on find it so much later, or earlier.

        A process that runs does not notice (it counts from the time at its start): do this between two of them.

        >>> clock = VirtualClock(5_000)
        >>> clock.jump(-3_000)
        >>> clock.now()
        2000
        """
        self._now = max(0, self._now + by_ms)
