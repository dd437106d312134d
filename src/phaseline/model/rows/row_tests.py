"""Tests of rows that a database can evaluate: what an expression or a rule of a filter is turned into (LB3, LB4).

A test has one of three results, as an expression has: true, false, or neither if it is about something that the row does
not have. A query selects the rows for which all its tests are true.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Literal, TypeAlias

from phaseline.lang.fast_dataclasses import frozen

TestKind: TypeAlias = Literal["is", "equals", "starts", "ends", "contains", "defined"]
"""``is`` compares with case and is false for what a row does not have; ``equals`` ignores case."""


@frozen
class RowTest:
    """A comparison of an attribute of a row, or of one of its labels if ``is_label``, with a text.

    A label can have several values; then it is true if it is true for one of them.
    """

    name: str
    kind: TestKind
    text: str = ""
    is_label: bool = False


@frozen
class AllOf:
    """All of these must be true."""

    items: tuple[RowCheck, ...]


@frozen
class AnyOf:
    """One of these must be true."""

    items: tuple[RowCheck, ...]


@frozen
class NotThat:
    """True if this is false."""

    item: RowCheck


RowCheck: TypeAlias = RowTest | AllOf | AnyOf | NotThat

_FITS: Mapping[TestKind, Callable[[str, str], bool]] = {
    "is": lambda value, text: value == text,
    "equals": lambda value, text: value.lower() == text.lower(),
    "starts": lambda value, text: value.startswith(text),
    "ends": lambda value, text: value.endswith(text),
    "contains": lambda value, text: text in value,
}


def verdict_of(check: RowCheck, values_of: Callable[[RowTest], Collection[str]]) -> bool | None:
    """Return whether a check is true for a row; None if it is neither true nor false.

    ``values_of`` returns the values that the row has for the subject of a test: none, one, or several of a label.

    >>> verdict_of(NotThat(RowTest("env", "equals", "Prod", is_label=True)), lambda _test: ["prod"])
    False
    """
    if isinstance(check, RowTest):
        values = values_of(check)
        if check.kind == "defined":
            return bool(values)
        if not values:
            return False if check.kind == "is" else None
        return any(_FITS[check.kind](value, check.text) for value in values)
    if isinstance(check, NotThat):
        found = verdict_of(check.item, values_of)
        return None if found is None else not found
    verdicts = [verdict_of(item, values_of) for item in check.items]
    decides = isinstance(check, AnyOf)
    if decides in verdicts:
        return decides
    return None if None in verdicts else not decides
