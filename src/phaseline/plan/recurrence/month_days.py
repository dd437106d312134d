"""Days of a month that fit a recurrence rule: of months, weeks, days of the year, days of the month and weekdays.

Days are ordinals as in ``date.toordinal``; day 1 is a Monday. Everything is computed for one month without looking at
the time since the start, so that a rule costs the same a hundred years later (SC2).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from typing import Final

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.schedules.recurrence_rule import UNIT_S, RecurrenceRule
from phaseline.plan.recurrence.zone import LAST_YEAR

_LENGTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_LAST_DAY: Final = date(LAST_YEAR, 12, 31).toordinal()


class MonthDays:
    """Days that fit a rule, asked for a month at a time. ``start`` is the day of the schedule's start."""

    __slots__ = ("_calendar", "_first_month", "_first_week", "_interval", "_plain", "_rule", "_start", "_year")

    def __init__(self, rule: RecurrenceRule, start: int) -> None:
        """Take over what the rule leaves open, such as the day of the month, from the start (RFC 5545, 3.3.10)."""
        day = date.fromordinal(start)
        self._rule = _completed(rule, day)
        self._start = start
        self._year = day.year
        self._first_month = 12 * day.year + day.month
        self._first_week = start - (start - 1 - rule.week_start) % 7
        self._calendar = rule.frequency if rule.frequency not in UNIT_S else ""
        self._interval = rule.interval if self._calendar else 1
        is_numbered = any(nth for nth, _ in rule.weekdays)
        self._plain = frozenset() if is_numbered else frozenset(day for _, day in self._rule.weekdays)

    def of_month(self, year: int, month: int) -> Sequence[int]:
        """Return the days of a month that fit, ascending."""
        rule = self._rule
        if (rule.months and month not in rule.months) or not self._has_month(year, month):
            return ()
        first = date(year, month, 1).toordinal()
        length = _LENGTHS[month - 1] + (month == 2 and (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)))
        weeks = [*self._weeks(year, month, first, first + length)] if rule.week_numbers else ()
        if rule.week_numbers and not weeks:
            return ()
        days = self._candidates(year, first, length)
        if rule.year_days:
            start = date(year, 1, 1).toordinal()
            end = start + 365 + (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
            fit = {start + day - 1 if day > 0 else end + day for day in rule.year_days}
            days = [day for day in days if day in fit]
        if rule.week_numbers:
            fit = {day for week in weeks for day in range(week, week + 7)}
            days = [day for day in days if day in fit]
        if self._interval > 1 and self._calendar in {"DAILY", "WEEKLY"}:
            days = [day for day in days if self._is_in_step(day)]
        return days

    def month_after(self, year: int, month: int) -> tuple[int, int]:
        """Return the next month that can have days; its year may be after the last year."""
        interval, kind = self._interval, self._calendar
        if kind == "MONTHLY":
            ahead = 12 * year + month - 1
            ahead += interval - (ahead + 1 - self._first_month) % interval
            return divmod(ahead, 12)[0], ahead % 12 + 1
        if kind == "YEARLY" and month == 12:
            return year + interval - (year - self._year) % interval, 1
        if interval > 31 and kind in {"DAILY", "WEEKLY"}:
            return self._month_in_step(year, month)
        return (year, month + 1) if month < 12 else (year + 1, 1)

    def _month_in_step(self, year: int, month: int) -> tuple[int, int]:
        """Return the month of the first day or week in step after a month."""
        end = date(year, month, 28).toordinal() + 4
        step, anchor = (
            (self._interval, self._start) if self._calendar == "DAILY" else (7 * self._interval, self._first_week)
        )
        end = date.fromordinal(min(end, _LAST_DAY)).replace(day=1).toordinal()
        found = end + (anchor - end) % step
        if self._calendar == "WEEKLY" and found - step + 6 >= end:
            found = end  # a week that began in the month before
        if found > _LAST_DAY or end <= date(year, month, 1).toordinal():
            return LAST_YEAR + 1, 1
        day = date.fromordinal(found)
        return day.year, day.month

    def _has_month(self, year: int, month: int) -> bool:
        if self._calendar == "YEARLY":
            return (year - self._year) % self._interval == 0
        if self._calendar == "MONTHLY":
            return (12 * year + month - self._first_month) % self._interval == 0
        return True

    def _is_in_step(self, day: int) -> bool:
        if self._calendar == "DAILY":
            return (day - self._start) % self._interval == 0
        return (day - self._first_week) // 7 % self._interval == 0

    def _candidates(self, year: int, first: int, length: int) -> Sequence[int]:
        """Return the days that fit the days of the month and the weekdays."""
        rule = self._rule
        end = first + length
        if not rule.month_days and not rule.weekdays:
            if self._interval > 1 and self._calendar == "DAILY":
                return range(first + (self._start - first) % self._interval, end, self._interval)
            return range(first, end)
        if not rule.weekdays:
            return _of_month_days(rule.month_days, first, length)
        plain = self._plain
        if plain and rule.month_days and not rule.is_either_day:
            return [day for day in _of_month_days(rule.month_days, first, length) if (day - 1) % 7 in plain]
        if plain:
            wanted: Iterable[int] = (
                day for weekday in plain for day in range(first + (weekday + 1 - first) % 7, end, 7)
            )
        elif rule.frequency == "YEARLY" and not rule.months:
            start = date(year, 1, 1).toordinal()
            last = start + 365 + (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
            wanted = (day for day in _numbered(rule.weekdays, start, last) if first <= day < end)
        else:
            wanted = _numbered(rule.weekdays, first, end)
        if not rule.month_days:
            return sorted(wanted)
        if rule.is_either_day:
            return sorted({*wanted, *_of_month_days(rule.month_days, first, length)})
        return sorted({*wanted}.intersection(_of_month_days(rule.month_days, first, length)))

    def _weeks(self, year: int, month: int, first: int, end: int) -> Iterable[int]:
        """Yield the first days of the weeks with a wanted number that touch a month, of its year or one beside it."""
        for one in range(year - (month == 1), year + 1 + (month == 12)):
            if not 1 <= one <= LAST_YEAR:
                continue
            start, after = self._first_of_weeks(one), self._first_of_weeks(one + 1)
            for number in self._rule.week_numbers:
                week = start + 7 * (number - 1) if number > 0 else after + 7 * number
                if start <= week < after and first - 7 < week < end:
                    yield week

    def _first_of_weeks(self, year: int) -> int:
        """Return the first day of week 1 of a year: the first week with four days in it."""
        fourth = date(year, 1, 4).toordinal() if year <= LAST_YEAR else _LAST_DAY + 4
        return fourth - (fourth - 1 - self._rule.week_start) % 7


def _completed(rule: RecurrenceRule, day: date) -> RecurrenceRule:
    """Return the rule with days that it leaves open filled in from its start."""
    if rule.week_numbers or rule.year_days or rule.month_days or rule.weekdays:
        return rule
    if rule.frequency == "YEARLY":
        return altered(rule, months=rule.months or (day.month,), month_days=(day.day,))
    if rule.frequency == "MONTHLY":
        return altered(rule, month_days=(day.day,))
    if rule.frequency == "WEEKLY":
        return altered(rule, weekdays=((0, day.weekday()),))
    return rule


def _of_month_days(numbers: Collection[int], first: int, length: int) -> list[int]:
    return sorted({first + (day - 1 if day > 0 else length + day) for day in numbers if abs(day) <= length})


def _numbered(weekdays: Collection[tuple[int, int]], first: int, end: int) -> Iterable[int]:
    """Yield the days from ``first`` to before ``end`` that are the nth of their weekday, or any of it if n is 0."""
    for nth, weekday in weekdays:
        days = range(first + (weekday + 1 - first) % 7, end, 7)
        if nth == 0:
            yield from days
        elif abs(nth) <= len(days):
            yield days[nth - 1 if nth > 0 else nth]
