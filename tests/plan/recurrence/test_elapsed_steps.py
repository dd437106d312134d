"""Rules of hours, minutes and seconds (SC3)."""

from __future__ import annotations

import pytest

from phaseline.model.schedules.recurrence_rule import RecurrenceRule
from phaseline.plan.recurrence.elapsed_steps import ElapsedSteps, selected
from phaseline.plan.recurrence.month_days import MonthDays
from phaseline.plan.recurrence.zone import DAY_S, EPOCH_DAY

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
