"""The policy of freezes: periods in which nothing may be changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from phaseline import LifecycleHook
from phaseline.policies.records import CHANGING

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
"""Names of the days in options; their first three letters are accepted, too."""
KEYS = frozenset({"from", "until", "days", "hours"})


class Window(NamedTuple):
    """A period of time: from one date and time to another, or the same hours on some days of every week.

    All bounds are in local time; the end is not included. If ``first`` or ``last`` is None, the period has no start or
    no end. If ``begins`` is later than ``ends``, the hours include midnight and belong to the day on which they begin.
    """

    first: datetime | None = None
    last: datetime | None = None
    days: tuple[int, ...] = ()
    begins: time = time.min
    ends: time | None = None

    def holds(self, at: datetime) -> bool:
        """Return True if the period contains ``at``, given in local time."""
        if (self.first is not None and at < self.first) or (self.last is not None and at >= self.last):
            return False
        if not self.days:
            return True
        now, today, yesterday = at.time(), at.weekday(), (at - timedelta(days=1)).weekday()
        if self.ends is None:
            return today in self.days and now >= self.begins
        if self.begins < self.ends:
            return today in self.days and self.begins <= now < self.ends
        return (today in self.days and now >= self.begins) or (yesterday in self.days and now < self.ends)


class Freeze(LifecycleHook):
    """Refuses actions that change something within certain periods.

    ``windows``: mappings that describe the periods, with the keys ``from`` and ``until`` (dates, or dates with times),
    ``days`` (such as ``sat sun``) and ``hours`` (such as ``16:00-08:00``). If a mapping has several keys, all must
    hold. A date in ``from`` means the beginning of the day, a date in ``until`` the end of the day. ``timezone``: the
    time zone of the periods. ``exempt``: users that are not refused. ``reason``: the text shown to users. Actions that
    only read, and rollbacks of failures, are not refused. The periods are checked before an approval is requested, and
    again after it.
    """

    momentary = True
    actions: Sequence[str] = CHANGING

    def __init__(
        self,
        windows: Sequence[Mapping[str, Any]],
        timezone: str = "UTC",
        reason: str = "",
        exempt: Sequence[str] = (),
        actions: Sequence[str] = actions,
    ) -> None:
        """Check the options. Raises ``ValueError`` for an invalid window or time zone."""
        if not windows:
            raise ValueError("'windows' names no time")
        self.windows = [_window(one) for one in windows]
        try:
            self.zone = ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise ValueError(f"'{timezone}' is no time zone such as Europe/Zurich") from error
        self.reason, self.exempt, self.actions = reason, frozenset(exempt), tuple(actions)

    def do_pre_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: Any = None) -> None:
        """Raise ``ValueError`` if the current time is in one of the periods."""
        at = cnxt.at.astimezone(UTC).astimezone(self.zone)
        local = at.replace(tzinfo=None)
        if cnxt.user in self.exempt or not any(window.holds(local) for window in self.windows):
            return
        why = f": {self.reason}" if self.reason else ""
        raise ValueError(f"nothing may be changed at {at:%a %Y-%m-%d %H:%M %Z}{why}")

    def do_preview_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: Any = None) -> None:
        """Raise ``ValueError`` if the action would be refused now."""
        self.do_pre_op(cnxt, stack, current_stack, action)


def _window(said: Mapping[str, Any]) -> Window:
    unknown = sorted(set(said) - KEYS)
    if unknown or not said:
        raise ValueError(f"a window has {', '.join(sorted(KEYS))}, not {', '.join(unknown) or 'nothing'}")
    days = tuple(_day(word) for word in str(said.get("days", "")).split())
    begins, ends = _hours(str(said["hours"])) if "hours" in said else (time.min, None)
    if "hours" in said and not days:
        days = tuple(range(len(DAYS)))
    last = _moment(said.get("until"), at_its_end=True)
    return Window(_moment(said.get("from")), last, days, begins, ends)


def _day(word: str) -> int:
    for number, day in enumerate(DAYS):
        if word.lower() in {day, day[:3]}:
            return number
    raise ValueError(f"'{word}' is no day; there are: {' '.join(DAYS)}, or {' '.join(day[:3] for day in DAYS)}")


def _hours(text: str) -> tuple[time, time | None]:
    begins, _, ends = text.partition("-")
    try:
        return time.fromisoformat(begins.strip()), None if ends.strip() in {"24:00", "00:00"} else time.fromisoformat(
            ends.strip()
        )
    except ValueError as error:
        raise ValueError(f"'{text}' is no span of hours such as 16:00-08:00") from error


def _moment(said: object, *, at_its_end: bool = False) -> datetime | None:
    if said is None or said == "":
        return None
    try:
        found = said if isinstance(said, date) else datetime.fromisoformat(str(said))
    except ValueError as error:
        raise ValueError(f"'{said}' is no date such as 2026-12-24, nor a time such as 2026-12-24T18:00") from error
    is_day = not isinstance(found, datetime) or (isinstance(said, str) and len(said) == len("2026-12-24"))
    moment = found if isinstance(found, datetime) else datetime.combine(found, time.min)
    if moment.tzinfo is not None:
        raise ValueError(f"'{said}' has a time zone; give 'timezone' instead")
    return moment + timedelta(days=1) if is_day and at_its_end else moment
