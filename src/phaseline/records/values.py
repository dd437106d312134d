"""What an attribute can be: the kinds of values, when two values are identical, and the error value of expressions.

Undefined is ``None``. Lists are tuples. Absolute times are aware ``datetime``s, spans are ``timedelta``s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from phaseline.records.expression import Expression
    from phaseline.records.record import Record

    Value: TypeAlias = (
        "None | bool | int | float | str | datetime | timedelta | tuple[Value, ...] | Record | ErrorValue"
    )
    Stored: TypeAlias = "Value | Expression"

MIN_INTEGER, MAX_INTEGER = -(2**63), 2**63 - 1
MAX_VALUE_BYTES = 1 << 20
"""Largest size of one text, in bytes of UTF-8."""
MAX_DEPTH = 200
"""The deepest nesting of an expression."""
MAX_LEVELS = 100
"""The deepest nesting of lists and records in a value."""
MAX_BYTES_A_CHARACTER = 4


@dataclass(frozen=True, slots=True)
class ErrorValue:
    """The value of an expression that makes no sense, such as ``1 / 0``. All errors are equal, whatever their reasons."""

    reason: str = field(default="the value error", compare=False)


def kind_of(value: object) -> str:
    """Return the word that messages and answers use for the kind of a value.

    >>> kind_of(3), kind_of(True), kind_of(None), kind_of(())
    ('integer', 'boolean', 'undefined', 'list')
    """
    if value is None:
        return "undefined"
    return KINDS.get(type(value), type(value).__name__.lower())


KINDS: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "real",
    str: "string",
    datetime: "time",
    timedelta: "duration",
    tuple: "list",
    ErrorValue: "error",
}
"""{type: word}; records and expressions are called by the names of their classes."""


def is_identical(left: object, right: object) -> bool:
    """Return True if both values have the same kind and value; ``3`` is not identical with ``3.0``.

    Texts are compared with case, times with their zone, lists and records part by part.
    """
    if type(left) is not type(right):
        return False
    if isinstance(left, float) and isinstance(right, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(is_identical, left, right))
    if isinstance(left, datetime) and isinstance(right, datetime):
        return left == right and left.utcoffset() == right.utcoffset()
    return left == right


def is_too_long(text: str) -> bool:
    """Return True for texts over 1 MiB. Short texts are not encoded for this check, which saves time.

    >>> is_too_long("ä"), is_too_long("x" * (1 << 20)), is_too_long("ä" * (1 << 20))
    (False, False, True)
    """
    if len(text) * MAX_BYTES_A_CHARACTER <= MAX_VALUE_BYTES:
        return False
    return len(text) > MAX_VALUE_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_VALUE_BYTES


def bounded(text: str) -> str | ErrorValue:
    """Return the text, or an error if it is longer than a value may be."""
    return ErrorValue(f"the text is longer than {MAX_VALUE_BYTES:,} bytes") if is_too_long(text) else text


def is_in_range(number: int) -> bool:
    """Return True if the integer fits into 64 bits."""
    return MIN_INTEGER <= number <= MAX_INTEGER
