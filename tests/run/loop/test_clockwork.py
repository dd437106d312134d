"""The clockwork starts what is due, once (SC5 to SC8, SC13), on a store that keeps what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from phaseline.app.schedule_times import occurrences_of
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.execution import Request
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.rows import Actor, NewExecution
from phaseline.model.rows.schedule_runs import DueSchedule, Firing, NewRun
from phaseline.model.rows.schedules import NEVER, NOT_COMPUTED, ScheduleRow
from phaseline.model.schedules.schedule_spec import ScheduleSpec
from phaseline.plan.recurrence.occurrences import Occurrences
from phaseline.run.loop.clockwork import AT_ONCE, Clockwork

HOUR = 3_600_000
DAY = 24 * HOUR
START = 20_000 * DAY
SPEC = ScheduleSpec("heal", "2024-10-04 00:00:00", rule={"recurrence": "1d"})


class Held:
    """Schedules and their runs, unique by schedule and time."""

    def __init__(self, *rows: ScheduleRow) -> None:
        self.rows = {row.number: row for row in rows}
        self.runs: dict[tuple[int, int], NewRun] = {}
        self.busy: set[int] = set()
        self.failed: set[int] = set()
        self.transactions = 0

    def next_at(self) -> int | None:
        return min((row.next_at for row in self.rows.values() if row.is_enabled and row.next_at >= 0), default=None)

    def due(self, now: int, limit: int) -> Sequence[DueSchedule]:
        found = [row for row in self.rows.values() if row.is_enabled and 0 <= row.next_at <= now]
        return [DueSchedule(row, row.number in self.busy, row.number in self.failed) for row in found[:limit]]

    def fire(self, firings: Sequence[Firing], now: int) -> Sequence[Any]:
        self.transactions += 1
        begun = []
        for firing in firings:
            assert self.rows[firing.row.number] == firing.row
            for run in firing.runs:
                if self.runs.setdefault((firing.row.number, run.due), run) is run and run.execution is not None:
                    begun.append(run.execution)
            self.rows[firing.row.number] = altered(
                firing.row,
                next_at=firing.next_at,
                last_at=firing.last_at,
                is_enabled=firing.is_enabled,
                reason=firing.reason,
            )
        return begun


def row(number: int = 1, spec: ScheduleSpec = SPEC) -> ScheduleRow:
    return ScheduleRow(number, 7, f"s{number}", spec, created_at=START - 1)


class Starts:
    """Starts any workflow but "gone", and finds damaged data with "broken"."""

    def occurrences(self, spec: ScheduleSpec, now: int) -> Occurrences:
        return occurrences_of(spec, now)

    def prepare(self, row: ScheduleRow, at: int) -> NewExecution:
        if row.spec.workflow == "gone":
            raise problem_error("PL-P009", "there is no workflow 'gone'", "name another one")
        if row.spec.workflow == "broken":
            raise KeyError("node")
        return NewExecution(row.deployment, Request(row.spec.workflow), Actor(row.created_by), at)


def clockwork(held: Held) -> Clockwork:
    return Clockwork(held, Starts())


def outcomes(held: Held) -> list[tuple[int, str, int]]:
    return [((run.due - START) // DAY, run.outcome, run.count) for run in held.runs.values()]


def test_sc5_a_schedule_fires_at_its_time() -> None:
    held = Held(row())
    clock = clockwork(held)
    assert len(clock.fire(START)) == 1
    assert clock.next_at() == START + DAY
    assert clock.fire(START + DAY - 1) == []
    assert len(clock.fire(START + DAY)) == 1
    assert outcomes(held) == [(0, "fired", 1), (1, "fired", 1)]


@pytest.mark.parametrize(("slip", "fired"), [(0, 0), (1440, 1)])
def test_a53_three_days_off(slip: int, fired: int) -> None:
    held = Held(altered(row(spec=altered(SPEC, slip_min=slip)), next_at=START + DAY))
    assert len(clockwork(held).fire(START + 3 * DAY + HOUR)) == fired
    assert outcomes(held)[0] == (1, "missed", 3 - fired)
    assert held.rows[1].next_at == START + 4 * DAY


def test_sc13_a_clock_that_is_set_back_fires_nothing_again() -> None:
    held = Held(row())
    clock = clockwork(held)
    assert len(clock.fire(START + DAY)) == 1
    for now in (START, START + DAY - 1, START + DAY):
        assert clock.fire(now) == []
    assert len(held.runs) == 2


def test_a57_while_its_last_execution_is_open_a_schedule_is_skipped() -> None:
    held = Held(row())
    clock = clockwork(held)
    held.busy.add(1)
    assert clock.fire(START) == []
    assert outcomes(held) == [(0, "skipped_busy", 1)]
    held.busy.clear()
    assert len(clock.fire(START + DAY)) == 1


def test_a56_after_a_failure_a_schedule_that_stops_then_is_disabled() -> None:
    held = Held(row(spec=altered(SPEC, stop_on_fail=True)))
    held.failed.add(1)
    clock = clockwork(held)
    assert clock.fire(START) == []
    stopped = held.rows[1]
    assert (stopped.is_enabled, stopped.reason, stopped.next_at) == (False, "its last execution failed", NEVER)
    assert outcomes(held) == [(0, "disabled", 1)]
    assert clock.next_at() is None


def test_sc8_a_schedule_whose_rule_cannot_be_read_is_disabled_with_the_reason() -> None:
    held = Held(row(spec=altered(SPEC, zone="Mars/Base")))
    assert clockwork(held).fire(START) == []
    assert not held.rows[1].is_enabled
    assert "Mars/Base" in held.rows[1].reason


@pytest.mark.parametrize("workflow", ["gone", "broken"])
def test_sc8_what_cannot_start_is_refused_and_the_schedule_continues(workflow: str) -> None:
    held = Held(row(spec=altered(SPEC, workflow=workflow)))
    assert clockwork(held).fire(START) == []
    assert outcomes(held) == [(0, "refused", 1)]
    assert held.rows[1].next_at == START + DAY


def test_a61_many_that_are_due_at_once_are_stored_a_thousand_at_a_time() -> None:
    held = Held(*[altered(row(number), next_at=NOT_COMPUTED) for number in range(1, 2 * AT_ONCE + 2)])
    assert len(clockwork(held).fire(START)) == 2 * AT_ONCE + 1
    assert held.transactions == 3
