"""Functions that test the kind of a value, and functions that convert a value to another kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from phaseline.records.functions.signature import ExpressionFunction, exactly, unfit
from phaseline.records.unparsing import value_text
from phaseline.records.values import ErrorValue, bounded, is_in_range, kind_of

if TYPE_CHECKING:
    from phaseline.records.evaluation import EvaluationState
    from phaseline.records.values import Value

LONGEST_NUMBER = 100
"""Largest length, in characters, of a text that is read as a number."""
TRUTHS = {"true": True, "false": False}


def _is(*kinds: str) -> ExpressionFunction:
    return exactly(1, lambda values, _run: kind_of(values[0]) in kinds, is_strict=False)


def string_of(value: Value) -> Value:
    """Return the value as text: strings unchanged, other values in their written form."""
    if value is None or isinstance(value, str | ErrorValue):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    text = value_text(value)
    return bounded(text.split('"')[1] if isinstance(value, timedelta) else text)


def number_in(text: str) -> int | float | None:
    """Return the number that a text means, decimal or hexadecimal, also with spaces around it; None for any other text."""
    text = text.strip()
    if len(text) > LONGEST_NUMBER or "_" in text:
        return None
    for read in (int, _hexadecimal, float):
        try:
            return read(text)
        except ValueError:
            continue
    return None


def _hexadecimal(text: str) -> int:
    return int(text, 16) if text[:2].lower() == "0x" else int(text)


def number_of(value: Value) -> int | float | ErrorValue:
    """Return the number that a value is, or that its text contains."""
    if isinstance(value, int | float):
        return value
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, str):
        found = number_in(value)
        return ErrorValue(f"'{value[:40]}' is no number") if found is None else found
    return unfit(value, "a number")


def whole(number: float | ErrorValue, cut: Callable[[float], int]) -> Value:
    """Return the number converted to an integer by ``cut``, such as ``floor``; an error is returned unchanged."""
    if isinstance(number, ErrorValue):
        return number
    if not isinstance(number, int) and not math.isfinite(number):
        return ErrorValue("the number is not finite")
    found = int(number) if isinstance(number, int) else cut(number)
    return found if is_in_range(found) else ErrorValue("the result is an integer of more than 64 bits")


def _real(values: list[Value], _run: EvaluationState) -> Value:
    number = number_of(values[0])
    return number if isinstance(number, ErrorValue) else float(number)


def _bool(values: list[Value], _run: EvaluationState) -> Value:
    value = values[0]
    if isinstance(value, str):
        return TRUTHS.get(value.strip().lower())
    if isinstance(value, timedelta):
        return bool(value)
    return value != 0 if isinstance(value, int | float) else unfit(value, "a truth value")


FUNCTIONS: Mapping[str, ExpressionFunction] = {
    "isUndefined": _is("undefined"),
    "isError": _is("error"),
    "isString": _is("string"),
    "isInteger": _is("integer"),
    "isReal": _is("real"),
    "isBoolean": _is("boolean"),
    "isList": _is("list"),
    "isRecord": _is("record"),
    "isClassAd": _is("record"),
    "isAbsTime": _is("time"),
    "isRelTime": _is("duration"),
    "int": exactly(1, lambda values, _run: whole(number_of(values[0]), int)),
    "real": exactly(1, _real),
    "string": exactly(1, lambda values, _run: string_of(values[0])),
    "bool": exactly(1, _bool),
    "floor": exactly(1, lambda values, _run: whole(number_of(values[0]), math.floor)),
    "ceiling": exactly(1, lambda values, _run: whole(number_of(values[0]), math.ceil)),
    "round": exactly(1, lambda values, _run: whole(number_of(values[0]), round)),
}
"""The functions of this module: {name in expressions: function}."""
