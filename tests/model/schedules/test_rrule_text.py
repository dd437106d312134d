"""Texts of RFC 5545 are read and written, and every mistake is told (SC2)."""

from __future__ import annotations

import pytest

from phaseline.model.schedules.recurrence_rule import RecurrenceRule, RuleUntil
from phaseline.model.schedules.rrule_text import RRuleText, read_rrule, rrule_text


def messages(text: str) -> list[str]:
    found, faults = read_rrule(text)
    assert found is None
    assert all(fault.mend for fault in faults)
    return [fault.message for fault in faults]


def test_sc2_every_part_is_read_and_written() -> None:
    text = (
        "FREQ=YEARLY;INTERVAL=2;UNTIL=20301231T235959Z;WKST=SU;BYMONTH=1,12;BYYEARDAY=-1;BYMONTHDAY=-1,31;"
        "BYDAY=-1SU,MO;BYHOUR=7;BYMINUTE=0,30;BYSECOND=59;BYSETPOS=-1"
    )
    found, faults = read_rrule(text)
    assert faults == []
    assert found is not None
    rule = RecurrenceRule(
        "YEARLY", 2, None, RuleUntil(1_924_991_999, is_utc=True), 6, (1, 12), (), (-1,), (-1, 31), ((-1, 6), (0, 0))
    )
    assert (found.rule.until, found.rule.weekdays, found.rule.positions) == (rule.until, rule.weekdays, (-1,))
    assert rrule_text(found.rule) == text


def test_sc2_a_start_may_stand_before_the_rule() -> None:
    found, _ = read_rrule("DTSTART;TZID=Europe/Berlin:19700101T073000\nRRULE:FREQ=DAILY;COUNT=2")
    assert found == RRuleText(RecurrenceRule("DAILY", count=2), 27_000, "Europe/Berlin")
    found, _ = read_rrule("dtstart:19700101T073000Z rrule:freq=daily")
    assert found == RRuleText(RecurrenceRule("DAILY"), 27_000, "UTC")
    found, _ = read_rrule("DTSTART;VALUE=DATE;TZID=Asia/Tokyo:19700102 FREQ=DAILY")
    assert found == RRuleText(RecurrenceRule("DAILY"), 86_400, "Asia/Tokyo")


def test_sc2_the_sixtieth_second_is_the_last() -> None:
    found, _ = read_rrule("FREQ=DAILY;BYSECOND=60")
    assert found is not None
    assert found.rule.seconds == (59,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["FREQ is missing"]),
        ("INTERVAL=2", ["FREQ is missing"]),
        ("FREQ=FORTNIGHTLY", ["FREQ 'FORTNIGHTLY' is unknown"]),
        ("FREQ=DAILY;COUNT=0", ["COUNT '0' is no number from 1"]),
        ("FREQ=DAILY;COUNT=9999999", ["the count is 9999999"]),
        ("FREQ=DAILY;INTERVAL=0;BYHOUR=24", ["INTERVAL '0' is no number from 1", "'24' is no value of BYHOUR"]),
        ("FREQ=DAILY;COUNT=2;UNTIL=20300101", ["COUNT and UNTIL are both given"]),
        ("FREQ=DAILY;UNTIL=20300230", ["'20300230' is no value of UNTIL"]),
        ("FREQ=DAILY;UNTIL=100000101T000000Z", ["'100000101T000000Z' is no value of UNTIL"]),
        ("FREQ=DAILY;FREQ=DAILY", ["FREQ is given twice"]),
        ("FREQ=DAILY;BYDAYS=MO", ["'BYDAYS' is no part of a rule"]),
        ("FREQ=DAILY;BYEASTER=1", ["'BYEASTER' is no part of a rule"]),
        ("FREQ=MONTHLY;BYDAY=6MO", ["a month has at most five of a weekday"]),
        ("FREQ=MONTHLY;BYDAY=XX", ["'XX' is no value of BYDAY"]),
        ("FREQ=MONTHLY;BYDAY=0MO", ["'0MO' is no value of BYDAY"]),
        ("FREQ=DAILY;BYDAY=1MO", ["a numbered weekday needs a month or a year to be counted in"]),
        ("FREQ=YEARLY;BYWEEKNO=1;BYDAY=1MO", ["a numbered weekday cannot be combined with BYWEEKNO"]),
        ("FREQ=MONTHLY;BYWEEKNO=1", ["BYWEEKNO is allowed with FREQ=YEARLY only"]),
        ("FREQ=DAILY;BYYEARDAY=1", ["BYYEARDAY is not allowed with FREQ=DAILY"]),
        ("FREQ=WEEKLY;BYMONTHDAY=1", ["BYMONTHDAY is not allowed with FREQ=WEEKLY"]),
        ("FREQ=DAILY;BYSETPOS=1", ["BYSETPOS selects from nothing"]),
        ("FREQ=DAILY;BYHOUR=1;BYSETPOS=0", ["'0' is no value of BYSETPOS"]),
        ("FREQ=DAILY;WKST=1", ["'1' is no value of WKST"]),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", ["no month has such a day, so the rule never occurs"]),
        ("EXDATE:20300101\nFREQ=DAILY", ["'EXDATE:20300101' cannot be used in a schedule"]),
        ("FREQ=DAILY FREQ=DAILY", ["'FREQ=DAILY' cannot be used in a schedule"]),
        ("DTSTART:tomorrow\nFREQ=DAILY", ["'tomorrow' is no start"]),
        ("DTSTART;RANGE=ALL:20300101T000000\nFREQ=DAILY", ["'RANGE' is no parameter of DTSTART"]),
    ],
)
def test_bad_input_of_a_rule_is_told(text: str, expected: list[str]) -> None:
    assert messages(text) == expected


def test_bad_input_a_misspelled_frequency_or_part_has_a_suggestion() -> None:
    assert [fault.mend for fault in read_rrule("FREQ=WEEKLI;BYMOUNT=1")[1]] == [
        "did you mean 'WEEKLY'?",
        "did you mean 'BYMONTH'?",
    ]
