"""Runs over deployment groups in a database (GR3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.groups import NewGroupRun, RunRow
from phaseline.store.database.tenant_rows import ALL, TenantRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from phaseline.model.rows.rows import Actor
    from phaseline.ports.clock import Clock
    from phaseline.store.database.connection import Connect, Connection

_COLUMNS = """number, deployment_group, group_name, workflow, concurrency, stop_failures, is_paused, created_at,
    created_by, tenant"""
_SELECT = f"select {_COLUMNS} from group_run"
_ADD = f"""insert into group_run (tenant, deployment_group, group_name, workflow, concurrency, stop_failures, is_paused,
    created_at, created_by) values (?, ?, ?, ?, ?, ?, 0, ?, ?) returning {_COLUMNS}"""
_STATUSES = """select execution.number, execution.status from cause join execution on execution.number = cause.number
    where cause.kind = 'group' and cause.cause = ? and cause.made = 'execution' order by execution.number"""


class SqlRuns:
    """Implements ``model.rows.group_runs.RunShelf`` on a database."""

    def __init__(self, reading: Connect, writing: Connect, clock: Clock, rows: TenantRows = ALL) -> None:
        """``reading`` and ``writing`` begin transactions, whether or not this process owns the store."""
        self._reading = reading
        self._writing = writing
        self._clock = clock
        self._rows = rows

    def begin(self, new: NewGroupRun, actor: Actor) -> RunRow:
        """Store a run and return its row."""
        by = self._rows.by(actor)
        told = new.group, new.group_name, new.workflow, new.concurrency, new.stop_failures
        with self._writing() as db:
            return _row(db.execute(_ADD, (by.tenant, *told, self._clock.now(), by.name)).fetchone())

    def find(self, number: int) -> RunRow | None:
        """Return the run with this number, or None."""
        with self._reading() as db:
            return self._one(db, number)

    def of(self, group: str = "", limit: int = 1_000) -> Sequence[RunRow]:
        """Return the runs over a group by its name, or all; latest first."""
        condition = ("group_name = ?", group) if group else ("true",)
        where, values = self._rows.where(*condition)
        with self._reading() as db:
            found = db.execute(f"{_SELECT} where {where} order by number desc limit ?", (*values, limit)).fetchall()
        return [_row(one) for one in found]

    def change(self, row: RunRow, *, concurrency: int, is_paused: bool) -> RunRow | None:
        """Change how many executions of a run may be open; return its new row, or None if there is no such run."""
        with self._writing() as db:
            found = self._one(db, row.number)
            if found is None:
                return None
            values = concurrency, int(is_paused), row.number
            db.execute("update group_run set concurrency = ?, is_paused = ? where number = ?", values)
            return altered(found, concurrency=concurrency, is_paused=is_paused)

    def statuses(self, row: RunRow) -> Mapping[int, ExecutionStatus]:
        """Return {number of an execution of the run: its status}, sorted by number."""
        with self._reading() as db:
            if self._one(db, row.number) is None:
                return {}
            found = db.execute(_STATUSES, (row.number,)).fetchall()
        return {number: ExecutionStatus(status) for number, status in found}

    def _one(self, db: Connection, number: int) -> RunRow | None:
        where, values = self._rows.where("number = ?", number)
        found = db.execute(f"{_SELECT} where {where}", values).fetchone()
        return None if found is None else _row(found)


def _row(found: Iterable[Any]) -> RunRow:
    number, group, name, workflow, concurrency, failures, is_paused, *rest = found
    return RunRow(number, group, name, workflow, concurrency, failures, bool(is_paused), *rest)
