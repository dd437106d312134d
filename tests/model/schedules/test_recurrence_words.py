"""Cloudify's words for recurrences are read, and every mistake is told (SC2)."""

from __future__ import annotations

import pytest

from phaseline.model.schedules.recurrence_rule import RecurrenceRule
from phaseline.model.schedules.recurrence_words import read_recurrence


@pytest.mark.parametrize(
    ("text", "frequency", "interval"),
    [
        ("1 second", "SECONDLY", 1),
        ("30 sec", "SECONDLY", 30),
        ("30min", "MINUTELY", 30),
        ("5 minutes", "MINUTELY", 5),
        ("2h", "HOURLY", 2),
        ("1 hours", "HOURLY", 1),
        ("1d", "DAILY", 1),
        ("3 days", "DAILY", 3),
        ("2 weeks", "WEEKLY", 2),
        ("1w", "WEEKLY", 1),
        ("1mo", "MONTHLY", 1),
        ("6 months", "MONTHLY", 6),
        ("1 year", "YEARLY", 1),
        ("2y", "YEARLY", 2),
    ],
)
def test_sc2_spans_are_read_in_long_and_short_forms(text: str, frequency: str, interval: int) -> None:
    found, faults = read_recurrence(text)
    assert (faults, found) == ([], RecurrenceRule(frequency, interval))  # type: ignore[arg-type] # parametrised


def test_sc2_numbered_weekdays_belong_to_months_and_years() -> None:
    found, _ = read_recurrence("1 month", ["1mo", "L-FR", "we"], 3)
    assert found == RecurrenceRule("MONTHLY", 1, 3, weekdays=((-1, 4), (0, 2), (1, 0)))


def test_sc2_without_a_recurrence_it_is_due_once() -> None:
    assert read_recurrence(None) == (None, [])
    assert read_recurrence(None, (), 1) == (None, [])


@pytest.mark.parametrize(
    ("recurrence", "weekdays", "count", "expected"),
    [
        ("2 fortnights", (), None, [("recurrence", "'2 fortnights' is no span of time")]),
        ("0 days", (), None, [("recurrence", "'0 days' is no span of time")]),
        ("2000000 days", (), None, [("recurrence", "the interval is 2000000")]),
        ("1d", ("5mo",), None, [("weekdays", "'5mo' is no weekday")]),
        ("1d", ("1mo",), None, [("weekdays", "a numbered weekday needs a month or a year to be counted in")]),
        (
            "often",
            ("monday",),
            0,
            [
                ("weekdays", "'monday' is no weekday"),
                ("count", "'count' is 0"),
                ("recurrence", "'often' is no span of time"),
            ],
        ),
        (None, (), 2, [("count", "'count' is 2 without a recurrence")]),
        (None, ("mo",), None, [("weekdays", "weekdays are given without a recurrence")]),
    ],
)
def test_bad_input_of_the_words_is_told(
    recurrence: str | None, weekdays: tuple[str, ...], count: int | None, expected: list[tuple[str, str]]
) -> None:
    found, faults = read_recurrence(recurrence, weekdays, count)
    assert found is None
    assert [(field, fault.message) for field, fault in faults] == expected
    assert all(fault.mend for _, fault in faults)
