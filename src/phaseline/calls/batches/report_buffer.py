"""Collects outcomes and log lines of calls, and posts them as reports: every 10 ms, at 1,000, or at a batch's end."""

from __future__ import annotations

import threading
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.protocol.reports import NO_DELAYS, NO_KINDS, NO_MEMBERS, POST_AT, POST_EVERY_MS, CallReport
from phaseline.calls.threads.timer_thread import Alarms
from phaseline.lang.fast_dataclasses import mutable
from phaseline.model.graph.status import OutcomeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from phaseline.calls.batches.batch_handover import BatchHandover
    from phaseline.calls.protocol.call import Outcome
    from phaseline.calls.threads.inbox import Inbox
    from phaseline.model.rows.follow_ups import FollowUp
    from phaseline.model.rows.rows import DocumentChange, EntryRemark, LogLine


@mutable
class BufferedReports:
    """Results of one batch that have not been posted yet."""

    members: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    delays: list[int] = field(default_factory=list)
    documents: list[tuple[int, DocumentChange]] = field(default_factory=list)
    remarks: list[tuple[int, EntryRemark]] = field(default_factory=list)
    logs: list[LogLine] = field(default_factory=list)
    follow_ups: list[tuple[int, FollowUp]] = field(default_factory=list)
    told: dict[int, EntryRemark] = field(default_factory=dict)
    """Progress of members whose calls still run: {member: remark}."""

    def reports(self, batch: int) -> Iterator[CallReport]:
        """Yield the reports of a batch: first of running calls, then of ended ones."""
        if self.told:
            members = np.array(list(self.told), np.int32)
            kinds = np.full(len(members), OutcomeKind.PENDING, np.uint8)
            delays = np.full(len(members), -1, np.int64)
            yield CallReport(batch, members, kinds, delays, remarks=list(self.told.items()))
        if self.members or self.documents or self.remarks or self.logs:
            yield self._report(batch)

    def _report(self, batch: int) -> CallReport:
        if not self.members:
            return CallReport(batch, NO_MEMBERS, NO_KINDS, NO_DELAYS, self.documents, self.remarks, self.logs)
        return CallReport(
            batch,
            np.array(self.members, np.int32),
            np.array(self.kinds, np.uint8),
            np.array(self.delays, np.int64),
            self.documents,
            self.remarks,
            self.logs,
            follow_ups=self.follow_ups,
        )


class ReportBuffer:
    """Collects and posts the reports of one executor. The executor also uses the timer ``alarms`` of this object."""

    def __init__(self, inbox: Inbox[CallReport]) -> None:
        """Start no thread yet."""
        self.inbox = inbox
        self._waiting: dict[BatchHandover, BufferedReports] = {}
        self._lock = threading.Lock()
        self._is_set = False
        self.alarms = Alarms(inbox.fail)

    def outcome(
        self,
        handover: BatchHandover,
        member: int,
        outcome: Outcome,
        documents: Sequence[tuple[int, DocumentChange]] = (),
        remark: EntryRemark | None = None,
    ) -> None:
        """Add the outcome of one member and its ``remark``, which is stored with its entry.

        ``documents``: (member, change of runtime properties). If the member has an outcome already, add only these.
        """
        with self._lock:
            gathered = self._waiting.get(handover)
            if gathered is None:
                gathered = self._waiting[handover] = BufferedReports()
            if documents:
                gathered.documents.extend(documents)
            if not handover.answered[member]:
                handover.answered[member] = 1
                handover.left -= 1
                gathered.members.append(member)
                gathered.kinds.append(outcome.kind)
                gathered.delays.append(outcome.delay_ms)
                if remark is not None:
                    gathered.remarks.append((member, remark))
                if outcome.follow_up is not None:
                    gathered.follow_ups.append((member, outcome.follow_up))
                if not handover.left:
                    self._post(handover, self.inbox.leave)
                    return
                if len(gathered.members) >= POST_AT:
                    self._post(handover)
                    return
            self._see_to_it()

    def outcomes(self, handover: BatchHandover, report: CallReport, *, is_last: bool = False) -> None:
        """Post the outcomes of many members at once. For members that have an outcome already, post only the documents.

        ``is_last`` means that the calling thread has nothing else to do for this batch.
        """
        with self._lock:
            fresh = handover.claim(report.members)
            if handover in self._waiting:
                self._post(handover)
            put = self.inbox.leave if is_last else self.inbox.post
            put(report if len(fresh) == len(report.members) else _only(report, fresh))

    def fail(self, error: BaseException) -> None:
        """Report to the loop that one of the engine's own threads has failed."""
        self.inbox.fail(error)

    def note(
        self, handover: BatchHandover, member: int, documents: Sequence[tuple[int, DocumentChange]]
    ) -> threading.Event:
        """Post data of a member whose call still runs. Return an event that is set when the data is committed."""
        stored = threading.Event()
        report = CallReport(
            handover.batch.id,
            np.array([member], np.int32),
            np.array([OutcomeKind.PENDING], np.uint8),
            np.array([-1], np.int64),
            documents,
            on_commit=stored.set,
        )
        self.inbox.post(report)
        return stored

    def data(self, report: CallReport) -> None:
        """Post documents of members that have no outcome yet."""
        if report.documents:
            self.inbox.post(report)

    def log(self, handover: BatchHandover, line: LogLine) -> None:
        """Add one log line."""
        with self._lock:
            self._gathered(handover).logs.append(line)

    def tell(self, handover: BatchHandover, member: int, remark: EntryRemark) -> None:
        """Add the progress of a member whose call still runs; ignore it if the member has an outcome."""
        with self._lock:
            if not handover.answered[member]:
                self._gathered(handover).told[member] = remark

    def flush(self) -> None:
        """Post everything collected."""
        with self._lock:
            self._is_set = False
            for handover in list(self._waiting):
                self._post(handover)

    def stop(self) -> None:
        """Post everything collected, and end the thread of the timer."""
        self.alarms.stop()
        self.flush()

    def _gathered(self, handover: BatchHandover) -> BufferedReports:
        """Return the collected results of a batch. The caller of this and all methods below holds the lock."""
        self._see_to_it()
        return self._waiting.setdefault(handover, BufferedReports())

    def _see_to_it(self) -> None:
        """Set the timer that posts collected results after 10 ms, so that several are posted together."""
        if not self._is_set:
            self._is_set = True
            self.alarms.set(POST_EVERY_MS / 1000, self.flush)

    def _post(self, handover: BatchHandover, put: Callable[[CallReport], None] | None = None) -> None:
        for report in self._waiting.pop(handover).reports(handover.batch.id):
            (put or self.inbox.post)(report)


def _only(report: CallReport, fresh: np.ndarray) -> CallReport:
    """Return the report with the outcomes of these members only, but all documents."""
    kept = np.isin(report.members, fresh)
    members = set(fresh.tolist())
    return CallReport(
        report.batch,
        report.members[kept],
        report.kinds[kept],
        report.delays[kept],
        report.documents,
        [(member, remark) for member, remark in report.remarks if member in members],
        report.logs,
        follow_ups=[(member, made) for member, made in report.follow_ups if member in members],
    )
