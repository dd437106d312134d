"""Read the schedules of deployments: when a workflow starts and how often (B26, SC2, SC3).

Times are those of the wall clock in the zone of the schedule, UTC if it names none, and stay so: a workflow that starts
at 07:30 also does so after a change to summer time. ``07:30`` (today) and ``+2 weeks`` (from now) get their meaning when
the deployment is made: ``begun`` converts them then.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, cast

from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.schedules.cron_text import read_cron
from phaseline.model.schedules.recurrence_words import read_recurrence
from phaseline.model.schedules.rrule_text import read_rrule

TIMES = ("since", "until")
RULE_WORDS = ("recurrence", "weekdays", "count")
"""Fields that describe a rule in Cloudify's words; ``rrule`` and ``cron`` exclude them and each other."""
DEFAULTS: Mapping[str, Value] = {
    "default_enabled": True,
    "stop_after_fail": False,
    "slip": 0,
    "weekdays": [],
    "execution_arguments": {},
    "workflow_parameters": {},
}
"""Default values for the fields of a schedule."""
SAID = "said"
"""Key in a converted schedule: {field: time as written, such as ``+2 weeks``} for times that ``begun`` converted."""
MAX_SLIP = 10_000_000
"""Largest slip, in minutes: about 19 years."""

_AT = re.compile(r"(?:([0-9]{4})-([0-9]{1,2})-([0-9]{1,2}) )?([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?")
_SPAN = re.compile(r"([0-9]{1,9}) ?(min|minute|h|hour|d|day|w|week|mo|month|y|year)s?")
_LATER = re.compile(rf"(?:\+{_SPAN.pattern} ?)+")
_ELAPSED = {"min": "minutes", "minute": "minutes", "h": "hours", "hour": "hours"}
_UNITS = {**_ELAPSED, "d": "days", "day": "days", "w": "weeks", "week": "weeks"}
_WRITTEN, _SHAPE = "%Y-%m-%d %H:%M:%S", "2026-01-01 00:00:00"
_SOME_DAY, _FAR = datetime(2000, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC)


def read_schedule(written: Mapping[str, Any], spot: ElementPath, report: ProblemReport) -> dict[str, Value]:
    """Return the schedule with each time that has a date in one form; other times stay as written. Report all
    problems.
    """
    found: dict[str, Value] = dict(written)
    zone = _zone(written.get("timezone"), spot.at("timezone"), report)
    for key in TIMES:
        if written.get(key) is not None:
            found[key] = _time(written[key], zone, spot.at(key), report)
    since, until = (str(found.get(key) or "") for key in TIMES)
    if len(since) == len(until) == len(_SHAPE) and until < since:
        report.add("PL-B159", "the schedule ends before it begins", "correct 'since' or 'until'", spot.at("until"))
    _check_rule(written, spot, report)
    slip = written.get("slip")
    if slip is not None and not 0 <= slip <= MAX_SLIP:
        report.add("PL-B159", f"'slip' is {slip}", f"write 0 to {MAX_SLIP} minutes", spot.at("slip"))
    return found


def _check_rule(written: Mapping[str, Any], spot: ElementPath, report: ProblemReport) -> None:
    """Report what is wrong with how often a schedule is due."""
    forms = [key for key in ("rrule", "cron") if written.get(key) is not None]
    words = [key for key in RULE_WORDS if written.get(key)]
    if len(forms) + bool(words) > 1:
        said = [*forms, *words]
        message = f"'{said[0]}' and '{said[1]}' exclude each other"
        report.add("PL-B159", message, "keep one of them", spot.at(said[1]))
    weekdays = written.get("weekdays") or ()
    for key, fault in read_recurrence(written.get("recurrence"), weekdays, written.get("count"))[1]:
        if not (forms and "without a recurrence" in fault.message):
            report.add("PL-B159", fault.message, fault.mend, spot.at(key))
    for key in forms:
        if key == "cron":
            faults = read_cron(written[key])[1]
        else:
            text, faults = read_rrule(written[key])
            zone = "" if text is None else text.zone
            if zone:
                _zone(zone, spot.at(key), report)
                if zone != (written.get("timezone") or zone):
                    mend = "write the zone once: as 'timezone', or as TZID of the start"
                    report.add("PL-B159", f"the rule is in the zone '{zone}', the schedule is not", mend, spot.at(key))
        for fault in faults:
            report.add("PL-B159", fault.message, fault.mend, spot.at(key))


def begun(settings: Mapping[str, Value], now_ms: int) -> Mapping[str, Value]:
    """Return the settings of a new deployment, with the times of its schedules as dates and with defaults filled in.

    >>> begun({"default_schedules": {"a": {"since": "+1 mo"}}}, 0)["default_schedules"]["a"]["since"]
    '1970-02-01 00:00:00'
    """
    schedules = cast("Mapping[str, dict[str, Value]]", settings.get("default_schedules") or {})
    if not schedules:
        return settings
    now = datetime.fromtimestamp(now_ms / 1000, UTC).replace(second=0, microsecond=0)
    return {**settings, "default_schedules": {name: _begun(schedule, now) for name, schedule in schedules.items()}}


def _begun(schedule: dict[str, Value], now: datetime) -> dict[str, Value]:
    found: dict[str, Value] = {**DEFAULTS, **schedule}
    zone = _zone_of(str(schedule.get("timezone") or "UTC")) or UTC
    said: dict[str, Value] = {}
    for key in TIMES:
        text = schedule.get(key)
        if isinstance(text, str) and (text.startswith("+") or _is_clock(text)):
            found[key] = wall_time(text, zone, now) or text
            said[key] = text
    return {**found, SAID: said} if said else found


