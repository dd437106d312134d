"""A recurrence rule of RFC 5545 as a value, and the checks that hold for every text form of it (SC2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from phaseline.lang.fast_dataclasses import frozen

Frequency = Literal["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"]

DAY_NAMES: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
"""Weekdays as RFC 5545 writes them; the place of a name is its number, Monday 0."""
UNIT_S: Final[dict[str, int]] = {"HOURLY": 3600, "MINUTELY": 60, "SECONDLY": 1}
"""{frequency that counts spans of elapsed time: its seconds}. Other frequencies follow the calendar."""
LONGEST_MONTHS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
MAX_COUNT: Final = 1_000_000
"""Largest number of occurrences that a rule may ask for, since all are counted once when the schedule is created."""
MAX_INTERVAL: Final = 1_000_000


@frozen
class RuleFault:
    """What is wrong with a text form of a rule, and how to mend it."""

    message: str
    mend: str


@frozen
class RuleUntil:
    """The last moment of a rule, in seconds since 1970: of UTC, or of the wall clock in the zone of the schedule."""

    second: int
    is_utc: bool


@frozen
class RecurrenceRule:
    """A recurrence rule. Empty tuples mean that the part is not given.

    ``weekdays`` are pairs (n, weekday): n is 0 for every such day, 1 the first of the month or year, -1 the last.
    ``week_start`` and weekdays count from Monday, 0. ``is_either_day`` is True for cron texts that restrict both the
    day of the month and the weekday: then a day that fits one of the two is taken.
    """

    frequency: Frequency
    interval: int = 1
    count: int | None = None
    until: RuleUntil | None = None
    week_start: int = 0
    months: tuple[int, ...] = ()
    week_numbers: tuple[int, ...] = ()
    year_days: tuple[int, ...] = ()
    month_days: tuple[int, ...] = ()
    weekdays: tuple[tuple[int, int], ...] = ()
    hours: tuple[int, ...] = ()
    minutes: tuple[int, ...] = ()
    seconds: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()
    is_either_day: bool = False

    @property
    def has_parts(self) -> bool:
        """Return True if the rule selects months, days or times of day, so that it reads the wall clock."""
        return bool(
            self.months
            or self.week_numbers
            or self.year_days
            or self.month_days
            or self.weekdays
            or self.hours
            or self.minutes
            or self.seconds
            or self.positions
        )


def rule_faults(rule: RecurrenceRule) -> Iterator[RuleFault]:
    """Yield what RFC 5545 forbids in a rule whose parts are in their ranges, and rules that can never occur."""
    for key, value, most in (("interval", rule.interval, MAX_INTERVAL), ("count", rule.count, MAX_COUNT)):
        if value is not None and not 1 <= value <= most:
            yield RuleFault(f"the {key} is {value}", f"write 1 to {most}")
    if rule.count is not None and rule.until is not None:
        yield RuleFault("COUNT and UNTIL are both given", "remove one of them")
    calendar = rule.frequency in {"YEARLY", "MONTHLY"}
    if any(nth for nth, _ in rule.weekdays):
        if not calendar:
            mend = "use months or years, or write the weekday without a number"
            yield RuleFault("a numbered weekday needs a month or a year to be counted in", mend)
        elif rule.week_numbers:
            yield RuleFault("a numbered weekday cannot be combined with BYWEEKNO", "write the weekday without a number")
        elif rule.frequency == "MONTHLY" and any(abs(nth) > 5 for nth, _ in rule.weekdays):
            yield RuleFault("a month has at most five of a weekday", "write a number from -5 to 5")
    if rule.week_numbers and rule.frequency != "YEARLY":
        yield RuleFault("BYWEEKNO is allowed with FREQ=YEARLY only", "write FREQ=YEARLY, or remove BYWEEKNO")
    if rule.year_days and rule.frequency in {"DAILY", "WEEKLY", "MONTHLY"}:
        yield RuleFault(f"BYYEARDAY is not allowed with FREQ={rule.frequency}", "write FREQ=YEARLY")
    if rule.month_days and rule.frequency == "WEEKLY":
        yield RuleFault("BYMONTHDAY is not allowed with FREQ=WEEKLY", "write FREQ=MONTHLY, or remove BYMONTHDAY")
    if rule.positions and not _has_selection(rule):
        yield RuleFault("BYSETPOS selects from nothing", "add another part, such as BYDAY")
    if _is_impossible(rule):
        yield RuleFault("no month has such a day, so the rule never occurs", "correct the days or the months")


def _has_selection(rule: RecurrenceRule) -> bool:
    days: Sequence[object] = (*rule.months, *rule.week_numbers, *rule.year_days, *rule.month_days, *rule.weekdays)
    return bool(days or rule.hours or rule.minutes or rule.seconds)


def _is_impossible(rule: RecurrenceRule) -> bool:
    """Return True if no selected month is ever long enough for a selected day, such as the 30th of February."""
    if not rule.month_days or (rule.is_either_day and rule.weekdays):
        return False
    longest = max(LONGEST_MONTHS[month - 1] for month in rule.months or range(1, 13))
    return all(abs(day) > longest for day in rule.month_days)
