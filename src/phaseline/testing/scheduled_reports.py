"""An executor without plugins: the reports of made-up calls arrive at their times on a virtual clock."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Protocol

    from phaseline.calls.protocol.reports import CallReport
    from phaseline.calls.threads.inbox import Inbox
    from phaseline.model.execution.events import Batch
    from phaseline.model.graph.batch_members import GraphSegment
    from phaseline.model.rows.rows import BatchRow
    from phaseline.testing.clock import VirtualClock

    class Answers(Protocol):
        """Decides which reports an executor gives, and when."""

        slots: Mapping[str, int]

        def to(self, batch: Batch) -> Iterable[tuple[int, CallReport]]:
            """Return [(ms until it arrives, report)] of the answers to a batch."""

        def when_killed(self, batch: int, members: np.ndarray) -> CallReport | None:
            """Return the immediate report of killed calls, or None if there is none."""


class Coming:
    """Reports that will arrive, the earliest first; reports of equal time are in the order in which they were added."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self._heap: list[tuple[int, int, CallReport]] = []
        self._count = 0

    def __bool__(self) -> bool:
        """Return True while reports are pending."""
        return bool(self._heap)

    @property
    def next_at(self) -> int | None:
        """Time of the next report in ms, or None if there is none."""
        return self._heap[0][0] if self._heap else None

    def add(self, after_ms: int, report: CallReport) -> None:
        """Add a report that arrives ``after_ms`` from now."""
        self._count += 1
        heapq.heappush(self._heap, (self._clock.now() + after_ms, self._count, report))

    def arrived(self) -> Iterator[CallReport]:
        """Remove and return the reports whose time has come."""
        now = self._clock.now()
        while self._heap and self._heap[0][0] <= now:
            yield heapq.heappop(self._heap)[2]

    def drop(self, batch: int, members: np.ndarray) -> None:
        """Remove these members from the pending reports, and drop reports that have no other members."""
        left = [
            (at, number, report.of(~np.isin(report.members, members)) if report.batch == batch else report)
            for at, number, report in self._heap
        ]
        self._heap = [entry for entry in left if len(entry[2].members)]
        heapq.heapify(self._heap)

    def clear(self) -> None:
        """Drop all pending reports."""
        self._heap = []


class ScheduledExecutor:
    """A ``ports.executor.Executor`` that makes no calls; their reports arrive at given times."""

    def __init__(self, inbox: Inbox[CallReport], clock: VirtualClock, answers: Answers) -> None:
        self._inbox, self._answers = inbox, answers
        self._coming = Coming(clock)

    def slots(self) -> Mapping[str, int]:
        """Return {pool: number of calls that it can carry out at once}."""
        return self._answers.slots

    def submit(self, batch: Batch) -> None:
        """Begin the calls of a batch: schedule the reports of their answers."""
        for after_ms, report in self._answers.to(batch):
            self._coming.add(after_ms, report)

    @property
    def next_at(self) -> int | None:
        """Time of the next report in ms, or None if there is none."""
        return self._coming.next_at

    def deliver(self) -> None:
        """Deliver the reports that are due. If there are none, wake the loop, so that it never waits in real time."""
        arrived = list(self._coming.arrived())
        for report in arrived:
            self._inbox.post(report)
        if not arrived:
            self._inbox.wake()

    def cancel(self, batch: int, members: np.ndarray, *, kill: bool) -> None:
        """Cancel calls. Without ``kill``, nothing happens and they end as usual.

        Killed calls report nothing more, except what ``when_killed`` returns, which arrives at once.
        """
        if kill:
            self._coming.drop(batch, members)
            ended = self._answers.when_killed(batch, members)
            if ended is not None:
                self._coming.add(0, ended)

    def recover(self, open_batches: Sequence[BatchRow]) -> Collection[int]:
        """Return no batch: no call survives the engine."""
        del open_batches
        return ()

    def hold(self) -> None:
        """Do nothing: calls begin as soon as they are handed over."""

    def release(self) -> None:
        """Do nothing: no calls are held back."""

    def is_busy(self) -> bool:
        """Return True while reports are pending."""
        return bool(self._coming)

    def stop(self, drain_s: float) -> None:
        """Nothing answers any more, however long one waits."""
        del drain_s
        self._coming.clear()


def members_of(batch: Batch) -> Iterator[tuple[int, GraphSegment, int]]:
    """Yield (number of the member, its segment, its index in the segment) in order."""
    member = 0
    for segment in batch.segments:
        for place in range(len(segment.positions)):
            yield member, segment, place
            member += 1
