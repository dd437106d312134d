"""Check and convert values of attributes: dicts become records, lists become tuples; size and depth are limited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from phaseline.records.conversions import AttributeTypeError, AttributeValueError, in_zone
from phaseline.records.expression import Expression
from phaseline.records.values import MAX_LEVELS, MAX_VALUE_BYTES, ErrorValue, is_in_range, is_too_long

if TYPE_CHECKING:
    from phaseline.records.record import Record
    from phaseline.records.values import Stored, Value

    Given: TypeAlias = "Value | Expression | Mapping[str, Given] | list[Given] | tuple[Given, ...]"


SMALL = frozenset({bool, float, timedelta, ErrorValue, Expression, type(None)})
"""Types whose values are all accepted without a check of their size."""
SHORT = 10_000
"""Length, in characters, below which a text is surely within the limit of bytes and need not be encoded to check."""
MAX_PARTS = 1_000_000
"""Largest number of values on one level of a list or record."""


def admitted(name: str, value: Given, owner: Record) -> Stored:
    """Check a value for the attribute ``name`` of ``owner``, and return it in the form in which a record stores it.

    Raises: ``AttributeTypeError``, ``AttributeValueError``.
    """
    kind = type(value)
    if kind in SMALL or (kind is str and len(value) < SHORT) or (kind is int and is_in_range(value)):  # type: ignore[arg-type]  # its type was checked
        return value  # type: ignore[return-value]  # as above
    excess = _excess(value, MAX_LEVELS - _levels_above(owner)) if _is_structure(value) else ""
    if excess:
        raise AttributeValueError(name, excess)
    return _admitted(name, value, owner, None)


def is_whole(value: Stored) -> bool:
    """Return True for an immutable value, which copies may share: neither a record nor a list."""
    return not (isinstance(value, tuple) or _is_record(value))


def records_in(value: Stored) -> Iterator[Record]:
    """Yield the value if it is a record, or the records in it if it is a list; records nested deeper are not included."""
    if isinstance(value, tuple):
        for item in value:
            yield from records_in(item)
    elif _is_record(value):
        yield value


def _admitted(name: str, value: Given, owner: Record, list_key: str | None) -> Stored:
    if value is None or isinstance(value, bool | float | timedelta | ErrorValue):
        return value
    if isinstance(value, str):
        if is_too_long(value):
            raise AttributeValueError(name, f"is a text of more than {MAX_VALUE_BYTES:,} bytes")
        return str(value)
    if isinstance(value, int):
        if not is_in_range(value):
            raise AttributeValueError(name, "is an integer of more than 64 bits")
        return int(value)
    if isinstance(value, datetime):
        return in_zone(value)
    if isinstance(value, list | tuple):
        return _items(name, value, owner)
    return _structure(name, value, owner, list_key)


def _items(name: str, value: list[Given] | tuple[Given, ...], owner: Record) -> Stored:
    items = tuple(_admitted(name, item, owner, name.lower()) for item in value)
    if any(isinstance(item, Expression) for item in items):
        raise AttributeTypeError(name, "has an expression in its list; make the whole attribute one expression")
    return items  # type: ignore[return-value]  # no expression among them


def _structure(name: str, value: Given, owner: Record, list_key: str | None) -> Stored:
    kind = owner.kind
    if isinstance(value, Expression):
        return value
    if isinstance(value, Mapping):
        value = kind(value)
    if not isinstance(value, kind):
        raise AttributeTypeError(name, f"cannot hold a Python {type(value).__name__}")
    if value.owner is not None or _is_around(value, owner):
        value = value.copy()
    value.settle(owner, list_key)
    return value


def _is_around(record: Record, inner: Record | None) -> bool:
    while inner is not None:
        if inner is record:
            return True
        inner = inner.owner
    return False


def _levels_above(record: Record | None) -> int:
    count = 0
    while record is not None:
        count += 1
        record = record.owner
    return count


def _excess(value: Given, room: int) -> str:
    """Describe the limit that a value exceeds: its nesting depth, or the number of values on one level; empty text if
    it exceeds none.
    """
    level: list[Given] = [value]
    for _ in range(room + 1):
        level = list(islice((item for part in level for item in _parts(part)), MAX_PARTS + 1))
        if not level:
            return ""
        if len(level) > MAX_PARTS:
            return f"holds more than {MAX_PARTS:,} values"
    return f"is nested deeper than {MAX_LEVELS} levels"


def _parts(value: Given) -> Iterable[Given]:
    """Return the direct parts of the value."""
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, Mapping):
        return value.values()
    return value.folded.values() if _is_record(value) else ()


def _is_structure(value: Given) -> bool:
    return isinstance(value, list | tuple | Mapping) or _is_record(value)


def _is_record(value: object) -> TypeGuard[Record]:
    """Return True for a record.

    A record is recognised by an attribute of its class, because this module cannot import the class, which imports it.
    """
    return hasattr(type(value), "folded")
