"""Schedules of deployments, in SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.schedule_runs import ScheduleRun
from phaseline.model.rows.schedules import NOT_COMPUTED, NewSchedule, ScheduleRow, schedule_sync
from phaseline.model.schedules.schedule_spec import ScheduleSpec, blueprint_schedules, spec_from_json, spec_to_json
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.tenant_rows import ALL, TenantRows
from phaseline.store.sql import errors as failures

if TYPE_CHECKING:
    from phaseline.model.rows.rows import Actor
    from phaseline.ports.clock import Clock
    from phaseline.store.database.connection import Connect, Connection

_COLUMNS = """number, deployment, name, spec, origin, is_enabled, switched_by, reason, next_at, last_at, revision,
    changed_by, created_at, created_by, tenant"""
SELECT = f"select {_COLUMNS} from schedule"
"""Begin of a statement whose rows ``schedule_rows`` reads."""
_ADD = f"""insert into schedule (tenant, deployment, deployment_group, name, spec, origin, is_enabled, switched_by, reason,
    next_at, last_at, revision, changed_by, created_at, created_by)
    values (?, ?, '', ?, ?, ?, ?, '', '', ?, 0, 0, '', ?, ?)
    returning {_COLUMNS}"""
_HISTORY = """select due, last_due, count, fired_at, execution, outcome, reason from schedule_run
    where schedule = ? order by due desc limit ?"""
_MISSED = """select coalesce(sum(run.count), 0) from schedule_run run
    where run.outcome = 'missed' and run.schedule in (select number from schedule where {where}) and run.due > (
        select coalesce(max(one.due), 0) from schedule_run one
        where one.schedule = run.schedule and one.outcome = 'fired')"""
_LIVING = "deployment in (select number from deployment where deleted_at = 0)"


class SqlSchedules:
    """The schedules of a store in a database: the methods of the port ``ScheduleShelf``."""

    def __init__(self, reading: Connect, writing: Connect, clock: Clock, rows: TenantRows = ALL) -> None:
        """``reading`` and ``writing`` begin transactions, whether or not this process owns the store."""
        self._reading = reading
        self._writing = writing
        self._clock = clock
        self._rows = rows

    def all(self, deployment: int = 0) -> Sequence[ScheduleRow]:
        """Return the schedules of a deployment, or of all that are not deleted, sorted by deployment and name."""
        with self._reading() as db:
            condition = ("deployment = ?", deployment) if deployment else (_LIVING,)
            where, values = self._rows.where(*condition)
            return schedule_rows(db.execute(f"{SELECT} where {where} order by deployment, name", values))

    def find(self, deployment: int, name: str) -> ScheduleRow | None:
        """Return the schedule of a deployment with this name, or None."""
        with self._reading() as db:
            return self._one(db, "deployment = ? and name = ?", deployment, name)

    def soonest(self, limit: int) -> Sequence[ScheduleRow]:
        """Return the enabled schedules that are due first, by their next time; at most ``limit``."""
        where, values = self._rows.where(f"is_enabled = 1 and next_at > 0 and {_LIVING}")
        with self._reading() as db:
            return schedule_rows(
                db.execute(f"{SELECT} where {where} order by next_at, number limit ?", (*values, limit))
            )

    def history(self, row: ScheduleRow, limit: int = 100) -> Sequence[ScheduleRun]:
        """Return what became of the times at which a schedule was due, latest first; at most ``limit``."""
        with self._reading() as db:
            if self._one(db, "number = ?", row.number) is None:
                return []
            found = db.execute(_HISTORY, (row.number, limit)).fetchall()
        return [ScheduleRun(*run) for run in found]

    def missed(self) -> int:
        """Return how many times schedules have missed since each has started something."""
        where, values = self._rows.where(f"is_enabled = 1 and {_LIVING}")
        with self._reading() as db:
            found = db.execute(_MISSED.format(where=where), values).fetchone()
        return int(found[0])

    def add(self, new: NewSchedule, actor: Actor) -> ScheduleRow | None:
        """Store a schedule made by hand; None if the deployment has one of this name."""
        by = self._rows.by(actor)
        with self._writing() as db:
            self._rows.require(db, "deployment", new.deployment)
            tenant = _tenant_of(db, new.deployment)
            if self._one(db, "deployment = ? and name = ?", new.deployment, new.name) is not None:
                return None
            values = (new.name, to_text(spec_to_json(new.spec)), "hand", int(new.is_enabled), new.next_at)
            added = db.execute(_ADD, (tenant, new.deployment, *values, self._clock.now(), by.name))
            return schedule_rows(added)[0]

    def change(self, row: ScheduleRow, spec: ScheduleSpec, next_at: int, actor: Actor) -> ScheduleRow | None:
        """Change what a schedule does and when; return its new row, or None if it was changed or removed meanwhile."""
        with self._writing() as db:
            found = self._one(db, "number = ?", row.number)
            if found is None or found.revision != row.revision or found.spec != row.spec:
                return None
            by, revision = self._rows.by(actor).name, row.revision + 1
            _set(db, row.number, spec, is_enabled=found.is_enabled, next_at=next_at, revision=revision, by=by)
            return altered(found, spec=spec, next_at=next_at, revision=revision, changed_by=by)

    def switch(
        self, row: ScheduleRow, *, is_enabled: bool, next_at: int, actor: Actor, reason: str = ""
    ) -> ScheduleRow | None:
        """Enable or disable a schedule; return its new row, or None if it was removed meanwhile."""
        with self._writing() as db:
            if self._one(db, "number = ?", row.number) is None:
                return None
            db.execute(
                "update schedule set is_enabled = ?, switched_by = ?, reason = ?, next_at = ? where number = ?",
                (int(is_enabled), self._rows.by(actor).name, reason, next_at, row.number),
            )
            return self._one(db, "number = ?", row.number)

    def remove(self, row: ScheduleRow) -> bool:
        """Remove a schedule with its history. Return False if it was removed before."""
        with self._writing() as db:
            if self._one(db, "number = ?", row.number) is None:
                return False
            _remove(db, [row.number])
            return True

    def _one(self, db: Connection, condition: str, *values: object) -> ScheduleRow | None:
        where, found = self._rows.where(condition, *values)
        rows = schedule_rows(db.execute(f"{SELECT} where {where}", found))
        return rows[0] if rows else None


def add_schedules(
    db: Connection, deployment: int, settings: Mapping[str, Any], actor: Actor, now: int, *, is_enabled: bool
) -> None:
    """Store the schedules in the settings of a new deployment. Without ``is_enabled`` all are disabled."""
    for name, (spec, enabled) in blueprint_schedules(settings).items():
        _add(db, deployment, name, spec, actor.tenant, actor.name, now, is_enabled=enabled and is_enabled)


def sync_schedules(db: Connection, deployment: int, settings: Mapping[str, Any]) -> None:
    """Let the schedules of a deployment follow its new blueprint, in the transaction that stores it (SC10)."""
    rows = schedule_rows(db.execute(f"{SELECT} where deployment = ?", (deployment,)))
    if not rows and not settings.get("default_schedules"):
        return
    sync = schedule_sync(rows, settings)
    _remove(db, [row.number for row in sync.removed])
    for row, spec, is_enabled in sync.changed:
        _set(db, row.number, spec, is_enabled=is_enabled, next_at=NOT_COMPUTED, revision=0)
    if sync.added:
        tenant, now, by = db.execute(
            "select tenant, created_at, created_by from deployment where number = ?", (deployment,)
        ).fetchone()
        for name, spec, is_enabled in sync.added:
            _add(db, deployment, name, spec, tenant, by, now, is_enabled=is_enabled)


def drop_schedules(db: Connection, deployment: int) -> None:
    """Remove the schedules of a deployment that is deleted, with their history."""
    numbers = db.execute("select number from schedule where deployment = ?", (deployment,)).fetchall()
    _remove(db, [number for (number,) in numbers])


def _tenant_of(db: Connection, deployment: int) -> str:
    """Return the tenant of a deployment. Raises: PL-C010 if it was deleted, ``LookupError`` if it never existed."""
    found = db.execute("select tenant, name, deleted_at from deployment where number = ?", (deployment,)).fetchone()
    if found is None:
        raise LookupError(f"no deployment {deployment}")
    if found[2]:
        raise failures.deleted(found[1])
    return str(found[0])


def _add(
    db: Connection, deployment: int, name: str, spec: ScheduleSpec, tenant: str, by: str, now: int, *, is_enabled: bool
) -> None:
    values = (name, to_text(spec_to_json(spec)), "blueprint", int(is_enabled), NOT_COMPUTED, now, by)
    db.execute(_ADD, (tenant, deployment, *values)).fetchall()


def _set(
    db: Connection, number: int, spec: ScheduleSpec, *, is_enabled: bool, next_at: int, revision: int, by: str = ""
) -> None:
    db.execute(
        "update schedule set spec = ?, is_enabled = ?, next_at = ?, revision = ?, changed_by = ? where number = ?",
        (to_text(spec_to_json(spec)), int(is_enabled), next_at, revision, by, number),
    )


def _remove(db: Connection, numbers: Iterable[int]) -> None:
    for number in numbers:
        db.execute("delete from schedule_run where schedule = ?", (number,))
        db.execute("delete from schedule where number = ?", (number,))


def schedule_rows(found: Iterable[Sequence[Any]]) -> list[ScheduleRow]:
    """Return the schedules in rows with the columns of ``SELECT``."""
    return [
        ScheduleRow(number, deployment, name, spec_from_json(json.loads(spec)), origin, bool(is_enabled), *rest)
        for number, deployment, name, spec, origin, is_enabled, *rest in found
    ]
