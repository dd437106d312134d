"""What schedules start, in the store in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.schedule_runs import DueSchedule, Firing, NewRun, ScheduleRun
from phaseline.store.memory import requests as asking
from phaseline.store.sql.estate.firings import standing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.store.memory.estate.schedules import MemorySchedules
    from phaseline.store.memory.stored_plans import MemoryPlans
    from phaseline.store.memory.tables import MemoryTables


class MemoryFirings:
    """Implements ``model.rows.schedule_runs.FiringShelf`` in memory."""

    def __init__(
        self,
        owned: Callable[[], AbstractContextManager[MemoryTables]],
        schedules: MemorySchedules,
        plans: MemoryPlans,
    ) -> None:
        """``owned``: a context in which no other thread uses the stored data, for the owner only."""
        self._owned, self._schedules, self._plans = owned, schedules, plans

    def next_at(self) -> int | None:
        """Return the smallest ``next_at`` of enabled schedules, or None."""
        rows = [*self._schedules.rows.values()]
        return min((row.next_at for row in rows if row.is_enabled and row.next_at >= 0), default=None)

    def due(self, now: int, limit: int) -> Sequence[DueSchedule]:
        """Return enabled schedules that are due at ``now``, with how the execution is that each has started last."""
        with self._owned() as held:
            rows = [row for row in self._schedules.rows.values() if row.is_enabled and 0 <= row.next_at <= now]
            rows = sorted(rows, key=lambda row: (row.next_at, row.number))[:limit]
            return [DueSchedule(row, *self._standing(held, row.number)) for row in rows]

    def _standing(self, held: MemoryTables, schedule: int) -> tuple[bool, bool]:
        runs = self._schedules.runs.get(schedule, {}).values()
        last = max((run for run in runs if run.execution), key=lambda run: run.due, default=None)
        if last is None or last.execution not in held.executions:
            return False, False
        is_known = any(run.outcome == "disabled" and run.due > last.due for run in runs)
        return standing(held.executions[last.execution].row.status, is_known)

    def fire(self, firings: Sequence[Firing], now: int) -> Sequence[ExecutionRow]:
        """Store the firings at once, and return the executions that begin."""
        begun: list[ExecutionRow] = []
        with self._owned() as held:
            for firing in firings:
                row = firing.row
                if self._schedules.rows.get(row.number) != row:
                    continue
                runs = self._schedules.runs.setdefault(row.number, {})
                for run in firing.runs:
                    if run.due not in runs:
                        runs[run.due] = self._begun(held, run, now, begun)
                self._schedules.rows[row.number] = altered(
                    row,
                    next_at=firing.next_at,
                    last_at=firing.last_at,
                    is_enabled=firing.is_enabled,
                    reason=firing.reason or row.reason,
                )
        return begun

    def _begun(self, held: MemoryTables, run: NewRun, now: int, begun: list[ExecutionRow]) -> ScheduleRun:
        """Store what a run begins, and return the run. Add the execution to ``begun``."""
        stored = ScheduleRun(run.due, run.last_due, run.count, now, 0, run.outcome, run.reason)
        try:
            if run.execution is not None:
                new = run.execution
                made = asking.add_execution(held, new, new.deployment, asks=False, beside=lambda _row: True)
                begun.append(made)
                return altered(stored, execution=made.number)
            if run.plan is not None:
                return altered(stored, reason=f"plan-{self._plans.add(run.plan).number}")
        except ProblemsError as error:
            return altered(stored, outcome="refused", reason=str(error.problems[0]))
        return stored
