"""Random recurrence rules, and dateutil's answers to them (A52)."""

from __future__ import annotations

import calendar
import math
import random
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice

from dateutil.rrule import rrulestr

from phaseline.model.schedules.recurrence_rule import UNIT_S, RecurrenceRule

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - dateutil is asked about wall times
SPANS_DAYS = {
    "YEARLY": 366 * 30,
    "MONTHLY": 366 * 8,
    "WEEKLY": 700,
    "DAILY": 400,
    "HOURLY": 25,
    "MINUTELY": 1.5,
    "SECONDLY": 0.05,
}
"""{frequency: days that are compared}: longer ones tell nothing new, and the oracle looks at each day."""
DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
MOST = 60
"""Occurrences of a rule that are compared."""


def random_rule(draw: random.Random) -> tuple[str, datetime]:
    """Return the text of a rule that RFC 5545 allows and both read alike, and a start.

    Left out is what dateutil does differently from the RFC: weekdays with and without numbers in one rule, weeks that
    belong to two years (it takes the 1st of January 2095, which is in week 52 of 2094, for none), and BYSETPOS in a
    first week that the start cuts.
    """
    frequency = draw.choice([*SPANS_DAYS])
    start = EPOCH + timedelta(days=draw.randrange(0, 47_000), seconds=draw.randrange(86_400))
    parts: dict[str, str] = {"FREQ": frequency}
    if draw.random() < 0.5:
        parts["INTERVAL"] = str(draw.choice([1, 2, 3, 4, 5, 7, 10, 12, 24, 40, 100]))
    by: dict[str, str] = {}
    if draw.random() < 0.35:
        by["BYMONTH"] = numbers(draw, range(1, 13))
    if frequency == "YEARLY" and draw.random() < 0.25:
        by["BYWEEKNO"] = numbers(draw, [*range(1, 52), *range(-50, 0)])
    if frequency in {"YEARLY", "HOURLY", "MINUTELY", "SECONDLY"} and draw.random() < 0.2:
        by["BYYEARDAY"] = numbers(draw, [*range(1, 367), *range(-366, 0)], 20)
    if frequency != "WEEKLY" and draw.random() < 0.3:
        by["BYMONTHDAY"] = numbers(draw, [*range(1, 32), *range(-31, 0)], 6)
    if draw.random() < 0.45:
        days = draw.sample(DAYS, draw.randrange(1, 5))
        if frequency in {"YEARLY", "MONTHLY"} and "BYWEEKNO" not in by and draw.random() < 0.5:
            most = 5 if frequency == "MONTHLY" or "BYMONTH" in by else 53
            days = [f"{draw.choice([*range(1, most + 1), *range(-most, 0)])}{day}" for day in days]
        by["BYDAY"] = ",".join(days)
    for part, most, odds in (("BYHOUR", 24, 0.25), ("BYMINUTE", 60, 0.2), ("BYSECOND", 60, 0.2)):
        if draw.random() < odds:
            by[part] = numbers(draw, range(most))
    if by and draw.random() < 0.25:
        most = 8 if frequency in {"YEARLY", "MONTHLY", "WEEKLY"} else size_of_step(frequency, by)
        by["BYSETPOS"] = numbers(draw, [*range(1, most + 1), *range(-most, 0)], 3)
    if draw.random() < 0.3:
        parts["WKST"] = draw.choice(DAYS)
    if draw.random() < 0.2:
        parts["COUNT"] = str(draw.randrange(1, 60))
    if frequency == "WEEKLY" and "BYSETPOS" in by:
        start -= timedelta(days=(start.weekday() - DAYS.index(parts.get("WKST", "MO"))) % 7)
    return ";".join(f"{key}={value}" for key, value in {**parts, **by}.items()), max(start, EPOCH)


def size_of_step(frequency: str, by: Mapping[str, str]) -> int:
    """Return how many moments a day, hour, minute or second of a rule has."""
    inside = {"DAILY": 3, "HOURLY": 2, "MINUTELY": 1, "SECONDLY": 0}[frequency]
    parts = ("BYSECOND", "BYMINUTE", "BYHOUR")[:inside]
    return math.prod(by[part].count(",") + 1 for part in parts if part in by)


def numbers(draw: random.Random, known: Iterable[int], most: int = 4) -> str:
    pool = [*known]
    return ",".join(map(str, draw.sample(pool, min(len(pool), draw.randrange(1, most + 1)))))


def oracle(text: str, start: datetime, end: datetime, most: int = MOST) -> list[datetime]:
    """Return what dateutil finds from the start to the end, the first ``most`` moments."""
    if "COUNT" not in text and "UNTIL" not in text:
        text += f";UNTIL={end:%Y%m%dT%H%M%S}"
    found = islice(rrulestr(text, dtstart=start), most)
    return [moment for moment in found if moment <= end]


def has_any(rule: RecurrenceRule, start: datetime, end: datetime) -> bool:
    """Return True if a moment of the span fits the parts of a rule, looking at each step of it, BYSETPOS left out.

    dateutil cannot be asked about rules without occurrences: it looks for them until the year 9999.
    """
    unit = UNIT_S.get(rule.frequency, 86_400)
    first = start if unit < 86_400 else start.replace(hour=0, minute=0, second=0)
    step = timedelta(seconds=unit * (rule.interval if unit < 86_400 or rule.frequency == "DAILY" else 1))
    while first <= end:
        if fits(rule, first, start):
            return True
        first += step
    return False


def fits(rule: RecurrenceRule, moment: datetime, start: datetime) -> bool:
    """Return True if a day, hour, minute or second fits a rule (RFC 5545, 3.3.10, "Limit")."""
    month_end = (moment.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    year_day, year_days = moment.timetuple().tm_yday, (366 if calendar.isleap(moment.year) else 365)
    open_days = not (rule.week_numbers or rule.year_days or rule.month_days or rule.weekdays)
    months, month_days, weekdays = rule.months, rule.month_days, {day for _, day in rule.weekdays}
    if open_days and rule.frequency == "YEARLY":
        months, month_days = months or (start.month,), (start.day,)
    if open_days and rule.frequency == "MONTHLY":
        month_days = (start.day,)
    if open_days and rule.frequency == "WEEKLY":
        weekdays = {start.weekday()}
    if rule.frequency == "YEARLY" and (moment.year - start.year) % rule.interval:
        return False
    if rule.frequency == "MONTHLY" and (12 * (moment.year - start.year) + moment.month - start.month) % rule.interval:
        return False
    if rule.week_numbers or any(nth for nth, _ in rule.weekdays) or (rule.frequency == "WEEKLY" and rule.interval > 1):
        return False  # not decided here
    if moment.date() == start.date() and rule.frequency not in UNIT_S:
        return False  # its times may be before the start
    clock = (
        (rule.hours, moment.hour, UNIT_S.get(rule.frequency, 0)),
        (rule.minutes, moment.minute, UNIT_S.get(rule.frequency, 0) < 3600),
        (rule.seconds, moment.second, UNIT_S.get(rule.frequency, 0) < 60),
    )
    return (
        (not months or moment.month in months)
        and (not rule.year_days or year_day in rule.year_days or year_day - year_days - 1 in rule.year_days)
        and (not month_days or moment.day in month_days or moment.day - month_end.day - 1 in month_days)
        and (not weekdays or moment.weekday() in weekdays)
        and (
            rule.frequency not in UNIT_S
            or all(not known or value in known or not asked for known, value, asked in clock)
        )
    )
