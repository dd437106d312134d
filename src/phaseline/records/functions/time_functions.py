"""Functions of times and durations. A time without a zone is UTC; the evaluating caller provides the clock."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from phaseline.records.conversions import in_zone
from phaseline.records.functions.signature import ExpressionFunction, exactly, unfit
from phaseline.records.values import ErrorValue

if TYPE_CHECKING:
    from phaseline.records.evaluation import EvaluationState
    from phaseline.records.values import Value

SPAN = re.compile(
    r"\s*(?P<sign>-?)\s*(?:(?P<days>\d{1,9})\s*(?:\+|d)\s*)?"
    r"(?:(?:(?P<hours>\d{1,9}):)?(?P<minutes>\d{1,9}):(?P<seconds>\d{1,9}(?:\.\d{1,9})?)"
    r"|(?:(?P<h>\d{1,9})\s*h\s*)?(?:(?P<m>\d{1,9})\s*m\s*)?(?:(?P<s>\d{1,9}(?:\.\d{1,9})?)\s*s?)?)\s*"
)
DIRECTIVE = re.compile(r"%(.?)", re.DOTALL)
DIRECTIVES = "aAbBcdHIjmMpSUwWxXyYZzeDTFR%"
USUAL = "%a %b %e %H:%M:%S %Y"
LONGEST_FORMAT = 1_000


def time_in(text: str) -> datetime | None:
    """Return the time that a text in ISO 8601 gives, or None for any other text.

    >>> time_in("2026-11-21 10:00").isoformat()
    '2026-11-21T10:00:00+00:00'
    """
    try:
        return in_zone(datetime.fromisoformat(text.strip()))
    except ValueError:
        return None


def span_in(text: str) -> timedelta | None:
    """Return the duration that a text gives as ``1+02:03:04``, ``02:03``, ``1d2h`` or in seconds, or None for any other
    text.

    >>> span_in("1+02:03:04"), span_in("90") == span_in("01:30"), span_in("x")
    (datetime.timedelta(days=1, seconds=7384), True, None)
    """
    found = SPAN.fullmatch(text)
    if found is None or not text.strip(" -"):
        return None
    part = {name: float(value or 0) for name, value in found.groupdict().items() if name != "sign"}
    try:
        span = timedelta(
            days=part["days"],
            hours=part["hours"] + part["h"],
            minutes=part["minutes"] + part["m"],
            seconds=part["seconds"] + part["s"],
        )
    except OverflowError:
        return None
    return -span if found["sign"] else span


def _time(_values: list[Value], run: EvaluationState) -> Value:
    return ErrorValue("there is no clock here") if run.now is None else int(run.now)


def _abs_time(values: list[Value], run: EvaluationState) -> Value:
    """Return the time of a text, or of (seconds since the epoch, offset of the zone in seconds), as ``absTime`` does.

    Without arguments, return the current time.
    """
    value = values[0] if values else run.now
    offset = _seconds(values[1], "an integer") if len(values) > 1 else 0
    if isinstance(offset, ErrorValue):
        return offset
    if isinstance(value, str):
        return time_in(value) or ErrorValue(f"'{value[:40]}' is no time such as 2026-11-21T10:00:00Z")
    if isinstance(value, datetime):
        return value
    if value is None:
        return ErrorValue("there is no clock here")
    seconds = _seconds(value, "a time")
    if isinstance(seconds, ErrorValue):
        return seconds
    try:
        return datetime.fromtimestamp(seconds, timezone(timedelta(seconds=offset)) if offset else UTC)
    except (OverflowError, ValueError, OSError):
        return ErrorValue("this is no time that can be written")


def _seconds(value: Value, wanted: str) -> int | ErrorValue:
    """Return a number or duration in whole seconds; a fraction is cut off."""
    number = value.total_seconds() if isinstance(value, timedelta) else value
    if isinstance(number, bool) or not isinstance(number, int | float):
        return unfit(value, wanted)
    if isinstance(number, float) and not math.isfinite(number):
        return ErrorValue("the number is not finite")
    return int(number)


def _rel_time(values: list[Value], _run: EvaluationState) -> Value:
    value = values[0]
    if isinstance(value, str):
        found = span_in(value)
        return ErrorValue(f"'{value[:40]}' is no duration such as 1+02:03:04") if found is None else found
    if isinstance(value, timedelta):
        return value
    if isinstance(value, datetime):
        return timedelta(seconds=value.timestamp())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return unfit(value, "a duration")
    try:
        return timedelta(seconds=value)
    except (OverflowError, ValueError):
        return ErrorValue("the duration is out of range")


def _format_time(values: list[Value], run: EvaluationState) -> Value:
    """Return the time in the given format, in the time's own zone."""
    moment = unfit(values[0], "a time") if values and isinstance(values[0], timedelta) else _abs_time(values[:1], run)
    form = values[1] if len(values) > 1 else USUAL
    if not isinstance(moment, datetime):
        return moment
    if not isinstance(form, str) or len(form) > LONGEST_FORMAT:
        return unfit(form, "a text of a format")
    # Anything else after % is written unchanged: some directives would fill the memory.
    safe = DIRECTIVE.sub(
        lambda found: found.group() if found[1] and found[1] in DIRECTIVES else "%" + found.group(), form
    )
    try:
        return moment.strftime(safe)
    except ValueError:
        return ErrorValue("this time cannot be written that way")


FUNCTIONS: Mapping[str, ExpressionFunction] = {
    "time": exactly(0, _time),
    "absTime": ExpressionFunction(_abs_time, 0, 2),
    "relTime": exactly(1, _rel_time),
    "formatTime": ExpressionFunction(_format_time, 0, 2),
}
"""The functions of this module: {name in expressions: function}."""
