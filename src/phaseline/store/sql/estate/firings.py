"""What schedules start, in a database: what is due, and the one transaction in which it begins (SC6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.schedule_runs import DueSchedule, Firing, NewRun
from phaseline.store.codec.json_documents import to_text
from phaseline.store.sql import deployments as writes
from phaseline.store.sql import requests as asking
from phaseline.store.sql.estate.schedules import SELECT, schedule_rows
from phaseline.store.sql.stored_plans import add_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.store.database.connection import Connect, Connection

_DUE = f"{SELECT} where is_enabled = 1 and next_at between 0 and ? order by next_at, number limit ?"
_LAST = """select run.schedule, execution.status, exists (
        select 1 from schedule_run off where off.schedule = run.schedule and off.outcome = 'disabled' and off.due > run.due)
    from schedule_run run join execution on execution.number = run.execution
    where run.schedule in (select value from json_each(?)) and run.execution > 0 and run.due = (
        select max(due) from schedule_run one where one.schedule = run.schedule and one.execution > 0)"""
_RUN = """insert into schedule_run (schedule, due, last_due, count, fired_at, execution, outcome, reason)
    values (?, ?, ?, ?, ?, 0, ?, ?) on conflict (schedule, due) do nothing"""
_FIRED = "update schedule_run set execution = ?, outcome = ?, reason = ? where schedule = ? and due = ?"
_AFTER = "update schedule set next_at = ?, last_at = ?, is_enabled = ?, reason = ? where number = ?"


class SqlFirings:
    """Implements ``model.rows.schedule_runs.FiringShelf`` on a database."""

    def __init__(self, reading: Connect, owned: Connect) -> None:
        """``reading`` begins a transaction that reads, ``owned`` one of the owner, refused to all others."""
        self._reading, self._owned = reading, owned

    def next_at(self) -> int | None:
        """Return the smallest ``next_at`` of enabled schedules, or None."""
        with self._reading() as db:
            return asking.next_schedule_at(db)

    def due(self, now: int, limit: int) -> Sequence[DueSchedule]:
        """Return enabled schedules that are due at ``now``, with how the execution is that each has started last."""
        with self._reading() as db:
            rows = schedule_rows(db.execute(_DUE, (now, limit)))
            last = db.execute(_LAST, (to_text([row.number for row in rows]),)).fetchall() if rows else ()
        found = {number: (ExecutionStatus(status), is_known) for number, status, is_known in last}
        return [
            DueSchedule(row, *standing(*found[row.number])) if row.number in found else DueSchedule(row) for row in rows
        ]

    def fire(self, firings: Sequence[Firing], now: int) -> Sequence[ExecutionRow]:
        """Store the firings in one transaction, and return the executions that begin."""
        begun: list[ExecutionRow] = []
        with self._owned() as db:
            for firing in firings:
                number = firing.row.number
                found = schedule_rows(db.execute(f"{SELECT} where number = ?", (number,)))
                if not found or found[0] != firing.row:
                    continue
                for run in firing.runs:
                    values = (run.due, run.last_due, run.count, now, run.outcome, run.reason)
                    if db.execute(_RUN, (number, *values)).rowcount == 1:
                        begun += _begun(db, number, run)
                db.execute(
                    _AFTER,
                    (
                        firing.next_at,
                        firing.last_at,
                        int(firing.is_enabled),
                        firing.reason or firing.row.reason,
                        number,
                    ),
                )
        return begun


def standing(status: ExecutionStatus, is_known: object) -> tuple[bool, bool]:
    """Return (is it open, is it a failure for which the schedule is to be disabled) of the last execution of a schedule.

    >>> standing(ExecutionStatus.ATTENTION, False), standing(ExecutionStatus.FAILED, True)
    ((True, True), (False, False))
    """
    has_failed = status in {ExecutionStatus.FAILED, ExecutionStatus.ATTENTION}
    return not status.is_ended, has_failed and not is_known


def _begun(db: Connection, schedule: int, run: NewRun) -> list[ExecutionRow]:
    """Store what a run begins: an execution, which is returned, or a plan."""
    rows: list[ExecutionRow] = []
    made: tuple[int, str, str] | None = None
    try:
        if run.execution is not None:
            new = run.execution
            rows = [writes.add_execution(db, new, new.deployment, asks=False, beside=lambda _row: True)]
            made = rows[0].number, run.outcome, run.reason
        elif run.plan is not None:
            made = 0, run.outcome, f"plan-{add_plan(db, run.plan, '')}"
    except ProblemsError as error:
        made = 0, "refused", str(error.problems[0])
    if made is not None:
        db.execute(_FIRED, (*made, schedule, run.due))
    return rows
