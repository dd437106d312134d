"""Definitions in the informal syntax of ``.cfg`` files: one ``Name = value`` or ``Name : value`` a line, texts unquoted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import ProblemsError
from phaseline.records.conversions import AttributeTypeError, AttributeValueError
from phaseline.records.expression import Expression
from phaseline.records.lexer import CLOSING, OPENING, Token, number_of, unquoted
from phaseline.records.record import Record
from phaseline.records.text_errors import TextError

if TYPE_CHECKING:
    from phaseline.records.values import Value

NAME = re.compile(r"\s*(?P<name>'(?:[^'\\]|\\.)*+'[ \t]*+|[^=:'#][^=:]*+)(?P<sign>:[ \t]*+=|=|:)[ \t]*+")
NUMBER = re.compile(r"[+-]?(?:\d+\.\d+|\.\d+|\d+)(?:[eE][+-]?\d+)?")
STRING = re.compile(r'"(?:[^"\\]|\\.)*+"')
DESCRIPTION = ("phase.description", "phase_description")
"""Names of attributes whose value is always one text, even if it contains commas."""


def parse_definition(text: str, *, file: str = "") -> Record:
    """Return the record of a ``.cfg`` file; a dotted name makes nested records, ``Phase.A.B`` an ``A`` within ``Phase``.

    Raises: ``ProblemsError`` with everything that is wrong.

    >>> parse_definition("States = Off, Started")
    Record({'States': ('Off', 'Started')})
    """
    faults: list[TextError] = []
    record = Record()
    for line, offset in _lines(text):
        try:
            _take(record, line, offset)
        except TextError as fault:
            faults.append(fault)
    if faults:
        raise ProblemsError([fault.problem(text, file=file) for fault in faults])
    record.forget_changes()
    return record


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield (line, its offset) for all lines that are not empty or comments."""
    offset = 0
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield line.rstrip(), offset
        offset += len(line) + 1


def _take(record: Record, line: str, offset: int) -> None:
    found = NAME.match(line)
    if found is None:
        raise TextError(
            "PL-R010", "this line gives no attribute a value", "write Name = value, or # before a comment", offset
        )
    name, sign, text = found["name"].strip(), found["sign"], line[found.end() :]
    start = offset + found.start("name")
    at = offset + found.end()
    if len(sign) > 1:
        value: Value | Expression = _expression(text, at)
    elif text.startswith("=") and not text.startswith("=="):
        value = _expression(text[1:], at + 1)
    elif name.lower() in DESCRIPTION:
        value = unquoted(text) if STRING.fullmatch(text) else text
    else:
        value = _value(text, at)
    _put(record, name, value, start)


def _put(record: Record, name: str, value: Value | Expression, start: int) -> None:
    steps = [unquoted(name)] if name.startswith("'") else [step.strip() for step in name.split(".")]
    if not all(steps):
        raise TextError(
            "PL-R010", f"'{name}' is no name", "leave out the dot, or put the name into single quotes", start
        )
    owner = record
    for step in steps[:-1]:
        nested = owner.folded.get(step.lower())
        if nested is None:
            owner.put(step, Record())
            nested = owner.folded[step.lower()]
        if not isinstance(nested, Record):
            raise TextError(
                "PL-R002", f"'{step}' has a value already, so it has no attributes", "keep one of both", start
            )
        owner = nested
    if steps[-1].lower() in owner.folded:
        raise TextError("PL-R002", f"'{name}' is given twice", "keep one of them; case does not matter", start)
    try:
        owner.put(steps[-1], value)
    except (AttributeTypeError, AttributeValueError) as error:
        raise TextError("PL-R011", str(error), "give it a value that can be kept", start) from None


def _expression(text: str, at: int) -> Expression:
    lead = len(text) - len(text.lstrip())
    try:
        return Expression.read(text.strip())
    except TextError as fault:
        raise fault.moved(at + lead) from None


def _value(text: str, at: int) -> Value:
    """Return the value of a text: a list if it has commas outside of quotes and brackets, otherwise one value."""
    parts = _parts(text, at)
    if len(parts) == 1:
        return _single(*parts[0])
    return tuple(_single(part, place) for part, place in parts)


def _parts(text: str, at: int) -> list[tuple[str, int]]:
    """Return [(text, offset)] of the parts between the commas that are outside of quotes and brackets."""
    found: list[tuple[str, int]] = []
    depth = start = position = 0
    while position < len(text):
        sign = text[position]
        if sign == '"' and not text[start:position].strip():
            string = STRING.match(text, position)
            if string is None:
                raise TextError(
                    "PL-R004", "the string has no end", 'close it with "; a quote inside is written \\"', at + position
                )
            position = string.end()
            continue
        if sign in OPENING:
            depth += 1
        elif sign in CLOSING:
            depth -= 1
        elif sign == "," and depth <= 0:
            found.append((text[start:position], at + start))
            start = position + 1
        position += 1
    return [*found, (text[start:], at + start)]


def _single(text: str, at: int) -> Value:
    """Return one value: a quoted text, a number, a truth value, else the text as written."""
    lead = len(text) - len(text.lstrip())
    text = text.strip()
    if text.startswith('"'):
        if not STRING.fullmatch(text):
            raise TextError("PL-R004", "there is text after the string", "put all of it into the quotes", at + lead)
        return unquoted(text)
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if NUMBER.fullmatch(text):
        sign = -1 if text[0] == "-" else 1
        return sign * number_of(Token("NUMBER", text.lstrip("+-"), at + lead))
    return text
