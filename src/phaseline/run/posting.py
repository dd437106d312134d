"""Gathers outcomes and log lines of calls, and posts them as reports: every 10 ms, at 1,000, or when a batch is done."""

from __future__ import annotations

import heapq
import threading
import time
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.frozen import changeable
from phaseline.model.status import OutcomeKind
from phaseline.run.reports import NO_DELAYS, NO_KINDS, NO_MEMBERS, POST_AT, POST_EVERY_MS, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from phaseline.model.rows import DocumentChange, LogLine, Remark
    from phaseline.run.calling import Outcome
    from phaseline.run.handover import HandOver
    from phaseline.run.inbox import Inbox


@changeable
class Gathered:
    """What waits to be posted of one batch."""

    members: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    delays: list[int] = field(default_factory=list)
    documents: list[tuple[int, DocumentChange]] = field(default_factory=list)
    remarks: list[tuple[int, Remark]] = field(default_factory=list)
    logs: list[LogLine] = field(default_factory=list)
    told: dict[int, Remark] = field(default_factory=dict)
    """How far members are whose calls go on."""

    def reports(self, batch: int) -> Iterator[Report]:
        """Everything: what goes on before what has ended."""
        if self.told:
            members = np.array(list(self.told), np.int32)
            kinds = np.full(len(members), OutcomeKind.PENDING, np.uint8)
            delays = np.full(len(members), -1, np.int64)
            yield Report(batch, members, kinds, delays, remarks=list(self.told.items()))
        if self.members or self.documents or self.remarks or self.logs:
            yield self._report(batch)

    def _report(self, batch: int) -> Report:
        if not self.members:
            return Report(batch, NO_MEMBERS, NO_KINDS, NO_DELAYS, self.documents, self.remarks, self.logs)
        return Report(
            batch,
            np.array(self.members, np.int32),
            np.array(self.kinds, np.uint8),
            np.array(self.delays, np.int64),
            self.documents,
            self.remarks,
            self.logs,
        )


class Poster:
    """Posts for one executor. Its thread also watches the clock: it calls back what is due at a time."""

    def __init__(self, reports: Inbox[Report]) -> None:
        """The thread is started when there is something for it."""
        self._reports = reports
        self._waiting: dict[HandOver, Gathered] = {}
        self._lock = threading.Lock()
        self._stir = threading.Condition(self._lock)
        self._alarms: list[tuple[float, int, Callable[[], None]]] = []
        self._alarm_count = 0
        self._is_stopped = False
        self._thread: threading.Thread | None = None

    def outcome(
        self,
        handover: HandOver,
        member: int,
        outcome: Outcome,
        documents: Sequence[tuple[int, DocumentChange]] = (),
        remark: Remark | None = None,
    ) -> bool:
        """Gather the outcome of one member; False if it had one already, then only its documents are kept."""
        with self._lock:
            gathered = self._gathered(handover)
            if documents:
                gathered.documents.extend(documents)
            if handover.answered[member]:
                return False
            handover.answered[member] = 1
            handover.left -= 1
            gathered.members.append(member)
            gathered.kinds.append(outcome.kind)
            gathered.delays.append(outcome.delay_ms)
            if remark is not None:
                gathered.remarks.append((member, remark))
            if handover.left and len(gathered.members) < POST_AT:
                return True
            del self._waiting[handover]
        self._post(handover, gathered)
        return True

    def outcomes(self, handover: HandOver, report: Report) -> None:
        """Post the outcomes of many members at once; of those that had one already only the documents are kept."""
        with self._lock:
            fresh = handover.claim(report.members)
            gathered = self._waiting.pop(handover, None)
        if gathered is not None:
            self._post(handover, gathered)
        if len(fresh) < len(report.members):
            report = _only(report, fresh)
        self._reports.post(report)

    def fail(self, error: BaseException) -> None:
        """A thread of ours broke: let the loop hear of it."""
        self._reports.fail(error)

    def note(self, handover: HandOver, member: int, documents: Sequence[tuple[int, DocumentChange]]) -> threading.Event:
        """Post data of a member whose call goes on; what is given back is set when they are committed."""
        stored = threading.Event()
        report = Report(
            handover.batch.id,
            np.array([member], np.int32),
            np.array([OutcomeKind.PENDING], np.uint8),
            np.array([-1], np.int64),
            documents,
            on_commit=stored.set,
        )
        self._reports.post(report)
        return stored

    def data(self, report: Report) -> None:
        """Post what members brought that have no outcome yet."""
        if report.documents:
            self._reports.post(report)

    def log(self, handover: HandOver, line: LogLine) -> None:
        """Gather one line."""
        with self._lock:
            self._gathered(handover).logs.append(line)

    def tell(self, handover: HandOver, member: int, remark: Remark) -> None:
        """Gather how far a member is whose call goes on; of one that has an outcome it is too late."""
        with self._lock:
            if not handover.answered[member]:
                self._gathered(handover).told[member] = remark

    def alarm(self, after_s: float, ring: Callable[[], None]) -> None:
        """Call ``ring`` in the poster's thread after so many seconds."""
        with self._stir:
            self._alarm_count += 1
            heapq.heappush(self._alarms, (time.monotonic() + after_s, self._alarm_count, ring))
            self._wake()

    def _gathered(self, handover: HandOver) -> Gathered:
        gathered = self._waiting.get(handover)
        if gathered is None:
            gathered = self._waiting[handover] = Gathered()
            if len(self._waiting) == 1:
                self._wake()
        return gathered

    def _wake(self) -> None:
        """Let the thread look, which begins with the first that there is to do. Under the lock."""
        if self._thread is None and not self._is_stopped:
            self._thread = threading.Thread(target=self._run, name="phaseline-poster", daemon=True)
            self._thread.start()
        else:
            self._stir.notify()

    def flush(self) -> None:
        """Post everything that waits."""
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        for handover, gathered in waiting.items():
            self._post(handover, gathered)

    def _post(self, handover: HandOver, gathered: Gathered) -> None:
        for report in gathered.reports(handover.batch.id):
            self._reports.post(report)

    def stop(self) -> None:
        """Post everything and end the thread."""
        with self._stir:
            self._is_stopped = True
            self._stir.notify()
        if self._thread is not None:
            self._thread.join()
        self.flush()

    def _run(self) -> None:
        try:
            while self._wait():
                self.flush()
                self._ring()
        except BaseException as error:
            self._reports.fail(error)
            raise

    def _wait(self) -> bool:
        """Sleep until there is something and it had 10 ms to gather company, or an alarm is due; False when stopped."""
        with self._stir:
            while not self._is_stopped and not self._waiting:
                due = self._alarms[0][0] - time.monotonic() if self._alarms else None
                if due is not None and due <= 0:
                    return True
                self._stir.wait(due)
            self._stir.wait_for(lambda: self._is_stopped, POST_EVERY_MS / 1000)
            return not self._is_stopped

    def _ring(self) -> None:
        while True:
            with self._lock:
                if not self._alarms or self._alarms[0][0] > time.monotonic():
                    return
                ring = heapq.heappop(self._alarms)[2]
            ring()


def _only(report: Report, fresh: np.ndarray) -> Report:
    """The report with the outcomes of only these members; documents of all."""
    kept = np.isin(report.members, fresh)
    members = set(fresh.tolist())
    return Report(
        report.batch,
        report.members[kept],
        report.kinds[kept],
        report.delays[kept],
        report.documents,
        [(member, remark) for member, remark in report.remarks if member in members],
        report.logs,
    )
