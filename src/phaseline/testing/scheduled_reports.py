"""Reports of made-up calls that wait for their time on a virtual clock."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from phaseline.calls.protocol.reports import CallReport
    from phaseline.testing.clock import VirtualClock


class Coming:
    """The earliest first, those of one moment in the order in which they were added."""

    def __init__(self, clock: VirtualClock) -> None:
        """None will come."""
        self._clock = clock
        self._heap: list[tuple[int, int, CallReport]] = []
        self._count = 0

    def __bool__(self) -> bool:
        """True while one will come."""
        return bool(self._heap)

    @property
    def next_at(self) -> int | None:
        """When the next one comes, in ms; None: none will."""
        return self._heap[0][0] if self._heap else None

    def add(self, after_ms: int, report: CallReport) -> None:
        """It comes so much later than now."""
        self._count += 1
        heapq.heappush(self._heap, (self._clock.now() + after_ms, self._count, report))

    def arrived(self) -> Iterator[CallReport]:
        """Those whose time has come; they are taken out."""
        now = self._clock.now()
        while self._heap and self._heap[0][0] <= now:
            yield heapq.heappop(self._heap)[2]

    def drop(self, batch: int, members: np.ndarray) -> None:
        """Nothing comes any more of these members; a report that says nothing else is gone."""
        left = [
            (at, number, report.of(~np.isin(report.members, members)) if report.batch == batch else report)
            for at, number, report in self._heap
        ]
        self._heap = [entry for entry in left if len(entry[2].members)]
        heapq.heapify(self._heap)

    def clear(self) -> None:
        """Nothing comes any more."""
        self._heap = []
