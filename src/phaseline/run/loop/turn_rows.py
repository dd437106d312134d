"""The rows that a turn stores for the results of calls, sorted by whether the scheduler accepted them."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.protocol.mask_before_storing import protected
from phaseline.lang.arrays import some
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution.pre_post import HOOKS
from phaseline.model.graph.status import EntryStatus, OutcomeKind
from phaseline.model.rows.rows import NOTHING, NOTHING_WRITTEN, EntryRemark, EventRow, LogLine, TurnPayload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from phaseline.calls.protocol.reports import CallReport
    from phaseline.model.execution.events import Accepted, Batch
    from phaseline.model.execution.execution import Request
    from phaseline.model.graph.batch_members import GraphSegment
    from phaseline.model.health.checks import NewCheckResults
    from phaseline.model.rows.causes import AwaitChanges
    from phaseline.model.rows.rows import DocumentChange, Metric, PlannerWrites, RequestAnswer, Reshaped
    from phaseline.ports.secrets import SecretSource

ASKED_AGAIN = "OperationRetry"
"""The type of error by which an operation asks to be called again, which is not a failure."""
TOLD_OTHERWISE = (ASKED_AGAIN, "ProcessException")
"""Types of errors whose traceback is not logged: of a request to be called again, and of a script that failed.

The output of the script is in the log already.
"""
TRACES_TOLD = 10
"""The most copies of one traceback that are logged for a report."""
GIVEN_UP = (EntryStatus.CANCELED, EntryStatus.UNSURE)
"""Statuses of entries whose call was given up; a late answer of such a call is still stored on the instance."""

RETRY = int(OutcomeKind.RETRY)
FAILS = np.array([kind in {OutcomeKind.FAILED, OutcomeKind.RETRY} for kind in OutcomeKind], bool)
"""[outcome] True if the outcome gets an event in the execution's history: failed, or to be tried again."""


def _in_full(trace: str) -> list[tuple[str, str]]:
    """Return a traceback as log lines (level, line)."""
    return [("error", line) for line in trace.splitlines()]


def _refusal(message: str, error: Mapping[str, str]) -> list[tuple[str, str]]:
    r"""Return log lines (level, line) for a refusal by a hook class; its traceback gets the level debug.

    >>> _refusal("no room", {"type": "ValueError", "traceback": "Traceback ...\n  at a"})
    [('debug', 'Traceback ...'), ('debug', '  at a'), ('error', 'ValueError: no room')]
    """
    said = " ".join(message.split())
    kind = error.get("type", "")
    frames = [("debug", line) for line in error.get("traceback", "").splitlines()]
    return [*frames, ("error", f"{kind}: {said}" if kind else said)]


@frozen
class BatchOrigin:
    """The executions that the members of a batch belong to. This is all that is kept of an answered batch.

    ``ends`` has the index after the last member of each segment, ``executions`` the execution of each segment.
    """

    phase: str
    ends: tuple[int, ...]
    executions: tuple[int, ...]

    @classmethod
    def of(cls, batch: Batch) -> BatchOrigin:
        """Return the origin of a batch's members."""
        return cls(batch.lane.phase, batch.members.ends, batch.members.executions)

    def execution_of(self, member: int) -> int | None:
        """Return the execution of a member, or None if the batch has no such member."""
        return self.executions[bisect_right(self.ends, member)] if 0 <= member < self.ends[-1] else None


