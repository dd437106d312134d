"""Somebody sets the clock of the machine by an hour: a running engine does not notice, the next one goes on with it."""

import pytest
from tests.run.engines import Station

from phaseline.app.app_context import SystemClock
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.testing.builders import node

HOUR_MS = 3_600_000


@pytest.mark.parametrize("jump", [HOUR_MS, -HOUR_MS])
def test_a_running_process_does_not_notice_that_its_clock_is_set(jump: int) -> None:
    wall, monotonic = [10 * HOUR_MS * 1_000_000], [5_000_000]
    clock = SystemClock(lambda: wall[0], lambda: monotonic[0])
    assert clock.now() == 10 * HOUR_MS
    wall[0] += jump * 1_000_000
    monotonic[0] += 7_000_000
    assert clock.now() == 10 * HOUR_MS + 7
    assert SystemClock(lambda: wall[0], lambda: monotonic[0]).now() == 10 * HOUR_MS + jump


def sleeping(station: Station, delay_ms: int) -> None:
    """An install whose only call wants to be called again after so long."""
    station.install(node("vm", create="each_again.create"))
    station.answer(station.find("create", "vm_1"), OutcomeKind.AGAIN, delay_ms=delay_ms)
    station.settle()


def restart(station: Station, jump: int) -> None:
    station.clock.jump(jump)
    station.crash()
    station.engine.recover()
    station.settle()


def test_a_sleeper_whose_time_has_passed_by_the_new_clock_is_called_at_once() -> None:
    station = Station()
    sleeping(station, 10_000)
    restart(station, HOUR_MS)
    assert station.names() == [("create", "vm_1")]


def test_a_sleeper_is_never_called_early_by_a_clock_that_was_set_back_and_a_user_may_wake_it() -> None:
    """Due times are times of the clock on the wall (PD51); status and doctor tell that it was set back."""
    station = Station()
    sleeping(station, 10_000)
    due = station.clock.now() + 10_000
    restart(station, -HOUR_MS)
    assert station.names() == []
    assert station.engine.wakes_at == due
    (row,) = station.store.executions()
    (graph,) = station.store.graphs(row.number)
    station.engine.wake(row.number, graph.id)
    station.settle()
    assert station.names() == [("create", "vm_1")]
    station.complete_all()
    assert station.store.executions()[0].status is ExecutionStatus.COMPLETED
    assert station.store.executions()[0].ended_at < row.created_at
