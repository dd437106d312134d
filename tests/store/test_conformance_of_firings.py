"""What every store promises (FiringShelf): what is due, and the one transaction in which it begins (SC6, SC8)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.execution import Request
from phaseline.model.execution.stored_plans import StoredPlan
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.causes import CauseKey
from phaseline.model.rows.rows import NewExecution
from phaseline.model.rows.schedule_runs import DueSchedule, Firing, NewRun, ScheduleRun
from phaseline.model.rows.schedules import NEVER, NewSchedule, ScheduleRow
from phaseline.model.schedules.schedule_spec import ScheduleSpec
from phaseline.ports.store import Store

Reopen = Callable[[], Store]
SPEC = ScheduleSpec("pull", "2026-01-01 07:30:00", rule={"recurrence": "1d"})


def scheduled(store: Store, name: str = "nightly", *, next_at: int = 1_000, deployment: int = 0) -> ScheduleRow:
    number = deployment or store.create_deployment(a.deployment(name))[0]
    made = store.schedules.add(NewSchedule(number, name, SPEC, next_at=next_at), a.ANN)
    assert made is not None
    return made


def fired(row: ScheduleRow, due: int = 1_000) -> NewRun:
    new = NewExecution(row.deployment, Request("pull"), a.ANN, due, cause=CauseKey("schedule", row.number, str(due)))
    return NewRun(due, due, "fired", execution=new)


def firing(row: ScheduleRow, *runs: NewRun, next_at: int = 2_000) -> Firing:
    return Firing(row, runs, next_at, max((run.last_due for run in runs), default=row.last_at))


def test_sc5_what_is_due_is_found_by_time_and_number(reopen: Reopen) -> None:
    store = reopen()
    assert store.firings.next_at() is None
    late, soon, other = (scheduled(store, name, next_at=at) for name, at in (("a", 3_000), ("b", 1_000), ("c", 1_000)))
    off = scheduled(store, "d", next_at=500)
    store.schedules.switch(off, is_enabled=False, next_at=NEVER, actor=a.ANN)
    scheduled(store, "e", next_at=NEVER)
    with store.own("an engine"):
        assert store.firings.next_at() == 1_000
        assert [one.row for one in store.firings.due(2_999, 9)] == [soon, other]
        assert [one.row for one in store.firings.due(3_000, 9)] == [soon, other, late]
        assert [one.row for one in store.firings.due(3_000, 1)] == [soon]
        fresh = scheduled(store, "f", next_at=0)
        assert store.firings.next_at() == 0
        assert [one.row for one in store.firings.due(2_000, 1)] == [fresh]


def test_sc5_a_look_at_requests_finds_when_the_next_schedule_is_due(reopen: Reopen) -> None:
    store = reopen()
    with store.own("an engine"):
        store.requests(0)
        assert store.next_schedule_at is None
        row = scheduled(store, next_at=7_000)
        store.requests(0)
        assert store.next_schedule_at == 7_000
        store.firings.fire([firing(row, next_at=9_000)], 7_000)
        store.requests(0)
        assert store.next_schedule_at == 9_000
        store.of(row.tenant).schedules.remove(row)
        store.requests(0)
        assert store.next_schedule_at is None


def test_sc6_a_firing_is_run_execution_and_next_time(reopen: Reopen) -> None:
    store = reopen()
    row = scheduled(store)
    with store.own("an engine"):
        (made,) = store.firings.fire([firing(row, NewRun(400, 700, "missed", 4), fired(row))], 1_050)
    assert (made.request.workflow, made.deployment, made.status) == ("pull", row.deployment, ExecutionStatus.QUEUED)
    store = reopen()
    assert [one.number for one in store.executions(only_open=True)] == [made.number]
    assert [one.number for one in store.causes.caused("schedule", row.number)] == [made.number]
    assert store.schedules.find(row.deployment, row.name) == altered(row, next_at=2_000, last_at=1_000)
    assert [*store.schedules.history(row)] == [
        ScheduleRun(1_000, 1_000, 1, 1_050, made.number, "fired", ""),
        ScheduleRun(400, 700, 4, 1_050, 0, "missed", ""),
    ]
    assert [*store.schedules.history(row, 1)] == [ScheduleRun(1_000, 1_000, 1, 1_050, made.number, "fired", "")]
    assert not store.requests(0)


def test_sc6_a_time_fires_once(reopen: Reopen) -> None:
    store = reopen()
    row = scheduled(store)
    with store.own("an engine"):
        assert len(store.firings.fire([firing(row, fired(row), next_at=1_000)], 1_050)) == 1
        again = altered(row, last_at=1_000)
        assert [*store.firings.fire([firing(again, fired(row))], 1_060)] == []
    assert len(store.schedules.history(row)) == len(store.executions()) == 1
    assert store.schedules.find(row.deployment, row.name) == altered(row, next_at=2_000, last_at=1_000)


@pytest.mark.parametrize("how", ["changed", "disabled", "removed", "deployment deleted"])
def test_sc6_what_was_changed_meanwhile_does_not_fire(reopen: Reopen, how: str) -> None:
    store = reopen()
    row, other = scheduled(store), scheduled(store, "other")
    if how == "changed":
        store.schedules.change(row, altered(SPEC, workflow="heal"), 1_000, a.ANN)
    elif how == "disabled":
        store.schedules.switch(row, is_enabled=False, next_at=NEVER, actor=a.ANN)
    elif how == "removed":
        store.schedules.remove(row)
    else:
        store.delete_deployment(row.deployment)
    before = store.schedules.find(row.deployment, row.name)
    with store.own("an engine"):
        made = store.firings.fire([firing(row, fired(row)), firing(other, fired(other))], 1_050)
    assert [one.deployment for one in made] == [other.deployment]
    assert store.schedules.find(row.deployment, row.name) == before
    assert [*store.schedules.history(row)] == []


def test_sc6_only_the_owner_fires(reopen: Reopen) -> None:
    store = reopen()
    row = scheduled(store)
    with pytest.raises(RuntimeError, match="only the owner"):
        store.firings.fire([firing(row, fired(row))], 1_050)
    assert [*store.executions()] == []


def test_sc8_an_execution_that_waits_for_others_is_stored(reopen: Reopen) -> None:
    store = reopen()
    row = scheduled(store)
    store.create_execution(a.execution(row.deployment))
    with store.own("an engine"):
        assert len(store.firings.fire([firing(row, fired(row))], 1_050)) == 1


STANDINGS = [
    (ExecutionStatus.RUNNING, True, False),
    (ExecutionStatus.ATTENTION, True, True),
    (ExecutionStatus.FAILED, False, True),
    (ExecutionStatus.COMPLETED, False, False),
    (ExecutionStatus.CANCELED, False, False),
]


@pytest.mark.parametrize(("status", "is_busy", "has_failed"), STANDINGS)
def test_sc8_a_due_schedule_knows_its_last_execution(
    reopen: Reopen, status: ExecutionStatus, is_busy: bool, has_failed: bool
) -> None:
    store = reopen()
    row = scheduled(store)
    with store.own("an engine"):
        (made,) = store.firings.fire([firing(row, fired(row))], 1_050)
        store.commit(a.turn(executions=(a.status(made.number, status),)))
        now = altered(row, next_at=2_000, last_at=1_000)
        assert [*store.firings.due(2_000, 9)] == [DueSchedule(now, is_busy, has_failed)]
        stop = Firing(now, [NewRun(2_000, 2_000, "disabled")], NEVER, 2_000, is_enabled=False, reason="it failed")
        store.firings.fire([stop], 2_000)
        assert [*store.firings.due(9_000, 9)] == []
        stopped = store.schedules.find(row.deployment, row.name)
        assert stopped is not None
        assert (stopped.is_enabled, stopped.reason) == (False, "it failed")
        again = store.schedules.switch(stopped, is_enabled=True, next_at=3_000, actor=a.ANN)
        assert again is not None
        assert [*store.firings.due(3_000, 9)] == [DueSchedule(again, is_busy)]


def test_sc4_a_dry_run_stores_a_plan_and_no_execution(reopen: Reopen) -> None:
    store = reopen()
    row = scheduled(store)
    plan = StoredPlan(0, row.deployment, Request("pull"), 1_050, "ann", {}, {"calls": 1}, "a plan")
    with store.own("an engine"):
        assert [*store.firings.fire([firing(row, NewRun(1_000, 1_000, "fired", plan=plan))], 1_050)] == []
    (kept,) = store.stored_plans.all(row.deployment)
    assert [run.reason for run in store.schedules.history(row)] == [kept.id]
    assert [*store.executions()] == []


def test_sc7_missed_times_count_until_something_starts(reopen: Reopen) -> None:
    store = reopen()
    row = scheduled(store)
    with store.own("an engine"):
        store.firings.fire([firing(row, NewRun(100, 900, "missed", 9), next_at=1_000)], 1_050)
        assert store.schedules.missed() == 9
        now = altered(row, next_at=1_000, last_at=900)
        store.firings.fire([firing(now, fired(row))], 1_060)
        assert store.schedules.missed() == 0


def test_sc11_the_soonest_are_those_that_are_due_first(reopen: Reopen) -> None:
    store = reopen()
    rows = [scheduled(store, name, next_at=at) for name, at in (("a", 3_000), ("b", 1_000), ("c", 0), ("d", 2_000))]
    assert [*store.schedules.soonest(2)] == [rows[1], rows[3]]
    assert [row.name for row in store.schedules.soonest(9)] == ["b", "d", "a"]
