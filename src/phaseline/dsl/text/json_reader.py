"""Read a blueprint that is written as JSON: the values are those of the YAML reader, several times as fast.

A text that is not plain JSON, or wrong in any way, is left to the YAML reader, which can describe the problem.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from phaseline.dsl.text.scalars import MERGE, PlainScalars, UnusableScalar
from phaseline.model.blueprint.blueprint import Value

_scan_text: Any = json.decoder.scanstring  # type: ignore[attr-defined]  # not in typeshed
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_KEY = re.compile(r'[ \t\n\r]*"((?:[^"\\\x00-\x1f]|\\.)*)"[ \t\n\r]*:[ \t\n\r]*')
_SPACE = re.compile(r"[ \t\n\r]*")
_END = re.compile(r"[ \t\n\r]*([,}])")

Marks = dict[object, dict[str, tuple[int, int]]]


class NotPlainJson(Exception):
    """Raised for a text that is not plain JSON, so that the YAML reader must read it."""


def read_json(text: str, max_depth: int) -> tuple[dict[str, Value], Marks]:
    """Return (the values, {section: {element: (line, column) where it begins}}).

    Raises ``NotPlainJson``.
    """
    try:
        root, marks = _Text(text, max_depth).whole()
        if _SURROGATE.search(text):
            json.dumps(root, ensure_ascii=False).encode()  # half of a pair cannot be kept as UTF-8
    except (ValueError, StopIteration, IndexError, RecursionError) as error:
        raise NotPlainJson from error
    return root, marks


class _Text:
    """Reads one text section by section; each element of a section is read in one piece."""

    def __init__(self, text: str, max_depth: int) -> None:
        self.text = text
        self.max_depth = max_depth
        self.marks: Marks = {}
        self.line = 1
        self.line_start = 0
        self.counted = 0
        plain = PlainScalars()
        decoder: Any = json.JSONDecoder(
            object_pairs_hook=_mapping,
            parse_float=lambda digits: _kept(plain[digits]),
            parse_constant=_raise_value_error,
        )
        self.scan: Callable[[str, int], tuple[Value, int]] = decoder.scan_once

    def whole(self) -> tuple[dict[str, Value], Marks]:
        """Return the mapping that the whole text contains, and the positions of its elements."""
        root, end = self.mapping(self.skip(0), self.section, None)
        if self.skip(end) != len(self.text):
            raise ValueError
        return root, self.marks

    def section(self, at: int, name: str) -> tuple[Value, int]:
        """Return the value of a top-level key and where it ends. Note the positions of its elements, if any."""
        if self.text[at] != "{":
            return self.element(at, "", 1)
        places = self.marks[name] = {}
        return self.mapping(at, self.element, places)

    def element(self, at: int, _name: str, depth: int = 2) -> tuple[Value, int]:
        """Return a value at nesting level ``depth`` and where it ends. Refuse a value that is nested too deep."""
        text, most = self.text, self.max_depth - depth
        value, end = self.scan(text, at)
        if text.count("{", at, end) + text.count("[", at, end) > most and _is_deeper(value, most):
            raise ValueError
        return value, end

    def mapping(
        self, at: int, value_of: Callable[[int, str], tuple[Value, int]], places: dict[str, tuple[int, int]] | None
    ) -> tuple[dict[str, Value], int]:
        """Return the mapping that begins at ``at``, and where it ends. ``value_of(start, key)`` reads each value."""
        text = self.text
        if text[at] != "{":
            raise ValueError
        found: dict[str, Value] = {}
        end = self.skip(at + 1)
        if text[end] == "}":
            return found, end + 1
        sign = ","
        at += 1
        while sign == ",":
            head = _KEY.match(text, at)
            if head is None:
                raise ValueError
            key = head[1]
            if "\\" in key:
                key = _scan_text(text, head.start(1))[0]
            if key in found:
                raise ValueError
            if places is not None:
                places[key] = self.placed(head.start(1) - 1)
            found[key], end = value_of(head.end(), key)
            tail = _END.match(text, end)
            if tail is None:
                raise ValueError
            sign, at = tail[1], tail.end()
        return found, at

    def placed(self, at: int) -> tuple[int, int]:
        """Return line and column, from 1, of a position. Positions must be requested in ascending order."""
        breaks = self.text.count("\n", self.counted, at)
        if breaks:
            self.line += breaks
            self.line_start = self.text.rindex("\n", self.counted, at) + 1
        self.counted = at
        return self.line, at - self.line_start + 1

    def skip(self, at: int) -> int:
        """Return the next position that is no white space."""
        match = _SPACE.match(self.text, at)
        return match.end() if match else at


def _mapping(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _kept(value: object) -> object:
    """Return a number as YAML 1.1 reads it: for YAML, ``1e5`` is text."""
    if isinstance(value, UnusableScalar) or value is MERGE:
        raise ValueError
    return value


def _raise_value_error(_: str) -> Value:
    raise ValueError


def _is_deeper(root: Value, most: int) -> bool:
    """Return True if mappings and lists are nested deeper than ``most`` levels."""
    level: list[Any] = [[root]]
    for _ in range(most + 1):
        level = [
            item
            for outer in level
            for item in (outer.values() if outer.__class__ is dict else outer)
            if item.__class__ is dict or item.__class__ is list
        ]
        if not level:
            return False
    return True
