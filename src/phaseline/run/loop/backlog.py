"""Reports that have come and are not yet handled, because one turn takes only a limited number of outcomes."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from phaseline.calls.protocol.reports import CallReport
    from phaseline.run.loop.open_batches import OpenBatches

TURN_ENTRIES = 10_000
"""Number of entries after which a turn takes no more outcomes; the rest waits for the next turn."""


class Backlog:
    """Reports in the order in which they came."""

    def __init__(self, outstanding: OpenBatches) -> None:
        """Start empty. ``outstanding`` knows which members a report may have."""
        self._outstanding = outstanding
        self._reports: deque[CallReport] = deque()

    def __bool__(self) -> bool:
        """Return True if reports wait for the next turn."""
        return bool(self._reports)

    def take(self, new: Iterable[CallReport]) -> list[CallReport]:
        """Add new reports; remove and return the oldest ones, as many as one turn handles."""
        self._reports.extend(new)
        taken: list[CallReport] = []
        room = TURN_ENTRIES
        while self._reports and room > 0:
            report = self._reports.popleft()
            taken.append(self._outstanding.only_members(report))
            room -= len(report.members)
        return taken
