"""Functions of texts: joining, splitting, cutting, comparing, regular expressions, versions, lists in texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from phaseline.records.functions.signature import ANY_NUMBER, ExpressionFunction, exactly, unfit
from phaseline.records.functions.type_functions import string_of
from phaseline.records.values import MAX_VALUE_BYTES, ErrorValue, bounded, kind_of

if TYPE_CHECKING:
    from phaseline.records.evaluation import EvaluationState
    from phaseline.records.values import Value

SEPARATORS = " ,\t"
"""Characters that separate the members of a list written as text, unless a call gives others."""


def _joined(parts: list[str], separator: str, run: EvaluationState) -> Value:
    length = sum(map(len, parts)) + len(separator) * len(parts)
    run.read(length)
    if length > 2 * MAX_VALUE_BYTES:
        return ErrorValue(f"the text is longer than {MAX_VALUE_BYTES:,} bytes")
    return bounded(separator.join(parts))


def _strcat(values: list[Value], run: EvaluationState) -> Value:
    parts: list[str] = []
    for value in values:
        text = string_of(value)
        if not isinstance(text, str):
            return text
        parts.append(text)
    return _joined(parts, "", run)


def _join(values: list[Value], run: EvaluationState) -> Value:
    """Evaluate ``join(separator, list)``, ``join(separator, a, b, …)`` or ``join(list)``: return the defined members as
    one text.

    Undefined and leading empty members are left out. The result is undefined if there are members but all are
    undefined, or if there are no members and the separator is undefined.
    """
    separator, items = _join_parts(values)
    if isinstance(separator, ErrorValue):
        return separator
    parts: list[str] = []
    for item in items:
        text = string_of(item)
        if isinstance(text, ErrorValue):
            return text
        if isinstance(text, str):
            parts.append(text)
    run.spend(len(items))
    if not parts and (items or separator is None):
        return None
    first = next((at for at, part in enumerate(parts) if part), len(parts))  # before it there is nothing to separate
    return _joined(parts[first:], separator if isinstance(separator, str) else "", run)


def _join_parts(values: list[Value]) -> tuple[Value, tuple[Value, ...]]:
    """Return (separator as text, members)."""
    first, *rest = values
    if not rest:
        return ("", first) if isinstance(first, tuple) else (string_of(first), ())
    only = rest[0] if len(rest) == 1 else None
    return string_of(first), only if isinstance(only, tuple) else tuple(rest)


def _members(text: Value, more: list[Value], run: EvaluationState) -> list[str] | ErrorValue:
    """Split the text at the separator characters; empty parts are left out."""
    separators = more[0] if more else SEPARATORS
    if not isinstance(text, str) or not isinstance(separators, str):
        return unfit(separators if isinstance(text, str) else text, "a text")
    run.read(len(text) * max(1, len(separators)))
    for separator in separators[1:]:
        text = text.replace(separator, separators[0])
    parts = text.split(separators[0]) if separators else [text]
    return [part for part in parts if part]


def _split(values: list[Value], run: EvaluationState) -> Value:
    found = _members(values[0], values[1:], run)
    return found if isinstance(found, ErrorValue) else tuple(found)


def _trimmed_members(text: Value, more: list[Value], run: EvaluationState) -> list[str] | ErrorValue:
    found = _members(text, more, run)
    return found if isinstance(found, ErrorValue) else [part.strip() for part in found if part.strip()]


def _list_size(values: list[Value], run: EvaluationState) -> Value:
    found = _trimmed_members(values[0], values[1:], run)
    return found if isinstance(found, ErrorValue) else len(found)


def _list_member(fold: Callable[[str], str]) -> ExpressionFunction:
    def apply(values: list[Value], run: EvaluationState) -> Value:
        wanted, text, *separators = values
        for value in values:
            if value is not None and not isinstance(value, str):
                return unfit(value, "a text")
        if wanted is None and text is None:
            return None
        if not isinstance(wanted, str) or not isinstance(text, str):
            return False
        found = _trimmed_members(text, separators if separators != [None] else [], run)
        assert not isinstance(found, ErrorValue), "they are texts"
        return fold(wanted) in [fold(part) for part in found]

    return ExpressionFunction(apply, 2, 3, is_strict=False)


def _substr(values: list[Value], _run: EvaluationState) -> Value:
    """Evaluate ``substr(text, offset, length)``; a negative offset or length counts from the end of the text."""
    text, start, *more = values
    if not isinstance(text, str):
        return unfit(text, "a text")
    for number in (start, *more):
        if type(number) is not int:
            return unfit(number, "an integer")
    size = len(text)
    assert isinstance(start, int)
    first = max(0, size + start) if start < 0 else min(start, size)
    length = more[0] if more else size
    assert isinstance(length, int)
    last = size + length if length < 0 else first + length
    return text[first : max(first, last)]


def _size(values: list[Value], _run: EvaluationState) -> Value:
    value = values[0]
    if isinstance(value, str | tuple) or kind_of(value) == "record":
        return len(value)  # type: ignore[arg-type]  # a text, a list or a record
    return unfit(value, "a text, list or record")


def _on_text(change: Callable[[str], str]) -> ExpressionFunction:
    def apply(values: list[Value], run: EvaluationState) -> Value:
        text = string_of(values[0])
        if not isinstance(text, str):
            return text
        run.read(len(text))
        return bounded(change(text))

    return exactly(1, apply)


def _compare(fold: Callable[[str], str]) -> ExpressionFunction:
    def apply(values: list[Value], run: EvaluationState) -> Value:
        left, right = (string_of(value) for value in values)
        if not isinstance(left, str) or not isinstance(right, str):
            return right if isinstance(left, str) else left
        run.read(len(left) + len(right))
        return (fold(left) > fold(right)) - (fold(left) < fold(right))

    return ExpressionFunction(apply, 2, 2, undefined_first=True)


def _two_texts(ask: Callable[[str, str], Value]) -> ExpressionFunction:
    def apply(values: list[Value], run: EvaluationState) -> Value:
        left, right = values
        if not isinstance(left, str) or not isinstance(right, str):
            return unfit(right if isinstance(left, str) else left, "a text")
        run.read(len(left) + len(right))
        return ask(left, right)

    return exactly(2, apply)


_VERSION_PART = re.compile(r"(\d{1,18})|([^\d.\-_+]+)")


def _version_key(text: str) -> list[tuple[int, int, str]]:
    """Return the parts of a version in a form that compares as people expect: numbers by size, and words before
    numbers.
    """
    return [
        (1, int(digits), "") if digits else (0, 0, word.lower()) for digits, word in _VERSION_PART.findall(text[:1_000])
    ]


def _version_compare(left: str, right: str) -> Value:
    """Compare two versions: -1, 0 or 1. Missing parts count as 0; words such as ``rc`` count as less than 0."""
    first, second = _version_key(left), _version_key(right)
    longest = max(len(first), len(second))
    first += [(1, 0, "")] * (longest - len(first))
    second += [(1, 0, "")] * (longest - len(second))
    return (first > second) - (first < second)


FUNCTIONS: Mapping[str, ExpressionFunction] = {
    "strcat": ExpressionFunction(_strcat, 0, ANY_NUMBER, is_strict=False),
    "join": ExpressionFunction(_join, 1, ANY_NUMBER, is_strict=False),
    "strJoin": ExpressionFunction(_join, 1, ANY_NUMBER, is_strict=False),
    "split": ExpressionFunction(_split, 1, 2),
    "substr": ExpressionFunction(_substr, 2, 3, undefined_first=True),
    "size": exactly(1, _size),
    "toUpper": _on_text(str.upper),
    "toLower": _on_text(str.lower),
    "trim": exactly(
        1, lambda values, _run: values[0].strip() if isinstance(values[0], str) else unfit(values[0], "a text")
    ),
    "strcmp": _compare(str),
    "stricmp": _compare(str.lower),
    "startsWith": _two_texts(lambda text, start: text.startswith(start)),
    "endsWith": _two_texts(lambda text, end: text.endswith(end)),
    "contains": _two_texts(lambda text, part: part in text),
    "versionCompare": _two_texts(_version_compare),
    "stringListMember": _list_member(str),
    "stringListIMember": _list_member(str.lower),
    "stringListSize": ExpressionFunction(_list_size, 1, 2),
}
"""The functions of this module: {name in expressions: function}."""
