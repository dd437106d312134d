"""Days of a month that fit a rule, whatever the time since its start (SC2)."""

from __future__ import annotations

from datetime import date

import pytest

from phaseline.model.schedules.recurrence_rule import RecurrenceRule
from phaseline.plan.recurrence.month_days import MonthDays

START = date(2026, 1, 31)  # a Saturday


def days(rule: RecurrenceRule, year: int, month: int) -> list[int]:
    found = MonthDays(rule, START.toordinal()).of_month(year, month)
    return [date.fromordinal(day).day for day in found]


def test_sc2_what_a_rule_leaves_open_comes_from_its_start() -> None:
    assert days(RecurrenceRule("MONTHLY"), 2026, 3) == [31]
    assert days(RecurrenceRule("MONTHLY"), 2026, 4) == []
    assert days(RecurrenceRule("YEARLY"), 2030, 1) == [31]
    assert days(RecurrenceRule("YEARLY"), 2030, 3) == []
    assert days(RecurrenceRule("WEEKLY"), 2026, 2) == [7, 14, 21, 28]


def test_sc2_steps_are_counted_from_the_start_without_walking_there() -> None:
    assert days(RecurrenceRule("DAILY", 10), 2126, 1) == [7, 17, 27]
    assert days(RecurrenceRule("WEEKLY", 2, weekdays=((0, 0),)), 2026, 2) == [9, 23]


@pytest.mark.parametrize("kind", ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"])
@pytest.mark.parametrize("interval", [1, 2, 5, 13, 45, 100])
def test_sc2_no_month_with_days_is_left_out(kind: str, interval: int) -> None:
    found = MonthDays(RecurrenceRule(kind, interval), START.toordinal())  # type: ignore[arg-type] # parametrised
    every = [(year, month) for year in range(2026, 2060) for month in range(1, 13) if found.of_month(year, month)]
    visited, place = [], (2026, 1)
    while place[0] < 2060:
        if found.of_month(*place):
            visited.append(place)
        following = found.month_after(*place)
        assert following > place
        place = following
    assert visited == every


def test_sc2_weeks_at_both_ends_of_the_calendar_ask_for_no_year_beyond() -> None:
    assert days(RecurrenceRule("YEARLY", week_numbers=(52,)), 9999, 12) == [27, 28, 29, 30, 31]
    first = MonthDays(RecurrenceRule("YEARLY", week_numbers=(1, -1)), 1).of_month(1, 1)
    assert [date.fromordinal(day).day for day in first] == [1, 2, 3, 4, 5, 6, 7]
