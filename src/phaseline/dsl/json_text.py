"""A blueprint that is written as JSON, read by the JSON reader: the same values as YAML gives, several times as fast.

Whatever is not plain JSON, or wrong in any way, is left to the YAML reader, which finds the words for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from phaseline.dsl.scalars import MERGE, PlainScalars, UnusableScalar
from phaseline.model.blueprint import Value

_scan_text: Any = json.decoder.scanstring  # type: ignore[attr-defined]  # not in typeshed
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SPACE = re.compile(r"[ \t\n\r]*")

Marks = dict[object, dict[str, tuple[int, int]]]


class NotPlainJson(Exception):
    """The text is for the YAML reader."""


def read_json(text: str, max_depth: int) -> tuple[dict[str, Value], Marks]:
    """(the values, where the elements of the sections begin: {section: {element: (line, column)}}).

    Raises ``NotPlainJson``.
    """
    try:
        root, marks = _Text(text).whole()
        if _SURROGATE.search(text):
            json.dumps(root, ensure_ascii=False).encode()  # half of a pair cannot be kept as UTF-8
    except (ValueError, StopIteration, IndexError, RecursionError) as error:
        raise NotPlainJson from error
    if _is_deeper(root, max_depth):
        raise NotPlainJson
    return root, marks


class _Text:
    """One text, walked section by section; the elements themselves are read in one piece."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.line = 1
        self.line_start = 0
        self.counted = 0
        plain = PlainScalars()
        decoder: Any = json.JSONDecoder(
            object_pairs_hook=_mapping, parse_float=lambda digits: _kept(plain[digits]), parse_constant=_refuse
        )
        self.scan: Callable[[str, int], tuple[Value, int]] = decoder.scan_once

    def whole(self) -> tuple[dict[str, Value], Marks]:
        """The mapping that the text is."""
        marks: Marks = {}

        def section(name: str, at: int) -> tuple[Value, int]:
            if self.text[at] != "{":
                return self.scan(self.text, at)
            places = marks[name] = {}

            def element(key: str, start: int) -> tuple[Value, int]:
                places[key] = self.place
                return self.scan(self.text, start)

            return self.mapping(at, element)

        self.place = (1, 1)
        root, end = self.mapping(self.skip(0), section)
        if self.skip(end) != len(self.text):
            raise ValueError
        return root, marks

    def mapping(self, at: int, value_of: Any) -> tuple[dict[str, Value], int]:
        """The mapping that begins at ``at`` and where it ends; ``value_of(key, start)`` reads each value."""
        text, skip = self.text, self.skip
        if text[at] != "{":
            raise ValueError
        found: dict[str, Value] = {}
        at = skip(at + 1)
        if text[at] == "}":
            return found, at + 1
        while True:
            if text[at] != '"':
                raise ValueError
            self.place = self.placed(at)
            key, at = _scan_text(text, at + 1)
            at = skip(at)
            if text[at] != ":" or key in found:
                raise ValueError
            found[key], at = value_of(key, skip(at + 1))
            at = skip(at)
            if text[at] == "}":
                return found, at + 1
            if text[at] != ",":
                raise ValueError
            at = skip(at + 1)

    def placed(self, at: int) -> tuple[int, int]:
        """Line and column, from 1, of a position that lies behind all that were asked for before."""
        breaks = self.text.count("\n", self.counted, at)
        if breaks:
            self.line += breaks
            self.line_start = self.text.rindex("\n", self.counted, at) + 1
        self.counted = at
        return self.line, at - self.line_start + 1

    def skip(self, at: int) -> int:
        """The next position that is no space."""
        match = _SPACE.match(self.text, at)
        return match.end() if match else at


def _mapping(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _kept(value: object) -> object:
    """A number as YAML 1.1 reads it: 1e5 is text there."""
    if isinstance(value, UnusableScalar) or value is MERGE:
        raise ValueError
    return value


def _refuse(_: str) -> Value:
    raise ValueError


def _is_deeper(root: Value, most: int) -> bool:
    """Whether mappings and lists lie more than ``most`` levels within one another."""
    level: list[Any] = [root]
    for _ in range(most):
        level = [
            item
            for outer in level
            for item in (outer.values() if outer.__class__ is dict else outer)
            if item.__class__ is dict or item.__class__ is list
        ]
        if not level:
            return False
    return True
