"""Functions that only compute with their arguments and look nothing up: concat, merge and string functions (B41).

No message shows a value, because the value may come from a secret (decision 30).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from phaseline.dsl.functions.errors import fail
from phaseline.dsl.functions.scope import Scope
from phaseline.dsl.text.value_words import word_for
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.problems.problem import ProblemsError

MAX_TEXT = 16_000_000
"""Largest number of characters in a text that a function returns."""

Inner: TypeAlias = Callable[[Value, Scope], Value]
"""Function that evaluates a value found by a function, one nesting level deeper."""
Compute: TypeAlias = Callable[[Value, Scope, Inner], Value]
"""Computation of a function: (evaluated arguments, scope, evaluator of found values) -> result."""


def _concat(arguments: Value, _scope: Scope, _inner: Inner) -> Value:
    if not isinstance(arguments, list):
        raise fail("PL-B074", "'concat' needs a list of the parts to join", "give a list, such as ['http://', host]")
    parts = [str(part) for part in arguments]
    _raise_if_longer("concat", sum(map(len, parts)))
    return "".join(parts)


def _merge(arguments: Value, _scope: Scope, _inner: Inner) -> Value:
    merged: dict[str, Value] = {}
    if not isinstance(arguments, list):
        raise fail("PL-B074", "'merge' needs a list of mappings", "give a list, such as [{a: 1}, {b: 2}]")
    for place, part in enumerate(arguments):
        if not isinstance(part, dict):
            message = f"'merge' needs mappings, and the {_nth(place)} of its parts is {word_for(part)}"
            raise fail("PL-B074", message, "give a mapping, or leave the part out")
        merged.update(part)
    return merged


def _find(arguments: Value, _scope: Scope, _inner: Inner) -> Value:
    text, needle = _texts("string_find", arguments, 2, 2)[0]
    return text.find(needle)


def _replace(arguments: Value, _scope: Scope, _inner: Inner) -> Value:
    (text, old, new), (count,) = _texts("string_replace", arguments, 3, 4)
    found = text.count(old)
    times = found if count is None or count < 0 else min(found, count)
    _raise_if_longer("string_replace", len(text) + times * (len(new) - len(old)))
    return text.replace(old, new, times)


def _split(arguments: Value, _scope: Scope, _inner: Inner) -> Value:
    (text, separator), (place,) = _texts("string_split", arguments, 2, 3)
    if not separator:
        raise fail("PL-B074", "'string_split' cannot split at nothing", "give a separator, such as ','")
    found: list[Value] = list(text.split(separator))
    if place is None:
        return found
    if not -len(found) <= place < len(found):
        message = f"'string_split' gives {len(found)} part{'s' * (len(found) != 1)}, and there is none at {place}"
        raise fail("PL-B074", message, "correct the index; parts are counted from 0")
    return found[place]


def _lower(arguments: Value, _scope: Scope, _inner: Inner) -> Value:
    return _text("string_lower", arguments).lower()


def _upper(arguments: Value, _scope: Scope, _inner: Inner) -> Value:
    return _text("string_upper", arguments).upper()


def _to_string(arguments: Value, _scope: Scope, _inner: Inner) -> Value:
    return str(arguments)


COMPUTE: dict[str, Compute] = {
    "concat": _concat,
    "merge": _merge,
    "string_find": _find,
    "string_replace": _replace,
    "string_split": _split,
    "string_lower": _lower,
    "string_upper": _upper,
    "to_string": _to_string,
}
"""{name of a function: the Python function that computes it}."""


def _raise_if_longer(function: str, length: int) -> None:
    if length > MAX_TEXT:
        message = f"'{function}' makes a text of more than {MAX_TEXT:,} characters"
        raise fail("PL-B074", message, "put it into a file of its own, and name that")


def _text(function: str, value: Value) -> str:
    if isinstance(value, str):
        return value
    raise fail(
        "PL-B074", f"'{function}' needs a text, and is given {word_for(value)}", "give it a text, or {concat: [value]}"
    )


def _texts(function: str, arguments: Value, least: int, most: int) -> tuple[list[str], list[int | None]]:
    """Return (the first ``least`` arguments as texts, the others as numbers).

    There are ``most - least`` numbers; a number that is not given is None.
    """
    if not isinstance(arguments, list) or not least <= len(arguments) <= most:
        raise _wrong_count(function, least)
    numbers: list[int | None] = []
    for value in arguments[least:]:
        if not isinstance(value, int) or isinstance(value, bool):
            raise fail(
                "PL-B074",
                f"'{function}' needs a whole number, and is given {word_for(value)}",
                "give a number such as 0",
            )
        numbers.append(value)
    texts = [_text(function, value) for value in arguments[:least]]
    return texts, numbers + [None] * (most - least - len(numbers))


def _wrong_count(function: str, least: int) -> ProblemsError:
    return fail("PL-B074", f"'{function}' needs a list of {least} texts", "give a list of that many")


def _nth(place: int) -> str:
    words = ("first", "second", "third")
    return words[place] if place < len(words) else f"{place + 1}th"
