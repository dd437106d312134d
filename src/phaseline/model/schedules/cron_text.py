"""Read the five fields of cron, such as ``30 7 * * 1-5``, as a recurrence rule (SC2).

As in Vixie cron, a day fits if it fits the day of the month *or* the weekday when both are restricted, and a field
that begins with ``*`` restricts nothing in this sense. Texts with a fixed hour follow the wall clock of the zone; texts
whose hour begins with ``*`` count elapsed time, so they also run in both hours when the clock is set back.
"""

from __future__ import annotations

import re
from typing import Final

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.schedules.recurrence_rule import RecurrenceRule, RuleFault, rule_faults

NICKNAMES: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
MONTH_WORDS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAY_WORDS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")

_ITEM: Final = re.compile(r"(\*|(\w+)(?:-(\w+))?)(?:/([0-9]{1,2}))?")


@frozen
class _Field:
    """A field of a cron text: its name, its range, and the words that may stand for numbers from ``least`` on."""

    name: str
    least: int
    most: int
    words: tuple[str, ...] = ()


_FIELDS: Final = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, MONTH_WORDS),
    _Field("weekday", 0, 7, DAY_WORDS),
)


def read_cron(text: str) -> tuple[RecurrenceRule | None, list[RuleFault]]:
    """Return the rule in a cron text, or None, and everything that is wrong with it.

    >>> rule, faults = read_cron("30 7 * * mon-fri")
    >>> rule.frequency, rule.hours, [day for _, day in rule.weekdays]
    ('DAILY', (7,), [0, 1, 2, 3, 4])
    """
    said = text.strip().lower()
    fields = NICKNAMES.get(said, said).split()
    if len(fields) != len(_FIELDS):
        names = ", ".join(field.name for field in _FIELDS)
        message = f"'{text}' has {len(fields)} fields, not five" if fields else "the cron text is empty"
        return None, [RuleFault(message, f"write {names}, or one of {', '.join(NICKNAMES)}")]
    faults: list[RuleFault] = []
    minutes, hours, days, months, week = (
        _numbers(field, content, faults) for field, content in zip(_FIELDS, fields, strict=True)
    )
    if faults:
        return None, faults
    weekdays = tuple((0, day) for day in sorted({(number - 1) % 7 for number in week}))
    rule = RecurrenceRule(
        "HOURLY" if fields[1].startswith("*") else "DAILY",
        months=months if len(months) < 12 else (),
        month_days=days if len(days) < 31 else (),
        weekdays=weekdays if len(weekdays) < 7 else (),
        hours=hours if len(hours) < 24 or not fields[1].startswith("*") else (),
        minutes=minutes,
        seconds=(0,),
        is_either_day=not fields[2].startswith("*") and not fields[4].startswith("*"),
    )
    faults += rule_faults(rule)
    return (None if faults else rule), faults


def _numbers(field: _Field, content: str, faults: list[RuleFault]) -> tuple[int, ...]:
    """Return the numbers of a field in ascending order."""
    found: set[int] = set()
    for item in content.split(","):
        numbers = _item(field, item)
        if not numbers:
            words = f", or {field.words[0]} to {field.words[-1]}" if field.words else ""
            mend = f"write {field.least} to {field.most}{words}, a range 'a-b', steps '*/n', or a list of these"
            faults.append(RuleFault(f"'{item}' is no {field.name}", mend))
        found.update(numbers)
    return tuple(sorted(found))


def _item(field: _Field, item: str) -> range:
    """Return the numbers of one item of a list; none if the item is wrong."""
    found = _ITEM.fullmatch(item)
    if found is None or found[4] == "0" or found[4] == "00":
        return range(0)
    step = int(found[4] or 1)
    if found[1] == "*":
        return range(field.least, field.most + 1, step)
    first = _one(field, found[2])
    last = first if found[3] is None and found[4] is None else field.most if found[3] is None else _one(field, found[3])
    if first is None or last is None:
        return range(0)
    return range(first, last + 1, step)


def _one(field: _Field, text: str) -> int | None:
    if text in field.words:
        return field.words.index(text) + field.least
    number = int(text) if re.fullmatch(r"[0-9]{1,2}", text) else -1
    return number if field.least <= number <= field.most else None
