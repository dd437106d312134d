"""Clockwork: the owner of the store starts the workflows of schedules when they are due (SC5 to SC8, SC12, SC13).

The loop asks it only when a time is due, so an idle engine costs nothing. What it decides for up to ``AT_ONCE`` schedules
is one transaction: the runs of the schedules, the executions and the next times. A run is unique by schedule and time,
so a crash before the transaction repeats it and a crash after it does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from phaseline.calls.deployments.planner_driver import NOT_READ
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import NewExecution
from phaseline.model.rows.schedule_runs import DueSchedule, Firing, NewRun
from phaseline.model.rows.schedules import NEVER, NOT_COMPUTED
from phaseline.plan.recurrence.due_firings import due_firings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.execution.stored_plans import StoredPlan
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.model.rows.schedule_runs import FiringShelf
    from phaseline.model.rows.schedules import ScheduleRow
    from phaseline.model.schedules.schedule_spec import ScheduleSpec
    from phaseline.plan.recurrence.occurrences import Occurrences

AT_ONCE: Final = 1_000
"""Most schedules whose runs are stored in one transaction."""
FAILED: Final = "its last execution failed"
BUSY: Final = "the execution that it started last is open"


class Starts(Protocol):
    """What the clockwork cannot know by itself. Both raise ``ProblemsError`` for what is wrong with a schedule."""

    def occurrences(self, spec: ScheduleSpec, now: int) -> Occurrences:
        """Return the times of a schedule."""
        ...

    def prepare(self, row: ScheduleRow, at: int) -> NewExecution | StoredPlan:
        """Return what a schedule starts that is due at ``at``: an execution, or the plan of a dry run (SC4, SC8)."""
        ...


class Clockwork:
    """Decides which schedules start a workflow, and stores it. Used only by the loop's thread."""

    def __init__(self, store: FiringShelf, starts: Starts) -> None:
        """Start nothing yet."""
        self._store, self._starts = store, starts

    def fire(self, now: int) -> Sequence[ExecutionRow]:
        """Store what is due at ``now``; return the executions that begin."""
        begun: list[ExecutionRow] = []
        while due := self._store.due(now, AT_ONCE):
            begun += self._store.fire([self._firing(one, now) for one in due], now)
            if len(due) < AT_ONCE:
                break
        return begun

    def next_at(self) -> int | None:
        """Return the time in ms at which the next schedule is due; None if none is."""
        return self._store.next_at()

    def _firing(self, due: DueSchedule, now: int) -> Firing:
        row = due.row
        try:
            occurrences = self._starts.occurrences(row.spec, now)
        except ProblemsError as error:
            return Firing(row, (), NEVER, row.last_at, is_enabled=False, reason=str(error.problems[0]))
        if row.next_at == NOT_COMPUTED:
            seen = max(row.last_at, row.created_at) // 1000
        else:
            seen = row.next_at // 1000 - 1
        catch_up: Any = row.spec.catch_up
        found = due_firings(occurrences, seen, now // 1000, slip_s=60 * row.spec.slip_min, catch_up=catch_up)
        runs: list[NewRun] = []
        if found.missed is not None:
            first, last, count = found.missed
            runs.append(NewRun(1000 * first, 1000 * last, "missed", count))
        is_stopped = bool(found.fire) and row.spec.stop_on_fail and due.has_failed
        if is_stopped:
            runs.append(NewRun(1000 * found.fire[0], 1000 * found.fire[-1], "disabled", len(found.fire), reason=FAILED))
        else:
            runs += [self._run(due, 1000 * moment) for moment in found.fire]
        last_at = max((run.last_due for run in runs), default=row.last_at)
        if is_stopped:
            return Firing(row, runs, NEVER, last_at, is_enabled=False, reason=FAILED)
        return Firing(row, runs, NEVER if found.next is None else 1000 * found.next, last_at)

    def _run(self, due: DueSchedule, at: int) -> NewRun:
        if due.is_busy:
            return NewRun(at, at, "skipped_busy", reason=BUSY)
        try:
            made = self._starts.prepare(due.row, at)
        except ProblemsError as error:
            return NewRun(at, at, "refused", reason=str(error.problems[0]))
        except NOT_READ as error:  # damaged data of one deployment must not end the engine
            return NewRun(at, at, "refused", reason=f"{type(error).__name__}: {error}")
        if isinstance(made, NewExecution):
            return NewRun(at, at, "fired", execution=made)
        return NewRun(at, at, "fired", plan=made)
