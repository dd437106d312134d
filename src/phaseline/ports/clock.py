"""Protocol of the clock that a process uses."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Clock in integer milliseconds: wall time at its start plus monotonic time since, so it never goes back."""

    def now(self) -> int:
        """Return the current time in milliseconds since 1970."""
        ...
