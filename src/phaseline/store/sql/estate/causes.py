"""Causes of deployments and executions, and what entries wait for, in a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from phaseline.model.rows.causes import AwaitRow, CausedRow, CauseKey
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.tenant_rows import ALL, TenantRows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.model.rows.causes import AwaitChanges, CauseKind
    from phaseline.store.database.connection import Connect, Connection

_READ = "select made, number, kind, cause, key from cause"
_ADD_AWAIT = """insert into awaiting (execution, graph, position, awaited, tenant, since)
    select ?, ?, ?, ?, tenant, ? from execution where number = ?
    on conflict (execution, graph, position, awaited) do nothing"""
_DROP_AWAIT = "delete from awaiting where execution = ? and graph = ? and position = ? and awaited = ?"
_ADD_BLUEPRINT = """insert into cause (made, number, tenant, kind, cause, key)
    select 'blueprint', number, tenant, ?, ?, ? from stored_blueprint where number = ?"""
Made = Literal["execution", "deployment", "blueprint"]


class SqlCauses:
    """Implements ``model.rows.causes.CauseShelf`` on a database."""

    def __init__(self, reading: Connect, writing: Connect, rows: TenantRows = ALL) -> None:
        """``reading`` and ``writing`` begin transactions."""
        self._reading, self._writing, self._rows = reading, writing, rows

    def caused(self, kind: CauseKind, number: int) -> Sequence[CausedRow]:
        """Return all that a cause has made: deployments, then executions, each sorted by number."""
        return self._found("kind = ? and cause = ? and made <> 'blueprint'", kind, number)

    def of_executions(self, executions: Sequence[int]) -> Sequence[CausedRow]:
        """Return those of the executions that have a cause, sorted by number."""
        return self._of("execution", executions)

    def of_deployments(self, deployments: Sequence[int]) -> Sequence[CausedRow]:
        """Return those of the deployments that have a cause, sorted by number."""
        return self._of("deployment", deployments)

    def of_blueprints(self, blueprints: Sequence[int]) -> Mapping[int, CauseKey]:
        """Return {number of a stored blueprint: its cause} of those of the blueprints that no user has stored."""
        return {row.number: row.cause for row in self._of("blueprint", blueprints)}

    def add_blueprint(self, blueprint: int, cause: CauseKey) -> None:
        """Store the cause of a stored blueprint."""
        with self._writing() as db:
            own = self._rows.own(db, "stored_blueprint", blueprint)
            db.execute(_ADD_BLUEPRINT, (cause.kind, cause.number, cause.key, own))

    def awaiting(self) -> Sequence[AwaitRow]:
        """Return what entries wait for, sorted by execution, graph, position and awaited execution."""
        where, values = self._rows.where("true")
        order = "order by execution, graph, position, awaited"
        with self._reading() as db:
            rows = db.execute(
                f"select execution, graph, position, awaited, since from awaiting where {where} {order}", values
            ).fetchall()
        return [AwaitRow(*row) for row in rows]

    def _of(self, made: Made, numbers: Sequence[int]) -> Sequence[CausedRow]:
        return self._found("made = ? and number in (select value from json_each(?))", made, to_text(list(numbers)))

    def _found(self, condition: str, *chosen: object) -> Sequence[CausedRow]:
        where, values = self._rows.where(condition, *chosen)
        with self._reading() as db:
            rows = db.execute(f"{_READ} where {where} order by made, number", values).fetchall()
        return [
            CausedRow(number, made == "execution", CauseKey(kind, cause, key))
            for made, number, kind, cause, key in rows
        ]


def add_cause(db: Connection, made: Made, number: int, tenant: str, cause: CauseKey) -> None:
    """Store the cause of a new execution or deployment."""
    db.execute(
        "insert into cause (made, number, tenant, kind, cause, key) values (?, ?, ?, ?, ?, ?)",
        (made, number, tenant, cause.kind, cause.number, cause.key),
    )


def write_awaits(db: Connection, changes: AwaitChanges) -> None:
    """Write what entries have begun to wait for, and drop what concerns ended executions."""
    db.executemany(
        _ADD_AWAIT,
        [(row.execution, row.graph, row.position, row.awaited, row.since, row.execution) for row in changes.new],
    )
    db.executemany(_DROP_AWAIT, changes.gone)
    if changes.over:
        over = to_text(list(changes.over))
        chosen = "in (select value from json_each(?))"
        db.execute(f"delete from awaiting where awaited {chosen}", (over,))
        db.execute(f"delete from awaiting where execution {chosen}", (over,))
