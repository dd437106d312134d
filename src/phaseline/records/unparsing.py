"""Canonical texts of trees and values; reading such a text gives an equal tree or value."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from phaseline.records import syntax_tree as syntax
from phaseline.records.expression import Expression
from phaseline.records.lexer import name_text, quoted
from phaseline.records.record import TYPE
from phaseline.records.values import ErrorValue

if TYPE_CHECKING:
    from phaseline.records.record import Record
    from phaseline.records.syntax_tree import Node
    from phaseline.records.values import Stored

LEVELS = (
    ("|",), ("^",), ("&",), ("==", "!=", "is", "isnt"), ("<", "<=", ">", ">=", "in"),
    ("<<", ">>", ">>>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
CONDITIONAL, ELVIS, OR, AND, FIRST_CHAIN = range(5)
UNARY = FIRST_CHAIN + len(LEVELS)
POSTFIX = UNARY + 1
STRENGTH = {sign: FIRST_CHAIN + level for level, signs in enumerate(LEVELS) for sign in signs}
"""{operator: precedence}; an operator with a larger number binds more strongly."""


def text_of(node: Node, strength: int = CONDITIONAL) -> str:
    """Return the text of the tree, in brackets if its operator binds less strongly than ``strength``.

    >>> from phaseline.records.grammar import tree_of
    >>> text_of(tree_of("(a+b)*c=?=undefined||!d"))
    '(a + b) * c is undefined || !d'
    """
    own, text = _text(node)
    return f"({text})" if own < strength else text


def _text(node: Node) -> tuple[int, str]:
    """Return (precedence of the tree's operator, text of the tree)."""
    match node:
        case syntax.Literal():
            text = value_text(node.value)
            return (UNARY if text.startswith("-") else POSTFIX), text
        case syntax.Name():
            return POSTFIX, f"my.{name_text(node.name)}" if node.is_own else name_text(node.name)
        case syntax.Select():
            return POSTFIX, f"{text_of(node.of, POSTFIX)}.{name_text(node.name)}"
        case syntax.Index():
            return POSTFIX, f"{text_of(node.of, POSTFIX)}[{text_of(node.at)}]"
        case syntax.FunctionCall():
            return POSTFIX, f"{node.name}({', '.join(map(text_of, node.arguments))})"
        case syntax.ListOf():
            return POSTFIX, "{" + ", ".join(map(text_of, node.items)) + "}"
        case syntax.RecordOf():
            return POSTFIX, "[" + "; ".join(f"{name_text(name)} = {text_of(of)}" for name, of in node.entries) + "]"
        case syntax.Unary():
            return UNARY, f"{node.sign}{text_of(node.of, UNARY)}"
        case syntax.Chain():
            return _chain(node)
        case syntax.Logic():
            own = AND if node.sign == "&&" else OR
            return own, f" {node.sign} ".join(text_of(item, own + 1) for item in node.items)
        case syntax.Conditional():
            parts = (text_of(node.condition, ELVIS), text_of(node.then), text_of(node.otherwise))
            return CONDITIONAL, "{} ? {} : {}".format(*parts)
        case _:
            return ELVIS, " ?: ".join(text_of(item, OR) for item in node.items)


def _chain(node: syntax.Chain) -> tuple[int, str]:
    own = STRENGTH[node.rest[0][0]]
    rest = "".join(f" {sign} {text_of(operand, own + 1)}" for sign, operand in node.rest)
    return own, text_of(node.first, own + 1) + rest


def value_text(value: Stored) -> str:
    """Return the value as a literal, with records and lists on one line and expressions as their text.

    >>> value_text((1, 1.5, "a", None, True))
    '{1, 1.5, "a", undefined, true}'
    """
    if value is None:
        return "undefined"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return real_text(value)
    if isinstance(value, datetime):
        return f'absTime("{value.isoformat()}")'
    if isinstance(value, timedelta):
        return f'relTime("{span_text(value)}")'
    if isinstance(value, tuple):
        return "{" + ", ".join(map(value_text, value)) + "}"
    if isinstance(value, ErrorValue):
        return "error"
    if isinstance(value, Expression):
        return value.text
    return "[" + "; ".join(entry_text(name, value.folded[name.lower()]) for name in names_of(value)) + "]"


def names_of(record: Record, *, is_sorted: bool = False) -> list[str]:
    """Return the names of the attributes in the order in which they are written: the type first."""
    names = sorted(record, key=str.lower) if is_sorted else list(record)
    return sorted(names, key=lambda name: name.lower() != TYPE.lower())


def entry_text(name: str, value: Stored) -> str:
    """Return ``name = value``, or ``name := text`` for an expression."""
    return f"{name_text(name)} {':=' if isinstance(value, Expression) else '='} {value_text(value)}"


def real_text(value: float) -> str:
    """Return the shortest text that reads back as the same number.

    >>> real_text(1e30), real_text(0.1), real_text(float("inf"))
    ('1e+30', '0.1', 'real("INF")')
    """
    if math.isfinite(value):
        return repr(value)
    return 'real("NaN")' if math.isnan(value) else 'real("INF")' if value > 0 else 'real("-INF")'


def span_text(value: timedelta) -> str:
    """Return the duration as days, hours, minutes and seconds; days and fractions only if there are any.

    >>> span_text(timedelta(seconds=93784)), span_text(timedelta(seconds=-1.5)), span_text(timedelta(0))
    ('1+02:03:04', '-00:00:01.5', '00:00:00')
    """
    sign = "-" if value < timedelta(0) else ""
    value = abs(value)
    hours, rest = divmod(value.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    days = f"{value.days}+" if value.days else ""
    fraction = f".{value.microseconds:06d}".rstrip("0") if value.microseconds else ""
    return f"{sign}{days}{hours:02d}:{minutes:02d}:{seconds:02d}{fraction}"
