"""Rules as values, and what is forbidden in each form of them (SC2)."""

from __future__ import annotations

import pytest

from phaseline.model.schedules.recurrence_rule import MAX_COUNT, MAX_INTERVAL, RecurrenceRule, RuleUntil, rule_faults


def messages(rule: RecurrenceRule) -> list[str]:
    return [fault.message for fault in rule_faults(rule)]


def test_sc2_a_rule_reads_the_wall_clock_if_it_selects_anything() -> None:
    assert not RecurrenceRule("HOURLY", 5, 3).has_parts
    assert RecurrenceRule("HOURLY", minutes=(30,)).has_parts


def test_bad_input_several_faults_are_told_together() -> None:
    rule = RecurrenceRule("WEEKLY", 0, 0, RuleUntil(0, is_utc=True), month_days=(1,))
    assert messages(rule) == [
        "the interval is 0",
        "the count is 0",
        "COUNT and UNTIL are both given",
        "BYMONTHDAY is not allowed with FREQ=WEEKLY",
    ]


@pytest.mark.parametrize(("interval", "count"), [(MAX_INTERVAL + 1, None), (1, MAX_COUNT + 1)])
def test_bad_input_bounds(interval: int, count: int | None) -> None:
    assert len(messages(RecurrenceRule("DAILY", interval, count))) == 1
    assert messages(RecurrenceRule("DAILY", MAX_INTERVAL, MAX_COUNT)) == []


@pytest.mark.parametrize(
    ("months", "days", "is_possible"),
    [((2,), (30,), False), ((2,), (29,), True), ((2, 4), (31,), False), ((), (31,), True), ((2,), (-30, 1), True)],
)
def test_bad_input_days_that_no_month_has(months: tuple[int, ...], days: tuple[int, ...], is_possible: bool) -> None:
    assert (messages(RecurrenceRule("MONTHLY", months=months, month_days=days)) == []) is is_possible
