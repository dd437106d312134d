"""Occurrences of rules: the examples of RFC 5545, random rules against dateutil, and zones (A51, A52, A58)."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from tests.plan.recurrence.rule_oracle import EPOCH, MOST, SPANS_DAYS, has_any, oracle, random_rule

from phaseline.app.zones import read_zone
from phaseline.model.schedules.cron_text import read_cron
from phaseline.model.schedules.recurrence_rule import RecurrenceRule
from phaseline.model.schedules.recurrence_words import read_recurrence
from phaseline.model.schedules.rrule_text import read_rrule, rrule_text
from phaseline.plan.recurrence.occurrences import Occurrences, Recurrence
from phaseline.plan.recurrence.zone import UTC_ZONE, Zone

BERLIN = read_zone("Europe/Berlin", 2020, 2056)
KOLKATA = read_zone("Asia/Kolkata", 2020, 2056)
RFC_EXAMPLES = [
    "FREQ=DAILY;COUNT=10",
    "FREQ=DAILY;UNTIL=19971224T000000Z",
    "FREQ=DAILY;INTERVAL=2",
    "FREQ=DAILY;INTERVAL=10;COUNT=5",
    "FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA",
    "FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1",
    "FREQ=WEEKLY;COUNT=10",
    "FREQ=WEEKLY;UNTIL=19971224T000000Z",
    "FREQ=WEEKLY;INTERVAL=2;WKST=SU",
    "FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH",
    "FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH",
    "FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR",
    "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH",
    "FREQ=MONTHLY;COUNT=10;BYDAY=1FR",
    "FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR",
    "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU",
    "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO",
    "FREQ=MONTHLY;BYMONTHDAY=-3",
    "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15",
    "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1",
    "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15",
    "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU",
    "FREQ=YEARLY;COUNT=10;BYMONTH=6,7",
    "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3",
    "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200",
    "FREQ=YEARLY;BYDAY=20MO",
    "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO",
    "FREQ=YEARLY;BYMONTH=3;BYDAY=TH",
    "FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8",
    "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
    "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13",
    "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
    "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2",
    "FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000Z",
    "FREQ=MINUTELY;INTERVAL=15;COUNT=6",
    "FREQ=MINUTELY;INTERVAL=90;COUNT=4",
    "FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40",
    "FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16",
    "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
    "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
    "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5",
]


def seconds(moment: datetime) -> int:
    """Return the seconds since 1970 of a time, read as a wall time or as UTC."""
    return round((moment.replace(tzinfo=None) - EPOCH).total_seconds())


def rule(text: str) -> RecurrenceRule:
    found, faults = read_rrule(text)
    assert found is not None, faults
    return found.rule


def walls(
    given: RecurrenceRule | None, start: str, zone: Zone = UTC_ZONE, most: int = 5, until: int | None = None
) -> list[str]:
    """Return the first moments of a rule as the wall clock shows them."""
    occurrences = Occurrences(Recurrence(given, seconds(datetime.fromisoformat(start)), zone, until))
    known = UTC if zone.name == "UTC" else ZoneInfo(zone.name)
    found = islice(occurrences.all_after(seconds(datetime.fromisoformat(start)) - 86_400), most)
    return [datetime.fromtimestamp(moment, known).isoformat(timespec="minutes") for moment in found]


def assert_like_oracle(text: str, start: datetime, end: datetime) -> int:
    """Compare the moments of a rule with dateutil's, and the next one after one of them. Return how many there are."""
    given = rule(text)
    assert rule(rrule_text(given)) == given
    occurrences = Occurrences(Recurrence(given, seconds(start), until=seconds(end)))
    found = [EPOCH + timedelta(seconds=moment) for moment in islice(occurrences.all_after(-1), MOST)]
    if not found:
        assert given.positions or not has_any(given, start, end), (text, start)
        return 0
    assert found == oracle(text, start, end), (text, start)
    for place in {0, len(found) // 2}:  # a question asked in the middle has the same answer
        expected = found[place + 1] if place + 1 < len(found) else None
        if expected is not None:
            assert occurrences.after(seconds(found[place])) == seconds(expected), (text, start)
    return len(found)


@pytest.mark.parametrize("text", RFC_EXAMPLES)
def test_a52_the_examples_of_rfc_5545_are_like_dateutil(text: str) -> None:
    start = datetime(1997, 9, 2, 9)  # noqa: DTZ001 - a wall time
    assert assert_like_oracle(text.replace("Z;", ";").removesuffix("Z"), start, datetime(2013, 1, 1)) > 0  # noqa: DTZ001


def assert_random_rules(count: int, seed: int) -> None:
    draw = random.Random(seed)
    compared = 0
    for _ in range(count):
        text, start = random_rule(draw)
        if read_rrule(text)[0] is None:
            assert [fault.message for fault in read_rrule(text)[1]] == [
                "no month has such a day, so the rule never occurs"
            ]
            continue
        compared += assert_like_oracle(text, start, start + timedelta(days=SPANS_DAYS[text.split(";")[0][5:]])) > 0
    assert compared > count / 2


def test_a52_500_random_rules_are_like_dateutil() -> None:
    assert_random_rules(500, 1)


@pytest.mark.slow
def test_a52_10_000_random_rules_are_like_dateutil() -> None:
    assert_random_rules(10_000, 7)


def test_sc2_weeks_of_two_years_are_those_of_the_calendar() -> None:
    for number in (1, 52, 53):
        found = Occurrences(Recurrence(rule(f"FREQ=YEARLY;BYWEEKNO={number}"), 0)).all_after(-1)
        first, end = datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
        expected = [
            day
            for day in (first + timedelta(days=each) for each in range((end - first).days))
            if day.isocalendar().week == number
        ]
        assert [datetime.fromtimestamp(moment, UTC) for moment in islice(found, len(expected))] == expected


def test_sc2_weekdays_with_and_without_a_number_are_both_due() -> None:
    assert walls(rule("FREQ=MONTHLY;BYDAY=MO,1FR"), "2026-06-01T08:00", most=6) == [
        "2026-06-01T08:00+00:00",
        "2026-06-05T08:00+00:00",
        "2026-06-08T08:00+00:00",
        "2026-06-15T08:00+00:00",
        "2026-06-22T08:00+00:00",
        "2026-06-29T08:00+00:00",
    ]


def test_a51_half_past_seven_stays_half_past_seven_over_both_changes() -> None:
    daily = rule("FREQ=DAILY")
    assert walls(daily, "2026-03-28T07:30", BERLIN, 3) == [
        "2026-03-28T07:30+01:00",
        "2026-03-29T07:30+02:00",
        "2026-03-30T07:30+02:00",
    ]
    assert walls(daily, "2026-10-24T07:30", BERLIN, 3) == [
        "2026-10-24T07:30+02:00",
        "2026-10-25T07:30+01:00",
        "2026-10-26T07:30+01:00",
    ]


def test_a51_a_time_that_is_not_there_is_due_at_the_first_moment_after_it() -> None:
    assert walls(rule("FREQ=DAILY"), "2026-03-28T02:30", BERLIN, 3) == [
        "2026-03-28T02:30+01:00",
        "2026-03-29T03:00+02:00",
        "2026-03-30T02:30+02:00",
    ]
    twice = rule("FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30")
    assert walls(twice, "2026-03-29T00:00", BERLIN, 3) == [
        "2026-03-29T03:00+02:00",  # stands for 02:00, 02:30 and 03:00
        "2026-03-29T03:30+02:00",
        "2026-03-30T02:00+02:00",
    ]


def test_a51_a_time_that_comes_twice_is_due_the_first_time() -> None:
    assert walls(rule("FREQ=DAILY"), "2026-10-24T02:30", BERLIN, 3) == [
        "2026-10-24T02:30+02:00",
        "2026-10-25T02:30+02:00",
        "2026-10-26T02:30+01:00",
    ]
    occurrences = Occurrences(Recurrence(rule("FREQ=DAILY"), seconds(datetime(2026, 10, 24, 2, 30)), BERLIN))  # noqa: DTZ001
    second_time = seconds(datetime(2026, 10, 25, 1, 30, tzinfo=UTC))
    following = occurrences.after(second_time - 60)
    assert following == seconds(datetime(2026, 10, 26, 1, 30, tzinfo=UTC))


def test_sc3_spans_of_hours_run_in_elapsed_time() -> None:
    assert walls(rule("FREQ=HOURLY;INTERVAL=6"), "2026-03-28T20:00", BERLIN, 4) == [
        "2026-03-28T20:00+01:00",
        "2026-03-29T03:00+02:00",
        "2026-03-29T09:00+02:00",
        "2026-03-29T15:00+02:00",
    ]
    assert walls(rule("FREQ=MINUTELY;INTERVAL=30;BYHOUR=1,2,3"), "2026-10-25T01:00", BERLIN, 8) == [
        "2026-10-25T01:00+02:00",
        "2026-10-25T01:30+02:00",
        "2026-10-25T02:00+02:00",
        "2026-10-25T02:30+02:00",
        "2026-10-25T02:00+01:00",
        "2026-10-25T02:30+01:00",
        "2026-10-25T03:00+01:00",
        "2026-10-25T03:30+01:00",
    ]


def test_sc3_weekdays_and_hours_of_spans_read_the_wall_clock() -> None:
    found = walls(rule("FREQ=HOURLY;BYDAY=MO;BYHOUR=0,23;BYMINUTE=0"), "2026-06-01T00:00", KOLKATA, 3)
    assert found == ["2026-06-01T00:00+05:30", "2026-06-01T23:00+05:30", "2026-06-08T00:00+05:30"]


def test_a58_a_count_with_weekdays_ends_after_that_many() -> None:
    given, _ = read_recurrence("1 day", ["mo", "we"], 5)
    assert [wall[:10] for wall in walls(given, "2026-06-02T07:30", BERLIN, 9)] == [
        "2026-06-03",
        "2026-06-08",
        "2026-06-10",
        "2026-06-15",
        "2026-06-17",
    ]
    start = seconds(datetime(2026, 6, 2, 7, 30))  # noqa: DTZ001
    occurrences = Occurrences(Recurrence(given, start, BERLIN))
    last = seconds(datetime(2026, 6, 17, 5, 30, tzinfo=UTC))
    assert occurrences.until == last
    assert occurrences.after(last) is None
    assert Occurrences(Recurrence(given, start, BERLIN, until=last - 1)).until < last


@pytest.mark.parametrize(
    ("cron", "start", "expected"),
    [
        ("30 7 * * 1-5", "2026-03-27T12:00", ["2026-03-30T07:30+02:00", "2026-03-31T07:30+02:00"]),
        ("0 0 13 * fri", "2026-02-10T00:00", ["2026-02-13T00:00+01:00", "2026-02-20T00:00+01:00"]),  # either of them
        ("0 0 */2 * fri", "2026-02-10T00:00", ["2026-02-13T00:00+01:00", "2026-02-27T00:00+01:00"]),  # both of them
        ("*/30 * * * *", "2026-03-29T01:20", ["2026-03-29T01:30+01:00", "2026-03-29T03:00+02:00"]),
        ("@monthly", "2026-02-10T00:00", ["2026-03-01T00:00+01:00", "2026-04-01T00:00+02:00"]),
        ("0 9-17/4 * jan,6 *", "2026-02-10T00:00", ["2026-06-01T09:00+02:00", "2026-06-01T13:00+02:00"]),
    ],
)
def test_sc2_cron_is_read_as_cron_reads_it(cron: str, start: str, expected: Sequence[str]) -> None:
    given, faults = read_cron(cron)
    assert given is not None, faults
    assert walls(given, start, BERLIN, 2) == expected


def test_sc2_without_a_rule_a_schedule_is_due_once() -> None:
    assert walls(None, "2026-06-02T07:30", BERLIN, 9) == ["2026-06-02T07:30+02:00"]
    once = Occurrences(Recurrence(None, 1000))
    assert (once.after(999), once.after(1000)) == (1000, None)


def test_bad_input_no_moment_is_after_the_year_9999() -> None:
    late = seconds(datetime(9990, 2, 28, 12))  # noqa: DTZ001
    assert len([*Occurrences(Recurrence(rule("FREQ=YEARLY"), late)).all_after(late)]) == 9
    last = seconds(datetime(9999, 12, 31))  # noqa: DTZ001
    assert Occurrences(Recurrence(rule("FREQ=SECONDLY;INTERVAL=9999"), late)).until < last
    assert len([*Occurrences(Recurrence(rule("FREQ=MONTHLY;INTERVAL=50"), late)).all_after(late)]) == 2
    assert len([*Occurrences(Recurrence(rule("FREQ=DAILY;INTERVAL=999"), late)).all_after(late)]) == 3
    thousands = [*Occurrences(Recurrence(rule("FREQ=HOURLY;INTERVAL=10000"), late)).all_after(late)]
    assert thousands == [late + each * 36_000_000 for each in range(1, 9)]
    assert len([*Occurrences(Recurrence(rule("FREQ=WEEKLY;INTERVAL=99"), late)).all_after(late)]) == 5


@pytest.mark.parametrize(
    "text",
    [
        "FREQ=YEARLY;BYYEARDAY=366;BYMONTH=3",
        "FREQ=DAILY;INTERVAL=7;BYDAY=TU",  # the start is a Monday
        "FREQ=SECONDLY;INTERVAL=2;BYSECOND=1",
        "FREQ=HOURLY;INTERVAL=24;BYHOUR=5",
        "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6",
    ],
)
def test_bad_input_a_rule_without_any_occurrence_is_found_out(text: str) -> None:
    assert Occurrences(Recurrence(rule(text), seconds(datetime(2026, 6, 1)))).after(0) is None  # noqa: DTZ001


@pytest.mark.alone
@pytest.mark.parametrize("start", ["2026-06-01T09:00", "1926-06-01T09:00"])
@pytest.mark.parametrize(
    "text",
    [
        "FREQ=DAILY",
        "FREQ=DAILY;COUNT=50000",
        "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
        "FREQ=MONTHLY;BYDAY=-1FR",
        "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
        "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1",
        "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO",
        "FREQ=HOURLY;INTERVAL=5;BYDAY=MO,TU",
        "FREQ=MINUTELY;INTERVAL=7",
        "FREQ=MINUTELY;INTERVAL=10;BYHOUR=9,17",
    ],
)
def test_sc2_the_next_occurrence_takes_50_microseconds_even_100_years_later(text: str, start: str) -> None:
    begun = seconds(datetime.fromisoformat(start))
    occurrences = Occurrences(Recurrence(rule(text), begun, BERLIN))
    moment: int | None = seconds(datetime(2026, 7, 1))  # noqa: DTZ001
    best = 1.0
    for _ in range(20):
        before = time.process_time()
        for _ in range(100):
            assert moment is not None
            moment = occurrences.after(moment)
        best = min(best, (time.process_time() - before) / 100)
    assert best < 50e-6