def wall_time(text: str, zone: tzinfo, now: datetime) -> str | None:
    """Return a time as schedules store it, in their zone: ``2026-01-01 07:30``, ``07:30`` (today) or ``+2 weeks``; or None.

    >>> wall_time("+1d", UTC, datetime(2026, 1, 1, 7, 30, tzinfo=UTC)), wall_time("soon", UTC, _SOME_DAY)
    ('2026-01-02 07:30:00', None)
    """
    here = now.astimezone(zone).replace(microsecond=0)
    if _LATER.fullmatch(text):
        return later(here.replace(second=0), text).strftime(_WRITTEN) if _is_near(text) else None
    return _moment(text, zone, here)


def is_said_again(old: Mapping[str, Value], new: Mapping[str, Value]) -> bool:
    """Return True if two converted schedules were written alike, even if they were converted at different times.

    >>> def at(now, **said): return begun({"default_schedules": {"a": said}}, now)["default_schedules"]["a"]
    >>> is_said_again(at(0, since="+1 d"), at(86_400_000, since="+1 d")), is_said_again(at(0, since="+1 d"), at(0, since="+2 d"))
    (True, False)
    """
    said = old.get(SAID)
    moved = frozenset(said) if isinstance(said, dict) else frozenset()
    return {key: old[key] for key in old if key not in moved} == {key: new[key] for key in new if key not in moved}


def later(moment: datetime, text: str) -> datetime:
    """Add the time spans in ``text`` (such as ``+1day+10min``) to a time. Hours and minutes are elapsed time, longer
    spans move the wall clock. A day that the resulting month lacks becomes its last day.

    >>> later(datetime(2026, 1, 31), "+1 mo").date().isoformat()
    '2026-02-28'
    """
    for number, unit in _SPAN.findall(text):
        if unit in _ELAPSED and moment.tzinfo is not None:
            moment = (moment.astimezone(UTC) + timedelta(**{_UNITS[unit]: int(number)})).astimezone(moment.tzinfo)
        elif unit in _UNITS:
            moment += timedelta(**{_UNITS[unit]: int(number)})
        else:
            moment = _months_later(moment, int(number) * (12 if unit.startswith("y") else 1))
    return moment


def _months_later(moment: datetime, months: int) -> datetime:
    years, month = divmod(moment.month - 1 + months, 12)
    first = moment.replace(year=moment.year + years, month=month + 1, day=1)
    days = (first.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    return first.replace(day=min(moment.day, days.day))


def _time(text: str, zone: tzinfo, spot: ElementPath, report: ProblemReport) -> str:
    """Return a time as it is stored: with a date, in one form; a time of day or a span from now, as written."""
    if _LATER.fullmatch(text):
        if _is_near(text):
            return text
    else:
        moment = _moment(text, zone, _SOME_DAY)
        if moment is not None:
            return text if _is_clock(text) else moment
    mend = "write 'YYYY-MM-DD HH:MM', 'HH:MM', or a time from now on such as '+2 weeks' or '+1day+10min'"
    report.add("PL-B159", f"'{text}' is no time", mend, spot)
    return text


def _moment(text: str, zone: tzinfo, day: datetime) -> str | None:
    """Return a wall time in one form, or None if it is invalid. A text without a date means ``day``."""
    found = _AT.fullmatch(text)
    if found is None:
        return None
    numbers = [int(number or 0) for number in found.groups()]
    date = numbers[:3] if found[1] else [day.year, day.month, day.day]
    try:
        moment = datetime(*date, *numbers[3:], tzinfo=zone)  # type: ignore[misc, arg-type]  # six numbers
        moment.astimezone(UTC)  # the first and the last day of all may not exist in UTC
    except (ValueError, OverflowError):
        return None
    return moment.strftime(_WRITTEN)


def _is_clock(text: object) -> bool:
    """Return True for a time of day without a date, such as ``07:30``."""
    found = _AT.fullmatch(text) if isinstance(text, str) else None
    return found is not None and found[1] is None


def _is_near(text: str) -> bool:
    """Return True if the time span, or the sum of several, is positive and short enough for dates (about 1,000
    years).
    """
    try:
        return _SOME_DAY < later(_SOME_DAY, text) < _FAR
    except (ValueError, OverflowError):
        return False


def _zone(name: str | None, spot: ElementPath, report: ProblemReport) -> tzinfo:
    """Return the time zone that a schedule names, or UTC, not the zone of this machine: a plan is equal on every
    machine (B51).
    """
    zone = UTC if name is None else _zone_of(name)
    if zone is None:
        from zoneinfo import available_timezones

        message, mend = unknown_zone(str(name), available_timezones(), report)
        report.add("PL-B159", message, mend, spot)
    return zone or UTC


def unknown_zone(name: str, known: Collection[str], report: ProblemReport) -> tuple[str, str]:
    """Return the message and the mend for a zone that is not among the known ones; a machine may know none."""
    if not known:
        return f"the timezone '{name}' cannot be read: this machine has no data of timezones", "pip install tzdata"
    return f"'{name}' is no timezone", report.suggest(name, known, "write one such as Europe/Paris")


def _zone_of(name: str) -> tzinfo | None:
    """Return the time zone of this name from the data of the system or of Python, or None if there is none."""
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # nothing of this name, a folder of the database, no name at all
        return None
