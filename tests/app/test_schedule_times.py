"""Stored schedules are due at the times of their rule, start and zone (SC2)."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice

import pytest

from phaseline.app.schedule_times import occurrences_of, wall_second
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.schedules.schedule_spec import ScheduleSpec

DAILY = ScheduleSpec("heal", "2026-06-01 07:30:00", zone="Europe/Berlin", rule={"recurrence": "1d"})


def times(spec: ScheduleSpec) -> list[str]:
    found = islice(occurrences_of(spec, 0).all_after(0), 2)
    return [datetime.fromtimestamp(moment, UTC).strftime("%m-%d %H:%M") for moment in found]


def test_sc2_each_form_of_a_rule_is_due() -> None:
    assert times(DAILY) == ["06-01 05:30", "06-02 05:30"]
    assert times(altered(DAILY, rule={"rrule": "FREQ=WEEKLY"})) == ["06-01 05:30", "06-08 05:30"]
    assert times(altered(DAILY, rule={"cron": "0 12 * * *"}, zone="")) == ["06-01 12:00", "06-02 12:00"]
    assert times(altered(DAILY, rule={})) == ["06-01 05:30"]


def test_sc2_a_start_in_the_rule_replaces_that_of_the_schedule() -> None:
    rule = {"rrule": "DTSTART;TZID=Asia/Tokyo:20260701T090000\nRRULE:FREQ=DAILY"}
    assert times(altered(DAILY, rule=rule, zone="")) == ["07-01 00:00", "07-02 00:00"]


def test_sc3_the_end_is_a_time_of_the_zone() -> None:
    assert times(altered(DAILY, until="2026-06-01 07:30:00")) == ["06-01 05:30"]
    assert times(altered(DAILY, until="2026-06-01 07:29:00")) == []


@pytest.mark.parametrize("rule", [{"rrule": "FREQ=DAYLY"}, {"cron": "* *"}, {"recurrence": "often"}])
def test_bad_input_of_a_rule_is_a_problem(rule: dict[str, str]) -> None:
    with pytest.raises(ProblemsError) as caught:
        occurrences_of(altered(DAILY, rule=rule), 0)
    assert [problem.code for problem in caught.value.problems] == ["PL-B159"]


def test_wall_times_are_seconds() -> None:
    assert wall_second("1970-01-01 01:00:00") == 3600
