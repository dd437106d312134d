"""Moments at which a schedule is due: its rule in its time zone (SC2, SC3)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import islice

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.schedules.recurrence_rule import UNIT_S, RecurrenceRule
from phaseline.plan.recurrence.elapsed_steps import ElapsedSteps, selected
from phaseline.plan.recurrence.month_days import MonthDays
from phaseline.plan.recurrence.zone import DAY_S, EPOCH_DAY, LAST_SECOND, LAST_YEAR, UTC_ZONE, Zone, year_of


@frozen
class Recurrence:
    """When a schedule is due. ``start`` is a wall time of ``zone``; without a rule it is due once, then.

    ``until`` is the last moment allowed, in seconds of UTC since 1970, in addition to that of the rule.
    """

    rule: RecurrenceRule | None
    start: int
    zone: Zone = UTC_ZONE
    until: int | None = None


class Occurrences:
    """The moments, in seconds of UTC since 1970, at which a recurrence is due; the same for every question.

    The count of a rule is found once, when the object is made, by walking through all its occurrences. With the
    result stored as ``until``, nothing is counted again.
    """

    __slots__ = ("_days", "_first", "_limit", "_recurrence", "_rule", "_steps", "_times", "_zone")

    def __init__(self, recurrence: Recurrence) -> None:
        """Prepare the days and times of day of a recurrence."""
        rule = recurrence.rule
        self._recurrence = recurrence
        self._zone = recurrence.zone
        self._first = recurrence.zone.moment(recurrence.start)
        self._limit = _limit(recurrence)
        self._rule = rule
        if rule is None:
            return
        start_day = recurrence.start // DAY_S + EPOCH_DAY
        self._days = MonthDays(rule, start_day)
        self._steps = ElapsedSteps(rule, self._days, recurrence.start) if rule.frequency in UNIT_S else None
        self._times = () if self._steps else _times_of_day(rule, recurrence.start)
        if rule.count is not None:
            self._limit = min(self._limit, self._last_counted(rule.count))

    @property
    def until(self) -> int:
        """Return the last moment allowed: of the rule's UNTIL, its COUNT, the schedule's end and the last year."""
        return self._limit

    def after(self, moment: int) -> int | None:
        """Return the first moment after this one at which the schedule is due, or None if there is none."""
        return next(self.all_after(moment), None)

    def all_after(self, moment: int) -> Iterator[int]:
        """Yield the moments after this one, ascending, each once."""
        for found in self._unlimited(moment):
            if found > self._limit:
                return
            yield found

    def _unlimited(self, moment: int) -> Iterator[int]:
        if self._rule is None:
            if self._first > moment:
                yield self._first
        elif self._steps is not None:
            yield from self._stepped(self._rule, self._steps, moment)
        else:
            last = moment
            walls = self._walls(self._rule, max(self._zone.wall(moment), self._recurrence.start - 1))
            for wall in walls:
                found = self._zone.moment(wall)
                if found > last:  # two times of a gap fall on its end, and the second hour of a fold is not counted
                    last = found
                    yield found

    def _walls(self, rule: RecurrenceRule, wall: int) -> Iterator[int]:
        """Yield the wall times after this one, of rules that follow the calendar."""
        if rule.positions:
            yield from self._positioned(rule, wall)
            return
        day, second = wall // DAY_S + EPOCH_DAY, wall % DAY_S
        one = date.fromordinal(day)
        year, month = one.year, one.month
        days, times = self._days, self._times
        last = self._last_year()
        while year <= last:
            for each in days.of_month(year, month):
                if each < day:
                    continue
                base = (each - EPOCH_DAY) * DAY_S
                later = times[bisect_right(times, second) :] if each == day else times
                for time in later:
                    yield base + time
            year, month = days.month_after(year, month)

    def _positioned(self, rule: RecurrenceRule, wall: int) -> Iterator[int]:
        """Yield the wall times after this one that BYSETPOS selects from each year, month, week or day."""
        count = len(self._times)
        for days in self._periods(rule, wall // DAY_S + EPOCH_DAY):
            size = len(days) * count
            places = {place - 1 if place > 0 else size + place for place in rule.positions if abs(place) <= size}
            for place in sorted(places):
                found = (days[place // count] - EPOCH_DAY) * DAY_S + self._times[place % count]
                if found > wall:
                    yield found

    def _periods(self, rule: RecurrenceRule, day: int) -> Iterator[Sequence[int]]:
        """Yield the days of each period from that of ``day`` on."""
        one = date.fromordinal(day)
        days = self._days
        if rule.frequency == "YEARLY":
            for year in range(one.year, self._last_year() + 1):
                yield [each for month in range(1, 13) for each in days.of_month(year, month)]
            return
        year, month = one.year, one.month
        if rule.frequency == "WEEKLY":
            yield from self._weeks(rule, day)
            return
        last = self._last_year()
        while year <= last:
            found = days.of_month(year, month)
            if rule.frequency == "MONTHLY":
                yield found
            else:
                yield from ((each,) for each in found if each >= day)
            year, month = days.month_after(year, month)

    def _weeks(self, rule: RecurrenceRule, day: int) -> Iterator[Sequence[int]]:
        """Yield the days of each week, from that of ``day`` on."""
        week = day - (day - 1 - rule.week_start) % 7
        one = date.fromordinal(max(week, 1))
        year, month = one.year, one.month
        held: list[int] = []
        last = self._last_year()
        while year <= last:
            for each in self._days.of_month(year, month):
                if each < week:
                    continue
                if each >= week + 7:
                    yield held
                    held, week = [], each - (each - 1 - rule.week_start) % 7
                held.append(each)
            year, month = self._days.month_after(year, month)
        yield held

    def _stepped(self, rule: RecurrenceRule, steps: ElapsedSteps, moment: int) -> Iterator[int]:
        """Yield the moments after this one, of rules that count elapsed time."""
        first = self._first
        if not rule.has_parts:
            step = UNIT_S[rule.frequency] * rule.interval
            yield from range(first + max(0, -(-(moment + 1 - first) // step)) * step, LAST_SECOND, step)
            return
        if not steps.is_possible(self._recurrence.start):
            return
        zone = self._zone
        moment = max(moment, first - 1)
        while True:
            offset, change = zone.offset_at(moment + 1), zone.next_change(moment + 1)
            end = min(LAST_SECOND if change is None else change, self._limit + 1)
            while (wall := steps.after(moment + offset, first + offset, end + offset)) is not None:
                moment = wall - offset
                yield moment
            if change is None or change > self._limit:
                return
            moment = change - 1

    def _last_year(self) -> int:
        """Return the year of the last moment allowed, on any wall clock: no search needs to go further."""
        return min(year_of(self._limit + DAY_S), LAST_YEAR)

    def _last_counted(self, count: int) -> int:
        """Return the moment of the last occurrence that a count allows."""
        rule = self._rule
        if rule is not None and rule.frequency in UNIT_S and not rule.has_parts:
            return self._first + (count - 1) * UNIT_S[rule.frequency] * rule.interval
        last = self._first - 1
        for last in islice(self.all_after(self._first - 1), count):  # noqa: B007 - the last one is wanted
            pass
        return last


def _limit(recurrence: Recurrence) -> int:
    """Return the last moment that the ends given allow."""
    limit = LAST_SECOND - DAY_S
    until = None if recurrence.rule is None else recurrence.rule.until
    if until is not None:
        limit = min(limit, until.second if until.is_utc else recurrence.zone.moment(until.second))
    return limit if recurrence.until is None else min(limit, recurrence.until)


def _times_of_day(rule: RecurrenceRule, start: int) -> tuple[int, ...]:
    """Return the seconds of the day at which a rule of days or more is due, ascending."""
    second = start % DAY_S
    hours = rule.hours or (second // 3600,)
    minutes = rule.minutes or (second // 60 % 60,)
    seconds = rule.seconds or (second % 60,)
    return selected([3600 * h + 60 * m + s for h in hours for m in minutes for s in seconds], ())
