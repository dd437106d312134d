"""A time zone as a value: its changes of offset in the years asked for (SC2, SC3)."""

from __future__ import annotations

from bisect import bisect_right
from datetime import date
from typing import Final

from phaseline.lang.fast_dataclasses import frozen

DAY_S: Final = 86_400
EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
LAST_YEAR: Final = 9999
LAST_SECOND: Final = (date(LAST_YEAR, 12, 31).toordinal() - EPOCH_DAY + 1) * DAY_S - 1
"""The last second of the last year that a date can have, since 1970."""
_CALENDARS: Final = 28
"""Number of consecutive years after which the 14 calendars (first weekday, leap or not) have all come."""


@frozen
class Zone:
    """A time zone. All times are seconds since 1970: *moments* of UTC, and *wall* times without an offset.

    ``offsets[n]`` is what a wall clock adds to UTC before ``changes[n]``, a moment; the last one is valid after all
    changes. The changes reach to the end of ``last_year``; for a later year those of the last year with an equal
    calendar count, so that summer time never ends.
    """

    name: str
    changes: tuple[int, ...] = ()
    offsets: tuple[int, ...] = (0,)
    last_year: int = LAST_YEAR

    def offset_at(self, moment: int) -> int:
        """Return the seconds that the wall clock adds to UTC at a moment."""
        return self.offsets[bisect_right(self.changes, moment - self._beyond(moment))]

    def next_change(self, moment: int) -> int | None:
        """Return the first moment after this one at which the offset changes, or None if it never does."""
        if not self.changes:
            return None
        beyond = self._beyond(moment)
        place = bisect_right(self.changes, moment - beyond)
        if place < len(self.changes) and self._beyond(self.changes[place] + beyond) == beyond:
            return self.changes[place] + beyond
        year = year_of(moment) + 1
        return year_start(year) if year <= LAST_YEAR else None  # calendars change here: look again from there

    def wall(self, moment: int) -> int:
        """Return the wall time at a moment."""
        return moment + self.offset_at(moment)

    def moment(self, wall: int) -> int:
        """Return the moment of a wall time: the first one if it comes twice, the first after it if it does not exist."""
        beyond = self._beyond(wall)
        shown = wall - beyond
        place = bisect_right(self.changes, shown - DAY_S)
        while place < len(self.changes) and shown - self.offsets[place] >= self.changes[place]:
            place += 1
        found = shown - self.offsets[place]
        return max(found, self.changes[place - 1] if place else found) + beyond

    def _beyond(self, second: int) -> int:
        """Return the seconds between a time after ``last_year`` and the same time in a year with its calendar."""
        if not self.changes or second < year_start(self.last_year + 1):
            return 0
        year = year_of(second)
        first = year_start(year)
        length = year_start(year + 1) - first
        for like in range(self.last_year, self.last_year - _CALENDARS, -1):
            start = year_start(like)
            if (first - start) % (7 * DAY_S) == 0 and year_start(like + 1) - start == length:
                return first - start
        return first - year_start(self.last_year)  # a century without a leap day is between: no calendar is equal


UTC_ZONE: Final = Zone("UTC")


def year_of(second: int) -> int:
    """Return the year of a time in seconds since 1970."""
    return date.fromordinal(min(second, LAST_SECOND) // DAY_S + EPOCH_DAY).year


def year_start(year: int) -> int:
    """Return the first second of a year since 1970; the year after the last is allowed.

    >>> year_start(1971)
    31536000
    """
    if year > LAST_YEAR:
        return LAST_SECOND + 1
    return (date(year, 1, 1).toordinal() - EPOCH_DAY) * DAY_S
