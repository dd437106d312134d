"""Read and write recurrence rules in the text form of RFC 5545: ``FREQ=WEEKLY;BYDAY=MO`` (SC2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final, cast

from phaseline.lang.did_you_mean import closest
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.schedules.recurrence_rule import (
    DAY_NAMES,
    RecurrenceRule,
    RuleFault,
    RuleUntil,
    rule_faults,
)

FREQUENCIES: Final = ("YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY")
NUMBER_PARTS: Final[dict[str, tuple[str, int, int, bool]]] = {
    "BYMONTH": ("months", 1, 12, False),
    "BYWEEKNO": ("week_numbers", 1, 53, True),
    "BYYEARDAY": ("year_days", 1, 366, True),
    "BYMONTHDAY": ("month_days", 1, 31, True),
    "BYHOUR": ("hours", 0, 23, False),
    "BYMINUTE": ("minutes", 0, 59, False),
    "BYSECOND": ("seconds", 0, 60, False),
    "BYSETPOS": ("positions", 1, 366, True),
}
"""{part: (field of ``RecurrenceRule``, smallest number, largest, whether negative numbers count from the end)}."""
PARTS: Final = ("FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", *NUMBER_PARTS)

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - times of the wall clock have no zone
_MOMENT: Final = re.compile(r"(\d{8})(?:T(\d{6})(Z)?)?")
_DAY: Final = re.compile(rf"([+-]?\d{{1,2}})?({'|'.join(DAY_NAMES)})")
_START: Final = re.compile(r"DTSTART((?:;[^:;]*)*):(.*)", re.IGNORECASE)


@frozen
class RRuleText:
    """A text that was read: the rule, and the start (seconds since 1970) if the text has a DTSTART line.

    ``zone`` is the zone of the start: a name (TZID), ``UTC``, or "" for a time of the wall clock.
    """

    rule: RecurrenceRule
    start: int | None = None
    zone: str = ""


def read_rrule(text: str) -> tuple[RRuleText | None, list[RuleFault]]:
    """Return the rule in a text, or None, and everything that is wrong with it.

    The text is the value of an RRULE, with or without ``RRULE:``; a line with DTSTART may come before it.

    >>> read_rrule("FREQ=DAILY;BYHOUR=7")[0].rule.hours
    (7,)
    >>> [fault.message for fault in read_rrule("FREQ=DAYLY;COUNT=0")[1]]
    ["FREQ 'DAYLY' is unknown", "COUNT '0' is no number from 1"]
    """
    faults: list[RuleFault] = []
    start, zone, value = None, "", ""
    for line in text.split():
        found = _START.fullmatch(line)
        if found is not None:
            start, zone = _start(found[1], found[2], faults)
            continue
        name, colon, rest = line.rpartition(":")
        if (colon and name.upper() != "RRULE") or value:
            message = f"'{line}' cannot be used in a schedule"
            faults.append(RuleFault(message, "write one RRULE, and before it a DTSTART line if you need one"))
            continue
        value = rest
    fields = dict(_fields(value, faults))
    if "frequency" not in fields:
        if "FREQ" not in value.upper():
            faults.append(RuleFault("FREQ is missing", f"begin with FREQ= and one of {', '.join(FREQUENCIES)}"))
        return None, faults
    rule = RecurrenceRule(**cast("Any", fields))
    faults += rule_faults(rule)
    return (None if faults else RRuleText(rule, start, zone)), faults


def rrule_text(rule: RecurrenceRule) -> str:
    """Return a rule as RFC 5545 writes it, parts in a fixed order.

    >>> rrule_text(RecurrenceRule("MONTHLY", weekdays=((-1, 4),)))
    'FREQ=MONTHLY;BYDAY=-1FR'
    """
    parts = [f"FREQ={rule.frequency}"]
    if rule.interval != 1:
        parts.append(f"INTERVAL={rule.interval}")
    if rule.count is not None:
        parts.append(f"COUNT={rule.count}")
    if rule.until is not None:
        moment = _EPOCH + timedelta(seconds=rule.until.second)
        parts.append(f"UNTIL={moment:%Y%m%dT%H%M%S}{'Z' if rule.until.is_utc else ''}")
    if rule.week_start:
        parts.append(f"WKST={DAY_NAMES[rule.week_start]}")
    for part, (field, *_) in NUMBER_PARTS.items():
        numbers = getattr(rule, field)
        if part == "BYHOUR" and rule.weekdays:
            parts.append("BYDAY=" + ",".join(f"{nth or ''}{DAY_NAMES[day]}" for nth, day in rule.weekdays))
        if numbers:
            parts.append(f"{part}={','.join(map(str, numbers))}")
    return ";".join(parts)


def _fields(value: str, faults: list[RuleFault]) -> Iterator[tuple[str, object]]:
    """Yield the fields of a rule that its parts give, and report wrong parts."""
    seen: set[str] = set()
    for part in filter(None, value.rstrip(";").split(";")):
        name, _, content = part.upper().partition("=")
        if name in seen:
            faults.append(RuleFault(f"{name} is given twice", "write it once"))
        elif name not in PARTS:
            near = closest(name, PARTS)
            mend = f"did you mean '{near}'?" if near else f"write one of {', '.join(PARTS)}"
            faults.append(RuleFault(f"'{name}' is no part of a rule", mend))
        else:
            reader = _READERS.get(name, _numbers)
            found = reader(name, content, faults)
            if found is not None:
                yield found
        seen.add(name)


def _frequency(name: str, content: str, faults: list[RuleFault]) -> tuple[str, object] | None:
    if content in FREQUENCIES:
        return "frequency", content
    near = closest(content, FREQUENCIES)
    mend = f"did you mean '{near}'?" if near else f"write one of {', '.join(FREQUENCIES)}"
    faults.append(RuleFault(f"{name} '{content}' is unknown", mend))
    return None


def _number(name: str, content: str, faults: list[RuleFault]) -> tuple[str, object] | None:
    if re.fullmatch(r"[0-9]{1,9}", content) and int(content):
        return name.lower(), int(content)
    faults.append(RuleFault(f"{name} '{content}' is no number from 1", "write a whole number, 1 or more"))
    return None


def _numbers(name: str, content: str, faults: list[RuleFault]) -> tuple[str, object] | None:
    """Return the numbers of a part in ascending order, each once. Second 60 counts as 59 (RFC 5545, 3.3.12)."""
    field, least, most, is_signed = NUMBER_PARTS[name]
    found: set[int] = set()
    for text in content.split(","):
        number = int(text) if re.fullmatch(r"[+-]?[0-9]{1,3}", text) else most + 1
        if not least <= (abs(number) if is_signed else number) <= most:
            signs = f" or -{most} to -{least}" if is_signed else ""
            faults.append(RuleFault(f"'{text}' is no value of {name}", f"write {least} to {most}{signs}"))
            return None
        found.add(min(number, 59) if name == "BYSECOND" else number)
    return field, tuple(sorted(found))


def _days(name: str, content: str, faults: list[RuleFault]) -> tuple[str, object] | None:
    found: set[tuple[int, int]] = set()
    for text in content.split(","):
        day = _DAY.fullmatch(text)
        if day is None or (day[1] is not None and not 1 <= abs(int(day[1])) <= 53):
            mend = f"write {', '.join(DAY_NAMES)}, before it a number from 1 to 53 or -53 to -1 if needed"
            faults.append(RuleFault(f"'{text}' is no value of {name}", mend))
            return None
        found.add((int(day[1] or 0), DAY_NAMES.index(day[2])))
    return "weekdays", tuple(sorted(found))


def _week_start(name: str, content: str, faults: list[RuleFault]) -> tuple[str, object] | None:
    if content in DAY_NAMES:
        return "week_start", DAY_NAMES.index(content)
    faults.append(RuleFault(f"'{content}' is no value of {name}", f"write one of {', '.join(DAY_NAMES)}"))
    return None


def _until(name: str, content: str, faults: list[RuleFault]) -> tuple[str, object] | None:
    found = _moment(content)
    if found is not None:
        return "until", RuleUntil(*found)
    faults.append(RuleFault(f"'{content}' is no value of {name}", "write a time such as 20261231T230000Z"))
    return None


_READERS: Final[dict[str, Callable[[str, str, list[RuleFault]], tuple[str, object] | None]]] = {
    "FREQ": _frequency,
    "INTERVAL": _number,
    "COUNT": _number,
    "UNTIL": _until,
    "WKST": _week_start,
    "BYDAY": _days,
}


def _moment(text: str) -> tuple[int, bool] | None:
    """Return (seconds since 1970, True for UTC) of a time such as ``20261231T230000Z``; a date means its midnight."""
    found = _MOMENT.fullmatch(text)
    if found is None:
        return None
    try:
        moment = datetime.strptime(found[1] + (found[2] or "000000"), "%Y%m%d%H%M%S")  # noqa: DTZ007 - of the wall clock
    except ValueError:
        return None
    return int((moment - _EPOCH).total_seconds()), bool(found[3])


def _start(parameters: str, content: str, faults: list[RuleFault]) -> tuple[int | None, str]:
    """Return the start of a DTSTART line and its zone."""
    zone = ""
    for parameter in filter(None, parameters.split(";")):
        name, _, value = parameter.partition("=")
        if name.upper() == "TZID":
            zone = value
        elif name.upper() != "VALUE":
            faults.append(RuleFault(f"'{name}' is no parameter of DTSTART", "write TZID and VALUE only"))
    found = _moment(content.upper())
    if found is None:
        faults.append(RuleFault(f"'{content}' is no start", "write a time such as 20260101T073000"))
        return None, zone
    return found[0], "UTC" if found[1] else zone
