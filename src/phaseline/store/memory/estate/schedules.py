"""Schedules of deployments, in the store in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.schedules import NOT_COMPUTED, NewSchedule, ScheduleRow, schedule_sync
from phaseline.model.schedules.schedule_spec import blueprint_schedules
from phaseline.store.sql import errors as failures

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from phaseline.model.rows.rows import Actor, DeploymentRow
    from phaseline.model.rows.schedule_runs import ScheduleRun
    from phaseline.model.schedules.schedule_spec import ScheduleSpec
    from phaseline.ports.clock import Clock
    from phaseline.store.memory.tables import MemoryTables
    from phaseline.store.memory.tenant_rows import MemoryTenantRows


class MemorySchedules:
    """The schedules of a store in memory: the methods of the port ``ScheduleShelf``."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[MemoryTables]],
        clock: Clock,
        own: MemoryTenantRows,
        whole: MemorySchedules | None = None,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``whole``: the shelf of all tenants."""
        self._changing = changing
        self._clock = clock
        self._own = own
        self._whole = whole or self
        self.rows: dict[int, ScheduleRow] = {} if whole is None else whole.rows
        """{number: schedule} of all tenants."""
        self.runs: dict[int, dict[int, ScheduleRun]] = {} if whole is None else whole.runs
        """{number of a schedule: {time at which it was due: what became of it}}."""
        self.last_number = 0

    def all(self, deployment: int = 0) -> Sequence[ScheduleRow]:
        """Return the schedules of a deployment, or of all that are not deleted, sorted by deployment and name."""
        found = [
            row for row in [*self.rows.values()] if deployment in {0, row.deployment} and self._own.has(row.tenant)
        ]
        return sorted(found, key=lambda row: (row.deployment, row.name))

    def find(self, deployment: int, name: str) -> ScheduleRow | None:
        """Return the schedule of a deployment with this name, or None."""
        return next((row for row in self.all(deployment) if deployment and row.name == name), None)

    def soonest(self, limit: int) -> Sequence[ScheduleRow]:
        """Return the enabled schedules that are due first, by their next time; at most ``limit``."""
        found = [row for row in self.all() if row.is_enabled and row.next_at > 0]
        return sorted(found, key=lambda row: (row.next_at, row.number))[:limit]

    def history(self, row: ScheduleRow, limit: int = 100) -> Sequence[ScheduleRun]:
        """Return what became of the times at which a schedule was due, latest first; at most ``limit``."""
        if self._found(row) is None:
            return []
        return sorted(self.runs.get(row.number, {}).values(), key=lambda run: -run.due)[:limit]

    def missed(self) -> int:
        """Return how many times schedules have missed since each has started something."""
        count = 0
        for row in self.all():
            runs = self.runs.get(row.number, {}).values() if row.is_enabled else ()
            fired = max((run.due for run in runs if run.outcome == "fired"), default=0)
            count += sum(run.count for run in runs if run.outcome == "missed" and run.due > fired)
        return count

    def add(self, new: NewSchedule, actor: Actor) -> ScheduleRow | None:
        """Store a schedule made by hand; None if the deployment has one of this name."""
        with self._changing() as held:
            self._own.require(self._own.deployment(new.deployment), "deployment")
            if new.deployment not in held.deployments:
                raise LookupError(f"no deployment {new.deployment}")
            known = held.deployments[new.deployment]
            if known.deleted_at:
                raise failures.deleted(known.row.name)
            if self.find(new.deployment, new.name) is not None:
                return None
            row = ScheduleRow(
                0,
                new.deployment,
                new.name,
                new.spec,
                "hand",
                new.is_enabled,
                next_at=new.next_at,
                tenant=known.row.tenant,
            )
            return self._put(row, self._own.by(actor).name)

    def change(self, row: ScheduleRow, spec: ScheduleSpec, next_at: int, actor: Actor) -> ScheduleRow | None:
        """Change what a schedule does and when; return its new row, or None if it was changed or removed meanwhile."""
        with self._changing():
            found = self._found(row)
            if found is None or found.revision != row.revision or found.spec != row.spec:
                return None
            by, revision = self._own.by(actor).name, row.revision + 1
            self.rows[row.number] = altered(found, spec=spec, next_at=next_at, revision=revision, changed_by=by)
            return self.rows[row.number]

    def switch(
        self, row: ScheduleRow, *, is_enabled: bool, next_at: int, actor: Actor, reason: str = ""
    ) -> ScheduleRow | None:
        """Enable or disable a schedule; return its new row, or None if it was removed meanwhile."""
        with self._changing():
            found = self._found(row)
            if found is None:
                return None
            by = self._own.by(actor).name
            self.rows[row.number] = altered(
                found, is_enabled=is_enabled, switched_by=by, reason=reason, next_at=next_at
            )
            return self.rows[row.number]

    def remove(self, row: ScheduleRow) -> bool:
        """Remove a schedule with its history. Return False if it was removed before."""
        with self._changing():
            if self._found(row) is None:
                return False
            self._forget(row.number)
            return True

    def begin(self, deployment: DeploymentRow, settings: Mapping[str, Any], *, is_enabled: bool) -> None:
        """Store the schedules in the settings of a new deployment. Without ``is_enabled`` all are disabled."""
        for name, (spec, enabled) in blueprint_schedules(settings).items():
            self._begin(deployment, name, spec, is_enabled=enabled and is_enabled)

    def sync(self, deployment: DeploymentRow, settings: Mapping[str, Any]) -> None:
        """Let the schedules of a deployment follow its new blueprint (SC10)."""
        sync = schedule_sync([row for row in self.rows.values() if row.deployment == deployment.number], settings)
        for row in sync.removed:
            self._forget(row.number)
        for row, spec, is_enabled in sync.changed:
            self.rows[row.number] = altered(row, spec=spec, is_enabled=is_enabled, next_at=NOT_COMPUTED)
        for name, spec, is_enabled in sync.added:
            self._begin(deployment, name, spec, is_enabled=is_enabled)

    def drop(self, deployment: int) -> None:
        """Remove the schedules of a deployment that is deleted."""
        for number in [number for number, row in self.rows.items() if row.deployment == deployment]:
            self._forget(number)

    def _forget(self, number: int) -> None:
        del self.rows[number]
        self.runs.pop(number, None)

    def _begin(self, deployment: DeploymentRow, name: str, spec: ScheduleSpec, *, is_enabled: bool) -> None:
        row = ScheduleRow(0, deployment.number, name, spec, "blueprint", is_enabled, tenant=deployment.tenant)
        self._put(row, deployment.created_by, deployment.created_at)

    def _put(self, row: ScheduleRow, by: str, at: int | None = None) -> ScheduleRow:
        self._whole.last_number += 1
        number = self._whole.last_number
        now = self._clock.now() if at is None else at
        self.rows[number] = altered(row, number=number, created_at=now, created_by=by)
        return self.rows[number]

    def _found(self, row: ScheduleRow) -> ScheduleRow | None:
        found = self.rows.get(row.number)
        return found if found is not None and self._own.has(found.tenant) else None
