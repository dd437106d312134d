"""Time zones read from the data of the system, or from the package tzdata, as values for ``plan`` (SC3)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Final

from phaseline.lang.did_you_mean import closest
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.plan.recurrence.zone import DAY_S, LAST_YEAR, UTC_ZONE, Zone, year_start

YEARS_AHEAD: Final = 30
"""Years whose changes are read, from that of the start or of now; later years repeat them."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_STEP_S: Final = 7 * DAY_S
"""Seconds between two looks at a zone. No zone changes its offset twice and back within a week."""


def zone_for(name: str | None, *moments_s: int) -> Zone:
    """Return a zone with its changes from the year before the first moment to ``YEARS_AHEAD`` after the last one.

    Moments are seconds since 1970. No name means UTC.
    """
    if name is None or name == "UTC":
        return UTC_ZONE
    years = [(_EPOCH + timedelta(seconds=moment)).year for moment in moments_s]
    return read_zone(name, max(2, min(years) - 1), min(max(years) + YEARS_AHEAD, LAST_YEAR - 1))


@lru_cache(maxsize=64)
def read_zone(name: str, first_year: int, last_year: int) -> Zone:
    """Return a zone with the changes of these years. Raises: ``ProblemsError`` PL-B159 if this machine lacks it."""
    known = zone_info(name)
    changes: list[int] = []
    moment = year_start(first_year)
    end = year_start(last_year + 1)
    offsets = [_offset(known, moment)]
    while moment < end:
        following = min(moment + _STEP_S, end)
        if _offset(known, following) != offsets[-1]:
            changes.append(_change(known, moment, following))
            offsets.append(_offset(known, following))
        moment = following
    return Zone(name, tuple(changes), tuple(offsets), last_year)


def _change(known: tzinfo, before: int, after: int) -> int:
    """Return the first moment at which a zone has the offset that it has at ``after``."""
    wanted = _offset(known, after)
    while after - before > 1:
        middle = (before + after) // 2
        if _offset(known, middle) == wanted:
            after = middle
        else:
            before = middle
    return after


def _offset(known: tzinfo, moment: int) -> int:
    found = (_EPOCH + timedelta(seconds=moment)).astimezone(known).utcoffset()
    return int(found.total_seconds()) if found is not None else 0


def zone_info(name: str) -> tzinfo:
    """Return the zone of a name as Python has it. Raises: ``ProblemsError`` PL-B159 if this machine lacks it."""
    from zoneinfo import ZoneInfo, available_timezones

    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        known = available_timezones()
    if not known:
        message = f"the timezone '{name}' cannot be read: this machine has no data of timezones"
        raise ProblemsError([Problem("PL-B159", message, "pip install tzdata")]) from None
    near = closest(name, known)
    mend = f"did you mean '{near}'?" if near else "write one such as Europe/Paris"
    raise ProblemsError([Problem("PL-B159", f"'{name}' is no timezone", mend)])
