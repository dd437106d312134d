"""Occurrences of rules that count elapsed time: hours, minutes and seconds (SC3).

Steps are counted in elapsed time from the start, so that a day with 23 or 25 hours changes nothing. Parts such as
BYDAY and BYHOUR read the wall clock: times here are wall times under one offset, and the caller searches again when the
offset changes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from datetime import date
from math import gcd
from typing import Final

from phaseline.model.schedules.recurrence_rule import UNIT_S, RecurrenceRule
from phaseline.plan.recurrence.month_days import MonthDays
from phaseline.plan.recurrence.zone import DAY_S, EPOCH_DAY, LAST_SECOND, LAST_YEAR

MAX_STEPS: Final = 500_000
"""Steps without a result after which a search gives up: what is asked for is then taken to never occur."""


class ElapsedSteps:
    """Wall times that fit a rule of hours, minutes or seconds."""

    __slots__ = ("_days", "_has_days", "_interval", "_rule", "_unit", "_within")

    def __init__(self, rule: RecurrenceRule, days: MonthDays, start: int) -> None:
        """Prepare the seconds within one step: with hours, all selected minutes and seconds of an hour."""
        self._rule = rule
        self._days = days
        self._unit = UNIT_S[rule.frequency]
        self._interval = rule.interval
        self._has_days = bool(rule.months or rule.week_numbers or rule.year_days or rule.month_days or rule.weekdays)
        minutes = (rule.minutes or (start // 60 % 60,)) if rule.frequency == "HOURLY" else (0,)
        seconds = (rule.seconds or (start % 60,)) if rule.frequency != "SECONDLY" else (0,)
        self._within = selected([60 * minute + second for minute in minutes for second in seconds], rule.positions)

    def after(self, wall: int, start: int, end: int) -> int | None:
        """Return the first wall time after ``wall``, from ``start`` on and before ``end``, or None."""
        unit, interval = self._unit, self._interval
        anchor = start // unit
        step = max(wall, start) // unit
        step += (anchor - step) % interval
        months: tuple[int, int, Sequence[int]] = (0, 0, ())
        for _ in range(MAX_STEPS):
            second = step * unit
            if second >= end or second > LAST_SECOND:
                return None
            ahead = self._clock_jump(second)
            if ahead == second and self._has_days:
                ahead, months = self._day_jump(second, months)
            if ahead != second:
                step = -(-ahead // unit)
                step += (anchor - step) % interval
                continue
            for part in self._within:
                if second + part > wall and second + part >= start:
                    return second + part if second + part < end else None
            step += interval
        return None

    def is_possible(self, start: int) -> bool:
        """Return False if no step can ever fall on a selected hour, minute and second."""
        rule, per_day = self._rule, DAY_S // self._unit
        common = gcd(self._interval, per_day)
        offset = start // self._unit % common
        hours = rule.hours or range(24)
        minutes = (rule.minutes or range(60)) if self._unit < 3600 else (0,)
        seconds = (rule.seconds or range(60)) if self._unit < 60 else (0,)
        return bool(self._within) and any(
            (3600 * hour + 60 * minute + second) // self._unit % common == offset
            for hour in hours
            for minute in minutes
            for second in seconds
        )

    def _clock_jump(self, second: int) -> int:
        """Return the first time from ``second`` on whose hour, minute and second may be selected."""
        rule = self._rule
        day = second - second % DAY_S
        if rule.hours:
            hour = second % DAY_S // 3600
            if hour not in rule.hours:
                return day + (
                    3600 * rule.hours[place] if (place := bisect_left(rule.hours, hour)) < len(rule.hours) else DAY_S
                )
        if self._unit < 3600 and rule.minutes:
            minute = second // 60 % 60
            if minute not in rule.minutes:
                place = bisect_left(rule.minutes, minute)
                base = second - second % 3600
                return base + (60 * rule.minutes[place] if place < len(rule.minutes) else 3600)
        if self._unit < 60 and rule.seconds and second % 60 not in rule.seconds:
            place = bisect_left(rule.seconds, second % 60)
            return second - second % 60 + (rule.seconds[place] if place < len(rule.seconds) else 60)
        return second

    def _day_jump(
        self, second: int, months: tuple[int, int, Sequence[int]]
    ) -> tuple[int, tuple[int, int, Sequence[int]]]:
        """Return the first time from ``second`` on whose day fits, and the days of its month for the next question."""
        day = second // DAY_S + EPOCH_DAY
        first, end, days = months
        if not first <= day < end:
            one = date.fromordinal(day)
            first = one.replace(day=1).toordinal()
            end = _next_month(one.year, one.month)
            days = self._days.of_month(one.year, one.month)
        place = bisect_left(days, day)
        if place == len(days):
            return (end - EPOCH_DAY) * DAY_S, (first, end, days)
        found = days[place]
        return (second if found == day else (found - EPOCH_DAY) * DAY_S), (first, end, days)


def selected(times: Sequence[int], positions: Sequence[int]) -> tuple[int, ...]:
    """Return the times at these positions: 1 is the first, -1 the last; all without positions."""
    if not positions:
        return tuple(times)
    found = {times[place - 1 if place > 0 else place] for place in positions if abs(place) <= len(times)}
    return tuple(sorted(found))


def _next_month(year: int, month: int) -> int:
    if (year, month) == (LAST_YEAR, 12):
        return date(year, month, 31).toordinal() + 1
    return date(year + month // 12, month % 12 + 1, 1).toordinal()
