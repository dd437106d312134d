"""Read a recurrence in Cloudify's words: ``2 weeks`` with weekdays and a count (B26, SC2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from phaseline.model.schedules.recurrence_rule import (
    DAY_NAMES,
    MAX_COUNT,
    Frequency,
    RecurrenceRule,
    RuleFault,
    rule_faults,
)

WEEKDAY_WORDS: Final = ("su", "mo", "tu", "we", "th", "fr", "sa")
SPAN_MEND: Final = "write a number and a unit, such as '2 weeks', '30 min', '1d' or '1mo'"

_SPAN: Final = re.compile(r"([0-9]{1,9}) ?(s|sec|second|min|minute|h|hour|d|day|w|week|mo|month|y|year)s?")
_DAY: Final = re.compile(rf"([1-4]|l-)?({'|'.join(WEEKDAY_WORDS)})", re.IGNORECASE)
_FREQUENCIES: Final[dict[str, Frequency]] = {
    "s": "SECONDLY",
    "sec": "SECONDLY",
    "min": "MINUTELY",
    "h": "HOURLY",
    "d": "DAILY",
    "w": "WEEKLY",
    "mo": "MONTHLY",
    "y": "YEARLY",
}


def read_recurrence(
    recurrence: str | None, weekdays: Sequence[str] = (), count: int | None = None
) -> tuple[RecurrenceRule | None, list[tuple[str, RuleFault]]]:
    """Return the rule, or None for a schedule that is due once, and (field, fault) for everything that is wrong.

    A number before a weekday selects that one of the month or year, ``l-`` the last.

    >>> rule, faults = read_recurrence("1 month", ["l-fr"], 5)
    >>> rule.frequency, rule.weekdays, rule.count
    ('MONTHLY', ((-1, 4),), 5)
    """
    faults = [("weekdays", fault) for fault in map(_day_fault, weekdays) if fault is not None]
    if count is not None and not 1 <= count <= MAX_COUNT:
        faults.append(("count", RuleFault(f"'count' is {count}", f"write 1 to {MAX_COUNT}")))
    elif recurrence is None and count not in {None, 1}:
        faults.append(("count", RuleFault(f"'count' is {count} without a recurrence", "add 'recurrence': how often")))
    if recurrence is None:
        if weekdays and not faults:
            faults.append(("weekdays", RuleFault("weekdays are given without a recurrence", "add 'recurrence': '1d'")))
        return None, faults
    span = read_recurrence_span(recurrence)
    if span is None:
        faults.append(("recurrence", RuleFault(f"'{recurrence}' is no span of time", SPAN_MEND)))
    if span is None or faults:
        return None, faults
    days = tuple(sorted({_weekday(day) for day in weekdays}))
    rule = RecurrenceRule(span[0], span[1], count, weekdays=days)
    faults += [("weekdays" if days else "recurrence", fault) for fault in rule_faults(rule)]
    return (None if faults else rule), faults


def read_recurrence_span(text: str) -> tuple[Frequency, int] | None:
    """Return the frequency and interval of a span such as ``2 weeks``, or None.

    >>> read_recurrence_span("2 weeks"), read_recurrence_span("1mo"), read_recurrence_span("2 fortnights")
    (('WEEKLY', 2), ('MONTHLY', 1), None)
    """
    found = _SPAN.fullmatch(text)
    if found is None or not int(found[1]):
        return None
    unit = found[2]
    short = (
        unit if unit in _FREQUENCIES else "mo" if unit == "month" else unit[:3] if unit[:3] in _FREQUENCIES else unit[0]
    )
    return _FREQUENCIES[short], int(found[1])


def _day_fault(day: str) -> RuleFault | None:
    if _DAY.fullmatch(day):
        return None
    known = ", ".join(f"'{word}'" for word in WEEKDAY_WORDS)
    mend = f"days are {known}; 1 to 4 before one is the first to fourth of the month, 'l-' the last"
    return RuleFault(f"'{day}' is no weekday", mend)


def _weekday(day: str) -> tuple[int, int]:
    """Return (number, weekday) of a day such as ``2mo`` or ``l-fr``."""
    nth = day[:-2].lower()
    return -1 if nth == "l-" else int(nth or 0), DAY_NAMES.index(day[-2:].upper())
