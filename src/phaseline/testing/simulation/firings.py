"""Worlds with schedules: crashes around each firing, pauses without an engine, and clocks that are set back (SC6, SC13).

The oracle counts the times of a schedule by itself. Each time up to the last one that was looked at must be in exactly
one run of the history, none may have started two executions, and only those may be missed that were too late.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.app.schedule_times import occurrences_of
from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.causes import CauseKey
from phaseline.model.rows.rows import NewExecution
from phaseline.model.rows.schedules import NewSchedule
from phaseline.model.schedules.schedule_spec import ScheduleSpec
from phaseline.run.loop.clockwork import Clockwork
from phaseline.testing.simulation.faults import HOUR_MS
from phaseline.testing.simulation.world import BEGINNING_MS, USER, CrashingStore, Life, World, lived

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.model.rows.schedule_runs import DueSchedule, Firing, FiringShelf, ScheduleRun
    from phaseline.model.rows.schedules import ScheduleRow
    from phaseline.plan.recurrence.occurrences import Occurrences
    from phaseline.testing.simulation.faults import Dice
    from phaseline.testing.simulation.world import OpenStore, Story

SINCE_S = BEGINNING_MS // 1000 - 800
SINCE = "2023-11-14 22:00:00"
"""When all schedules begin, which is ``SINCE_S``."""
GRACE_S, FOR_EVER_S, MOST_CAUGHT_UP = 60, 1 << 40, 100
TURNS = 150
ASIDE = 0.03
"""Chance that there is no engine for a while after a turn."""
MOST_RUNS = 100_000


class CrashingFirings:
    """The firings of a store, before and after each of whose transactions the process may die."""

    def __init__(self, inner: FiringShelf, dice: Dice) -> None:
        """``inner`` are the firings of the store."""
        self._inner, self._dice = inner, dice

    def next_at(self) -> int | None:
        """Return when the next schedule is due."""
        return self._inner.next_at()

    def due(self, now: int, limit: int) -> Sequence[DueSchedule]:
        """Return the schedules that are due."""
        return self._inner.due(now, limit)

    def fire(self, firings: Sequence[Firing], now: int) -> Sequence[ExecutionRow]:
        """Store firings, unless the process dies before; it may also die after that."""
        self._dice.crash()
        rows = self._inner.fire(firings, now)
        self._dice.crash()
        return rows


class UncheckedStarts:
    """Starts what a schedule names, without asking whether the workflow is available."""

    def __init__(self, world: ScheduledWorld) -> None:
        """``world`` has the clock."""
        self._world = world

    def occurrences(self, spec: ScheduleSpec, now: int) -> Occurrences:
        """Return the times of a schedule."""
        return occurrences_of(spec, now)

    def prepare(self, row: ScheduleRow, at: int) -> NewExecution:
        """Return the execution that a schedule starts."""
        request = Request(row.spec.workflow, retries=RetryPolicy(2, 1.0), if_busy="wait")
        cause = CauseKey("schedule", row.number, str(at))
        return NewExecution(row.deployment, request, USER, self._world.clock.now(), cause=cause)


class ScheduledWorld(World):
    """A world in which only schedules start executions."""

    def __init__(self, seed: int, open_store: OpenStore = CrashingStore) -> None:
        """Store schedules of the world's deployments."""
        super().__init__(seed, open_store)
        for number in range(self.dice.one(1, 2, 4)):
            life, minutes = self.dice.one(*self.lives), self.dice.one(1, 7, 60)
            spec = ScheduleSpec(
                "install", SINCE, rule={"recurrence": f"{minutes}min"}, slip_min=self.dice.one(0, 0, 30),
                catch_up=self.dice.one("slip", "slip", "last", "all", "none"), stop_on_fail=self.dice.happens(0.2),
            )  # fmt: skip
            now = self.clock.now() // 1000
            new = NewSchedule(life.deployment, f"each{number}", spec, next_at=1000 * _after(minutes, now))
            self.store.schedules.add(new, USER)

    def _begin_engine(self) -> None:
        super()._begin_engine()
        firings = CrashingFirings(self.store.firings, self.dice)
        self.engine.scheduling = lambda: Clockwork(firings, UncheckedStarts(self))

    def live(self) -> Story:
        """Run turns, check what became of the times of all schedules, and return the story."""
        for turn in range(TURNS):
            self.story.turns += 1
            self._decide_unsure()
            self._turn()
            if turn % 10 == 0:
                self._check_schedules()
            if self.dice.happens(ASIDE):
                self._stay_away()
            self._pass_time(must_move=True)
        self.dice.calm_down()
        self._check_schedules()
        self.story.calls = self.ledger.calls
        return self.story

    def _stay_away(self) -> None:
        """End the engine, and begin another one after some minutes or hours."""
        self._end_engine("the engine is stopped for a while")
        self.clock.advance_to(self.clock.now() + self.dice.one(90_000, HOUR_MS // 2, 5 * HOUR_MS))
        self._begin_engine()

    def _decide_unsure(self) -> None:
        for life in self.lives:
            for row in self.store.executions(life.deployment, only_open=True):
                if row.status is ExecutionStatus.ATTENTION:
                    self._decide(Life(life.deployment, life.neighbours, row.id), row)

    # -- the oracle ---------------------------------------------------------------------------------------------

    def _check_schedules(self) -> None:
        self.story.firings = self.story.missed = 0
        for row in self.store.schedules.all():
            runs = sorted(self.store.schedules.history(row, MOST_RUNS), key=lambda run: run.due)
            minutes = int(str(row.spec.rule["recurrence"]).removesuffix("min"))
            covered = [moment for run in runs for moment in _covered(run, minutes)]
            first = _after(minutes, BEGINNING_MS // 1000)
            wanted = list(range(first, first + 60 * minutes * len(covered), 60 * minutes))
            assert covered == wanted, f"schedule {row.name} has the times {covered}, not {wanted}"
            if row.is_enabled:
                due = first + 60 * minutes * len(covered)
                assert row.next_at == 1000 * due, f"schedule {row.name} is due at {row.next_at}, not {1000 * due}"
            for run in runs:
                self._check_run(row, run, minutes)
            caused = [one for one in self.store.causes.caused("schedule", row.number) if one.is_execution]
            started = {str(run.due): run.execution for run in runs if run.outcome == "fired"}
            assert {one.cause.key: one.number for one in caused} == started, f"{row.name}: executions {caused}"
            assert len(caused) == len(started), f"{row.name}: executions {caused} for {started}"
            self.story.firings += len(started)
            self.story.missed += sum(run.count for run in runs if run.outcome == "missed")

    def _check_run(self, row: ScheduleRow, run: ScheduleRun, minutes: int) -> None:
        """Check that what has fired was in time, and that what was missed was too late or not the newest (SC7)."""
        looked = run.fired_at // 1000
        slip_s = 60 * row.spec.slip_min + GRACE_S
        in_time_s = {"slip": slip_s, "none": GRACE_S}.get(row.spec.catch_up, FOR_EVER_S)
        newest = _after(minutes, looked) - 60 * minutes
        last = run.last_due // 1000
        assert last <= looked, f"{row.name}: {last} was looked at too early, at {looked}"
        if run.outcome == "missed":
            fired_at_once = MOST_CAUGHT_UP if row.spec.catch_up == "all" else 1
            is_old = last <= newest - 60 * minutes * fired_at_once
            assert is_old or looked - last > in_time_s, f"{row.name}: {last} was missed at {looked}"
        else:
            assert looked - last <= in_time_s, f"{row.name}: {last} was too late at {looked}"


def _after(minutes: int, moment: int) -> int:
    """Return the first time after ``moment``, in seconds, of a schedule of so many minutes."""
    span = 60 * minutes
    return SINCE_S + ((moment - SINCE_S) // span + 1) * span


def _covered(run: ScheduleRun, minutes: int) -> Iterator[int]:
    """Yield the times of a run in seconds, as many as it counts."""
    first, last, step = run.due // 1000, run.last_due // 1000, 60 * minutes
    assert last == first + (run.count - 1) * step, f"a run counts {run.count} times from {first} to {last}"
    yield from range(first, last + 1, step)


def simulate_schedules(seed: int, open_store: OpenStore = CrashingStore) -> Story:
    """Return the story of the world with schedules of this seed. ``open_store`` opens an empty store.

    Raises: ``Broken`` with the story so far if it breaks a promise.
    """
    return lived(ScheduledWorld(seed, open_store))
