"""The clock of a process."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Time as integer milliseconds: wall clock at start plus monotonic since, so it never goes back."""

    def now(self) -> int:
        """Milliseconds since the epoch."""
        ...