class Sorter:
    """Collects the rows that a turn stores for its reports."""

    def __init__(self, now: int, secrets: SecretSource) -> None:
        self._now = now
        self._secrets = secrets
        self.documents: list[DocumentChange] = []
        self.remarks: list[EntryRemark] = []
        self.logs: list[LogLine] = []
        self.events: list[EventRow] = []
        self.checks: list[NewCheckResults] = []
        self.measures: Sequence[Metric] = ()

    def take(
        self, report: CallReport, accepted: Accepted | None, origin: BatchOrigin | None, given_up: set[int]
    ) -> None:
        """Collect the data that a report brings.

        Data of a member that the scheduler rejected changes no entry; an event of its execution (in ``origin``)
        records it. ``given_up`` has the members that were rejected because their calls had been given up: their data is
        stored on the instance as well, and so is data that arrives after the outcome of its member.
        """
        self.logs.extend(report.logs)
        if not report.documents and not report.remarks:
            return
        refused = set() if accepted is None else set(accepted.rejected.tolist())
        answered = set(report.members.tolist())
        for member, change in report.documents:
            if member not in refused or member in given_up:
                self.documents.append(change)
            if member in refused or member not in answered:
                self._late(origin, member, change)
        self.remarks.extend(remark for member, remark in report.remarks if member not in refused)

    def keep(self, kept: EntryRemark | DocumentChange, event: EventRow) -> None:
        """Add a signal together with its event."""
        if isinstance(kept, EntryRemark):
            self.remarks.append(kept)
        else:
            self.documents.append(kept)
        self.events.append(event)

    def _late(self, origin: BatchOrigin | None, member: int, change: DocumentChange) -> None:
        execution = origin.execution_of(member) if origin is not None else None
        if origin is None or execution is None:
            return  # of a batch that this engine never had: its execution is unknown
        text = f"A call that was given up before {_brought(change)}"
        self.events.append(
            EventRow(execution, self._now, "late_result", text, instance=change.instance, operation=origin.phase)
        )

    def failures(
        self,
        batch: Batch,
        report: CallReport,
        accepted: Accepted | None,
        instance_of: Callable[[GraphSegment, int], int],
    ) -> None:
        """Add an event with its message for each accepted member that failed or is tried again, and log its traceback.

        A traceback that many members share is logged ``TRACES_TOLD`` times at most. ``instance_of`` (segment, place)
        returns the instance of a member.
        """
        if len(report.kinds) == 1 and not FAILS.item(report.kinds.item()):
            return
        told = FAILS[report.kinds]
        if not some(told):
            return
        refused = set() if accepted is None else set(accepted.rejected.tolist())
        remarks = dict(report.remarks)
        traces: Counter[str] = Counter()
        for at in told.nonzero()[0].tolist():
            member = int(report.members[at])
            if member in refused:
                continue
            segment, place = batch.members.place_of(member)
            remark, instance = remarks.get(member), instance_of(segment, place)
            error = remark.error if remark is not None else {}
            is_asked = report.kinds[at] == RETRY and error.get("type") == ASKED_AGAIN
            kind = "task_rescheduled" if is_asked else "task_failed"
            text = remark.message if remark is not None else ""
            self.events.append(EventRow(segment.execution, self._now, kind, text, instance, batch.lane.phase))
            trace = "" if error.get("type") in TOLD_OTHERWISE else error.get("traceback", "")
            traces[trace] += 1
            lines = _refusal(text, error) if batch.lane.phase.startswith(HOOKS) else _in_full(trace)
            if lines and traces[trace] <= TRACES_TOLD:
                self.logs.extend(
                    LogLine(segment.execution, self._now, level, line, instance, batch.lane.phase)
                    for level, line in lines
                )

    def payload(
        self,
        events: Iterable[EventRow],
        answers: Sequence[RequestAnswer] = (),
        requests: Mapping[int, Request] | None = None,
        reshaped: Sequence[Reshaped] = (),
        written: PlannerWrites = NOTHING_WRITTEN,
        awaits: AwaitChanges | None = None,
    ) -> TurnPayload:
        """Return all collected rows and the given ones, as what the turn stores; secrets are masked or encrypted."""
        rows: Sequence[EventRow] = (*self.events, *events, *written.events)
        others = (
            answers or requests or reshaped or written is not NOTHING_WRITTEN or self.checks or self.measures or awaits
        )
        if not (others or rows or self.documents or self.remarks or self.logs):
            return NOTHING
        gathered = (tuple(self.documents), tuple(self.remarks), tuple(self.logs), rows)
        payload = TurnPayload(
            *gathered, answers, requests or {}, (*self.checks, *written.checks), self.measures, reshaped, written,
            awaits,
        )  # fmt: skip
        return protected(payload, self._secrets) if self._secrets.guards else payload


def _brought(change: DocumentChange) -> str:
    """Return the result of a late call as text; mostly a killed call has changed nothing."""
    data = {".".join(path): value for path, value in change.written.items()}
    said = [f"returned: {json.dumps(data, default=str)}"] if data else []
    if change.removed:
        said.append(f"removed {', '.join('.'.join(path) for path in change.removed)}")
    return " and ".join(said) or "has ended and changed nothing"
