"""Runs of schedules as values (SC1)."""

from phaseline.model.rows.schedule_runs import DueSchedule, Firing, NewRun
from phaseline.model.rows.schedules import ScheduleRow
from phaseline.model.schedules.schedule_spec import ScheduleSpec

ROW = ScheduleRow(1, 7, "nightly", ScheduleSpec("pull", "2026-01-01 00:00:00"))


def test_sc1_a_run_is_of_one_time_and_a_schedule_continues_unless_said_otherwise() -> None:
    run = NewRun(5, 5, "fired")
    assert (run.count, run.execution, run.plan, run.reason) == (1, None, None, "")
    firing = Firing(ROW, [run], 9, 5)
    assert (firing.is_enabled, firing.reason) == (True, "")
    assert DueSchedule(ROW) == DueSchedule(ROW, is_busy=False, has_failed=False)
