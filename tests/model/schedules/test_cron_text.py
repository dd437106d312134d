"""Cron texts are read, and every mistake is told (SC2)."""

from __future__ import annotations

import pytest

from phaseline.model.schedules.cron_text import NICKNAMES, read_cron
from phaseline.model.schedules.recurrence_rule import RecurrenceRule


def test_sc2_five_fields_make_a_rule() -> None:
    found, faults = read_cron("30 7 * * 1-5")
    assert faults == []
    weekdays = tuple((0, day) for day in range(5))
    assert found == RecurrenceRule("DAILY", weekdays=weekdays, hours=(7,), minutes=(30,), seconds=(0,))


def test_sc2_words_lists_steps_and_both_sundays_are_read() -> None:
    found, _ = read_cron("*/20 9-17/4 1,15 JAN,jul-aug 0,7,Sat")
    assert found is not None
    assert (found.minutes, found.hours, found.month_days, found.months) == (
        (0, 20, 40),
        (9, 13, 17),
        (1, 15),
        (1, 7, 8),
    )
    assert (found.weekdays, found.is_either_day) == (((0, 5), (0, 6)), True)


def test_sc2_a_star_for_hours_counts_elapsed_time() -> None:
    every, hourly = read_cron("* * * * *")[0], read_cron("@hourly")[0]
    assert every is not None
    assert hourly is not None
    assert (every.frequency, len(every.minutes), every.hours) == ("HOURLY", 60, ())
    assert (hourly.frequency, hourly.minutes) == ("HOURLY", (0,))
    assert all(read_cron(name)[0] is not None for name in NICKNAMES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["the cron text is empty"]),
        ("0 0 * *", ["'0 0 * *' has 4 fields, not five"]),
        ("0 0 0 * * *", ["'0 0 0 * * *' has 6 fields, not five"]),
        ("@reboot", ["'@reboot' has 1 fields, not five"]),
        (
            "60 24 32 13 8",
            [
                "'60' is no minute",
                "'24' is no hour",
                "'32' is no day of the month",
                "'13' is no month",
                "'8' is no weekday",
            ],
        ),
        (
            "*/0 5-4 L ? mon#1",
            [
                "'*/0' is no minute",
                "'5-4' is no hour",
                "'l' is no day of the month",
                "'?' is no month",
                "'mon#1' is no weekday",
            ],
        ),
        ("0 0 30 2 *", ["no month has such a day, so the rule never occurs"]),
        ("0, 0 * * *", ["'' is no minute"]),
    ],
)
def test_bad_input_of_cron_is_told(text: str, expected: list[str]) -> None:
    found, faults = read_cron(text)
    assert found is None
    assert [fault.message for fault in faults] == expected
    assert all(fault.mend for fault in faults)


def test_bad_input_the_30th_of_february_may_be_any_friday() -> None:
    assert read_cron("0 0 30 2 fri")[0] is not None
