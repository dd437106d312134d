"""Rules of hours, minutes and seconds (SC3)."""

from __future__ import annotations

from datetime import date

import pytest

from phaseline.model.schedules.recurrence_rule import RecurrenceRule
from phaseline.plan.recurrence.elapsed_steps import MAX_STEPS, ElapsedSteps, selected
from phaseline.plan.recurrence.month_days import MonthDays
from phaseline.plan.recurrence.zone import DAY_S, EPOCH_DAY, LAST_SECOND

START = 20_000 * DAY_S + 3_723  # 01:02:03


def steps(rule: RecurrenceRule) -> ElapsedSteps:
    return ElapsedSteps(rule, MonthDays(rule, START // DAY_S + EPOCH_DAY), START)


def test_sc3_minutes_and_seconds_come_from_the_start() -> None:
    assert steps(RecurrenceRule("HOURLY", 5)).after(START, START, START + DAY_S) == START + 5 * 3600
    assert steps(RecurrenceRule("MINUTELY")).after(START, START, START + DAY_S) == START + 60
    assert steps(RecurrenceRule("SECONDLY", 7)).after(START, START, START + DAY_S) == START + 7


def test_sc3_nothing_is_found_at_the_end_or_after_it() -> None:
    hourly = steps(RecurrenceRule("HOURLY", 5))
    assert hourly.after(START, START, START + 5 * 3600) is None
    assert hourly.after(START, START, START + 5 * 3600 + 1) == START + 5 * 3600


@pytest.mark.parametrize(
    ("rule", "is_possible"),
    [
        (RecurrenceRule("HOURLY", 24, hours=(5,)), False),
        (RecurrenceRule("HOURLY", 24, hours=(1,)), True),
        (RecurrenceRule("HOURLY", 5, hours=(5,)), True),
        (RecurrenceRule("SECONDLY", 2, seconds=(4,)), False),
        (RecurrenceRule("MINUTELY", seconds=(1, 2), positions=(3,)), False),
    ],
)
def test_bad_input_steps_that_never_meet_their_parts(rule: RecurrenceRule, is_possible: bool) -> None:
    assert steps(rule).is_possible(START) is is_possible


def test_positions_select_from_both_ends() -> None:
    assert selected([10, 20, 30], ()) == (10, 20, 30)
    assert selected([10, 20, 30], (-1, 1, 9)) == (10, 30)


def test_sc3_the_last_month_of_all_has_an_end() -> None:
    hourly = steps(RecurrenceRule("HOURLY", month_days=(10,)))
    tenth = (date(9999, 12, 10).toordinal() - EPOCH_DAY) * DAY_S
    assert hourly.after(tenth - DAY_S, START, LAST_SECOND) == tenth + 123
    assert hourly.after(tenth + DAY_S - 1, START, LAST_SECOND) is None


def test_bad_input_a_search_gives_up_after_half_a_million_steps() -> None:
    """A step of a day less a second is on a Monday at 05:00:00 once in 604,800 steps."""
    interval, far = DAY_S - 1, 550_000
    rule = RecurrenceRule("SECONDLY", interval, weekdays=((0, 0),), hours=(5,), minutes=(0,), seconds=(0,))
    monday = (date(4000, 1, 3).toordinal() - EPOCH_DAY) * DAY_S + 5 * 3600
    start = monday - far * interval
    search = ElapsedSteps(rule, MonthDays(rule, start // DAY_S + EPOCH_DAY), start)
    assert search.is_possible(start)
    assert search.after(monday - 1, start, LAST_SECOND) == monday
    assert search.after(monday - (MAX_STEPS - 1000) * interval, start, LAST_SECOND) == monday
    assert search.after(start, start, LAST_SECOND) is None
