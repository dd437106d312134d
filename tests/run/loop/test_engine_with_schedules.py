"""An engine starts what schedules have due: nothing twice, nothing while it leaves, nothing between (SC5 to SC8, SC13)."""

from __future__ import annotations

import pytest
from tests.run.engines import ANN, Station, all_of

from phaseline.app.schedule_times import occurrences_of
from phaseline.model.execution.execution import Request
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.model.rows.causes import CauseKey
from phaseline.model.rows.rows import NewExecution
from phaseline.model.rows.schedules import NewSchedule, ScheduleRow
from phaseline.model.schedules.schedule_spec import ScheduleSpec
from phaseline.plan.recurrence.occurrences import Occurrences
from phaseline.run.loop.clockwork import Clockwork
from phaseline.testing.builders import node

MINUTE = 60_000
EACH_MINUTE = ScheduleSpec("install", "2023-11-14 22:00:00", rule={"recurrence": "1min"})
NODE = node("db", create="each_again.create")


class Starts:
    """Starts what a schedule names, without any check."""

    def __init__(self, station: Station) -> None:
        self.station = station

    def occurrences(self, spec: ScheduleSpec, now: int) -> Occurrences:
        return occurrences_of(spec, now)

    def prepare(self, row: ScheduleRow, at: int) -> NewExecution:
        cause = CauseKey("schedule", row.number, str(at))
        return NewExecution(row.deployment, Request(row.spec.workflow), ANN, self.station.clock.now(), cause=cause)


class Clocked(Station):
    """A station whose engine starts what is due. It begins half a minute before the first time."""

    def begin_engine(self) -> None:
        super().begin_engine()
        self.engine.scheduling = lambda: Clockwork(self.store.firings, Starts(self))

    def scheduled(self, name: str = "app", spec: ScheduleSpec = EACH_MINUTE, deployment: int = 0) -> ScheduleRow:
        number = deployment or self.deployment(NODE, name=name)
        now = self.clock.now() // 1000
        due = occurrences_of(spec, 1000 * now).after(now)
        assert due is not None
        made = self.store.schedules.add(NewSchedule(number, "minutely", spec, next_at=1000 * due), ANN)
        assert made is not None
        return made

    def come(self) -> None:
        """An engine looks at the store, without waiting for anything."""
        self.engine._look()

    def outcomes(self, row: ScheduleRow) -> list[str]:
        return [run.outcome for run in reversed(self.store.schedules.history(row))]


@pytest.fixture
def station() -> Clocked:
    return Clocked()


def test_sc5_the_engine_wakes_for_the_next_schedule_and_starts_it(station: Clocked) -> None:
    row = station.scheduled()
    station.settle()
    station.come()
    assert station.engine.wakes_at == row.next_at
    assert station.engine.entries_wake_at is None
    assert station.engine.is_idle
    station.wait_until_due()
    assert station.names() == [("create", "db_1")]
    (made,) = station.store.executions(row.deployment)
    assert [one.number for one in station.store.causes.caused("schedule", row.number)] == [made.number]
    assert station.engine.wakes_at == row.next_at + MINUTE
    station.complete_all()
    assert station.status(made) is ExecutionStatus.COMPLETED


def test_sc5_a_schedule_that_a_command_makes_or_removes_is_noticed(station: Clocked) -> None:
    station.come()
    assert station.engine.wakes_at is None
    row = station.scheduled()
    station.clock.jump(1_000)
    station.come()
    assert station.engine.wakes_at == row.next_at
    station.store.schedules.remove(row)
    station.clock.jump(1_000)
    station.come()
    assert station.engine.wakes_at is None


def test_sc5_an_engine_that_leaves_starts_nothing(station: Clocked) -> None:
    row = station.scheduled()
    station.come()
    station.engine.interrupt()
    station.clock.advance_to(row.next_at)
    station.come()
    station.engine._fire()
    assert station.engine.wakes_at is None
    assert [*station.store.executions()] == []


def test_a54_an_engine_that_dies_after_a_firing_leaves_its_execution_to_the_next(station: Clocked) -> None:
    row = station.scheduled()
    station.come()
    station.wait_until_due()
    station.crash()
    station.engine.recover()
    station.come()
    station.settle()
    assert len(station.store.executions(row.deployment)) == 1
    assert station.outcomes(row) == ["fired"]
    assert station.names() == [("create", "db_1")]


@pytest.mark.parametrize("kind", [OutcomeKind.FAILED, OutcomeKind.UNSURE])
def test_a56_a_schedule_stops_after_a_failure_or_what_waits_for_a_person(station: Clocked, kind: OutcomeKind) -> None:
    spec = ScheduleSpec("install", EACH_MINUTE.since, rule={"recurrence": "1min"}, stop_on_fail=True)
    row = station.scheduled(spec=spec)
    station.come()
    station.wait_until_due()
    for one in station.called():
        station.answer(one, kind)
    (made,) = station.store.executions(row.deployment)
    assert station.status(made) in {ExecutionStatus.FAILED, ExecutionStatus.ATTENTION}
    station.wait_until_due()
    assert station.outcomes(row) == ["fired", "disabled"]
    stopped = station.store.schedules.find(row.deployment, row.name)
    assert stopped is not None
    assert (stopped.is_enabled, stopped.reason) == (False, "its last execution failed")
    assert station.engine.wakes_at is None


def test_a57_a_schedule_is_skipped_while_its_last_execution_is_open(station: Clocked) -> None:
    row = station.scheduled()
    station.come()
    station.wait_until_due()
    station.wait_until_due()
    assert station.outcomes(row) == ["fired", "skipped_busy"]
    station.complete_all()
    station.wait_until_due()
    assert station.outcomes(row) == ["fired", "skipped_busy", "fired"]


def test_sc8_what_a_schedule_starts_waits_for_others_of_its_deployment(station: Clocked) -> None:
    row = station.scheduled()
    first = station.submit(row.deployment)
    station.come()
    station.wait_until_due()
    _, second = station.store.executions(row.deployment)
    assert station.status(second) is ExecutionStatus.QUEUED
    station.complete("create", "db_1")
    assert station.status(first) is ExecutionStatus.COMPLETED
    assert station.status(second) is not ExecutionStatus.QUEUED


def test_sc13_a_clock_that_is_set_back_starts_nothing_twice(station: Clocked) -> None:
    row = station.scheduled()
    station.come()
    station.wait_until_due()
    station.complete_all()
    station.crash()
    station.clock.jump(-MINUTE // 2)
    station.come()
    assert station.engine.wakes_at == row.next_at + MINUTE
    station.wait_until_due()
    assert station.outcomes(row) == ["fired", "fired"]


def test_a61_what_many_schedules_start_at_once_shares_batches(station: Clocked) -> None:
    rows = [station.scheduled(f"app-{number}") for number in range(1_000)]
    station.come()
    station.wait_until_due()
    batches = [*station.executor.batches.values()]
    assert sum(len(batch) for batch in batches) == len(rows)
    assert len(batches) <= 50
    for batch in batches:
        station.post(all_of(batch))
    assert {row.status for row in station.store.executions()} == {ExecutionStatus.COMPLETED}
