"""Convert plain and tagged YAML 1.1 scalars to values that JSON can represent."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.blueprint import Value

MAX_DEPTH = 100
"""Largest depth of nested mappings and lists."""
TAGS = "tag:yaml.org,2002:"
MERGE: Final = object()
"""Value of a plain ``<<``: as a key it merges other mappings into its mapping."""
MAX_DIGITS = 3_500
"""Largest number of characters in a number that is not decimal; Python itself limits decimal numbers."""
MAX_SHOWN = 100
"""Largest number of characters of a number that a message shows."""
_SEXAGESIMAL = 60
_BASES = {"0b": 2, "0x": 16}


@frozen
class UnusableScalar:
    """A scalar that is valid YAML but cannot be represented, with the reason."""

    reason: str


def _integer(text: str) -> Value | UnusableScalar:
    digits = text.replace("_", "").lower()
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("+-")
    try:
        if len(digits) > MAX_DIGITS and not (digits.isdecimal() and digits[0] != "0"):
            raise ValueError
        if digits[:2] in _BASES:
            return sign * int(digits[2:], _BASES[digits[:2]])
        if ":" in digits:
            total = 0
            for part in digits.split(":"):
                total = total * _SEXAGESIMAL + int(part)
            return sign * total
        if len(digits) > 1 and digits[0] == "0":
            return sign * int(digits, 8)
        return sign * int(digits)
    except ValueError:
        return UnusableScalar("the number is too long or not a number")


def _float(text: str) -> Value | UnusableScalar:
    digits = text.replace("_", "").lower()
    sign = -1.0 if digits.startswith("-") else 1.0
    digits = digits.lstrip("+-")
    if digits in {".inf", ".nan"}:
        return UnusableScalar(f"'{text}' is no number that can be stored")
    try:
        if len(digits) > MAX_DIGITS:
            raise ValueError
        if ":" not in digits:
            number = sign * float(digits)
        else:
            total = 0.0
            for part in digits.split(":"):
                total = total * _SEXAGESIMAL + float(part)
            number = sign * total
    except ValueError:
        return UnusableScalar(f"'{text[:MAX_SHOWN]}' is not a number")
    return number if math.isfinite(number) else UnusableScalar(f"'{text[:MAX_SHOWN]}' is too large")


def _truth(text: str) -> Value | UnusableScalar:
    import yaml

    found = yaml.constructor.SafeConstructor.bool_values.get(text.lower())
    return found if found is not None else UnusableScalar(f"'{text}' is neither true nor false")


_MEANINGS: dict[str, Callable[[str], Value | UnusableScalar]] = {
    f"{TAGS}bool": _truth,
    f"{TAGS}int": _integer,
    f"{TAGS}float": _float,
    f"{TAGS}null": lambda _: None,
    f"{TAGS}str": str,
}
"""{tag: conversion of its text}. A plain scalar whose implicit tag is missing here (date, ``=``) stays text."""


@cache
def _implicit() -> dict[str, list[tuple[str, Any]]]:
    """Return {first character: [(tag, pattern)]} of YAML 1.1, from PyYAML, which plain JSON does not need."""
    import yaml

    return dict(yaml.SafeLoader.yaml_implicit_resolvers)


class PlainScalars(dict[str, object]):
    """{plain scalar: its value}, filled on demand. Equal texts become one object, which saves memory."""

    def __missing__(self, text: str) -> object:
        value: object = text
        for tag, pattern in _implicit().get(text[:1], ()):
            if pattern.match(text):
                if tag == f"{TAGS}merge":
                    value = MERGE
                elif tag in _MEANINGS:
                    value = _MEANINGS[tag](text)
                break
        self[text] = value
        return value


def tagged_value(tag: str, text: str) -> Value | UnusableScalar:
    """Return the value of a scalar with an explicit tag such as ``!!str``; the tag ``!`` means text."""
    if tag == "!":
        return text
    meaning = _MEANINGS.get(tag)
    if meaning is None:
        return UnusableScalar(f"the tag '{tag.replace(TAGS, '!!')}' has no meaning here")
    return meaning(text)


def as_key(value: object) -> object:
    """Return a key as JSON stores it: numbers, true and false become text; other keys are unchanged.

    >>> as_key(80), as_key(True), as_key("web")
    ('80', 'true', 'web')
    """
    if value.__class__ is bool:
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value
