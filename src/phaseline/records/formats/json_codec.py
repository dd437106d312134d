"""Records as JSON: values that JSON lacks are objects with one key that begins with a dollar sign.

``{"$expr": "a + b"}``, ``{"$time": "2026-11-21T10:00:00+00:00"}``, ``{"$duration": "1+02:03:04"}``,
``{"$real": "INF"}``, ``{"$error": "why"}``. Undefined values are left out; in lists they are ``null``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from phaseline.records.conversions import AttributeTypeError, AttributeValueError
from phaseline.records.expression import Expression
from phaseline.records.functions.time_functions import span_in, time_in
from phaseline.records.literals import REALS
from phaseline.records.record import Record
from phaseline.records.text_errors import TextError
from phaseline.records.unparsing import names_of, span_text
from phaseline.records.values import MAX_LEVELS, ErrorValue

if TYPE_CHECKING:
    from phaseline.records.values import Stored

    Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"


def undefined_in(record: Record) -> list[str]:
    """Return the names of the attributes that are undefined, either as a value or as the expression ``undefined``.

    If the record describes changes, these attributes are to be removed.

    >>> undefined_in(Record({"Count": 3, "Size": None, "Zone": Expression("undefined")}))
    ['Size', 'Zone']
    """
    return [
        record.spelling(name)
        for name, value in record.folded.items()
        if value is None or (isinstance(value, Expression) and value.text.lower() == "undefined")
    ]


def to_json(record: Record) -> dict[str, Json]:
    """Return the record as JSON values. ``from_json`` restores it, except for undefined values.

    >>> to_json(Record({"Count": 3, "Missing": None}))
    {'Count': 3}
    """
    stored = {name: record.folded[name.lower()] for name in names_of(record)}
    return {name: value_json(value) for name, value in stored.items() if value is not None}


def value_json(value: Stored) -> Json:
    """Return one value as a JSON value."""
    if isinstance(value, Record):
        found = to_json(value)
        return {"$record": found} if len(found) == 1 and next(iter(found)).startswith("$") else found
    if isinstance(value, tuple):
        return [value_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"$real": "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"}
    if isinstance(value, Expression):
        return {"$expr": value.text}
    if isinstance(value, datetime):
        return {"$time": value.isoformat()}
    if isinstance(value, timedelta):
        return {"$duration": span_text(value)}
    if isinstance(value, ErrorValue):
        return {"$error": value.reason}
    return value


def from_json(content: object, *, file: str = "") -> Record:
    """Return the record for JSON values.

    Raises: ``ProblemsError``: PL-R012 for a value that is no record, PL-R011 for values that cannot be kept, and the
    problems of expressions that cannot be parsed.

    >>> from_json({"Full": {"$expr": "Name + 1"}})
    Record({'Full': Expression('Name + 1')})
    """
    try:
        found = _record(content, 1, "")
    except TextError as fault:
        raise fault.error("", file=file) from None
    found.forget_changes()
    return found


def _record(content: object, depth: int, path: str) -> Record:
    if not isinstance(content, dict):
        raise _no_form(path, "is no object of names and values")
    made = Record()
    for name, value in content.items():
        inner = f"{path}.{name}" if path else str(name)
        kept = _value(value, depth + 1, inner)
        if str(name).lower() in made.folded:
            raise TextError("PL-R002", f"'{inner}' is given twice", "keep one of them; case does not matter")
        try:
            made.put(str(name), kept)
        except (AttributeTypeError, AttributeValueError) as error:
            raise TextError("PL-R011", f"{inner}: {error}", "give it a value that can be kept") from None
    return made


def _value(value: object, depth: int, path: str) -> Stored:
    if depth > MAX_LEVELS + 1:
        raise TextError("PL-R011", f"'{path[:60]}…' is nested deeper than {MAX_LEVELS} levels", "keep records flatter")
    if isinstance(value, dict):
        mark = next(iter(value)) if len(value) == 1 else ""
        if mark == "$record":
            return _record(value[mark], depth, path)
        if mark in MARKS:
            return _marked(mark, value[mark], path)
        return _record(value, depth, path)
    if isinstance(value, list):
        items = [_value(item, depth + 1, path) for item in value]
        if any(isinstance(item, Expression) for item in items):
            raise _no_form(path, "has an expression in its list")
        return tuple(items)  # type: ignore[arg-type]  # no expression among them
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise _no_form(path, f"has a {type(value).__name__}, which JSON does not know")


def _marked(mark: str, text: object, path: str) -> Stored:
    made = MARKS[mark](text) if isinstance(text, str) else None
    if made is None:
        raise _no_form(path, f"has a {mark} that cannot be read")
    return made


MARKS: Mapping[str, Callable[[str], Stored]] = {
    "$expr": Expression.read,
    "$time": time_in,
    "$duration": span_in,
    "$real": lambda text: REALS.get(text.lower()),
    "$error": ErrorValue,
}
"""{key with a dollar sign: function that makes the value from its text, or returns None if the text is invalid}."""


def _no_form(path: str, why: str) -> TextError:
    what = f"'{path}' {why}" if path else f"this {why}"
    return TextError("PL-R012", what, 'write an object such as {"Name": "n1", "Full": {"$expr": "Name"}}')
