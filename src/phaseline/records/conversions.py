"""Conversions of attribute values to another type. A conversion that would lose data raises an error with the
attribute's name.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn

from phaseline.records.values import ErrorValue, is_in_range, kind_of

if TYPE_CHECKING:
    from phaseline.records.values import Value

EXACT = 2**53
"""Integers with an absolute value up to this are converted to real numbers without loss."""


class AttributeTypeError(TypeError):
    """The value of an attribute does not have the requested type, or has a type that attributes cannot have."""

    def __init__(self, name: str, message: str) -> None:
        """Store ``name``, the attribute's name, with the message."""
        super().__init__(f"'{name}' {message}")
        self.name = name


class AttributeValueError(ValueError):
    """A value that an attribute cannot have, because it is too large or too deep, or an attribute without a name."""

    def __init__(self, name: str, message: str) -> None:
        """Store ``name``, the attribute's name, with the message."""
        super().__init__(f"'{name}' {message}")
        self.name = name


def _raise_wrong_kind(name: str, value: Value, wanted: str) -> NoReturn:
    if isinstance(value, ErrorValue):
        raise AttributeTypeError(name, f"is an error: {value.reason}")
    shown = f" {value!r}" if isinstance(value, str | int | float) else ""
    article = "an" if wanted[0] in "aeiou" else "a"
    raise AttributeTypeError(name, f"is the {kind_of(value)}{shown[:60]}, not {article} {wanted}")


def as_string(name: str, value: Value) -> str | None:
    """Convert a text, number, truth value or time to text.

    >>> as_string("n", 12), as_string("n", True), as_string("n", None)
    ('12', 'true', None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, datetime):
        return value.isoformat()
    _raise_wrong_kind(name, value, "string")


def as_integer(name: str, value: Value) -> int | None:
    """Convert an integer, a real number without a fraction, or a text that is an integer.

    >>> as_integer("n", "12"), as_integer("n", 2.0)
    (12, 2)
    """
    if value is None:
        return None
    if isinstance(value, bool):
        _raise_wrong_kind(name, value, "integer")
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        return int(value)
    if isinstance(value, str):
        digits = value.strip()
        if digits.removeprefix("-").isdecimal() and len(digits) <= 20 and is_in_range(int(digits)):
            return int(digits)
    _raise_wrong_kind(name, value, "integer")


def as_double(name: str, value: Value) -> float | None:
    """Convert a real number, an integer that a real can hold, or a text that is a number.

    >>> as_double("n", 3), as_double("n", "1.5")
    (3.0, 1.5)
    """
    if value is None:
        return None
    if isinstance(value, bool):
        _raise_wrong_kind(name, value, "real")
    if isinstance(value, float):
        return value
    if isinstance(value, int) and abs(value) <= EXACT:
        return float(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            _raise_wrong_kind(name, value, "real")
    _raise_wrong_kind(name, value, "real")


def as_boolean(name: str, value: Value) -> bool | None:
    """Convert truth values, the texts ``true`` and ``false``, and the numbers 0 and 1.

    >>> as_boolean("n", "True"), as_boolean("n", 0)
    (True, False)
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and value in {0, 1}:
        return value == 1
    if isinstance(value, str) and value.strip().lower() in {"true", "false"}:
        return value.strip().lower() == "true"
    _raise_wrong_kind(name, value, "boolean")


def as_date(name: str, value: Value) -> datetime | None:
    """Convert a time, or a text in ISO 8601; a time without a zone is taken as UTC.

    >>> as_date("n", "2026-11-21T10:00:00").isoformat()
    '2026-11-21T10:00:00+00:00'
    """
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, str):
        try:
            return in_zone(datetime.fromisoformat(value.strip()))
        except ValueError:
            _raise_wrong_kind(name, value, "time")
    _raise_wrong_kind(name, value, "time")


def as_list(name: str, value: Value) -> list[Value] | None:
    """Return the value if it is a list; other values raise an error."""
    if value is None:
        return None
    if isinstance(value, tuple):
        return list(value)
    _raise_wrong_kind(name, value, "list")


def in_zone(moment: datetime) -> datetime:
    """Return the time with a time zone: its own, or UTC if it has none."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
