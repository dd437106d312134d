"""The operators of the language on evaluated operands: arithmetic, comparisons, bits, truth.

For all operators: an error among the operands is the result; otherwise, if one is undefined, the result is undefined.
Numbers and truth values can be mixed, texts and numbers cannot.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from phaseline.records.values import ErrorValue, is_identical, is_in_range, kind_of

if TYPE_CHECKING:
    from phaseline.records.evaluation import EvaluationState
    from phaseline.records.values import Value

Binary: TypeAlias = "Callable[[Value, Value, EvaluationState], Value]"
NUMBERS = (bool, int, float)
WORD = 64
"""Number of bits of an integer."""
MASK = (1 << WORD) - 1


def truth(value: Value) -> bool | None | ErrorValue:
    """Return whether the value counts as true. Undefined stays undefined; a value that is no truth value gives an error.

    >>> truth(0.5), truth(None)
    (True, None)
    """
    if value is None or isinstance(value, bool | ErrorValue):
        return value
    if isinstance(value, int | float):
        return value != 0
    return ErrorValue(f"the {kind_of(value)} is neither true nor false")


def _settled(sign: str, left: Value, right: Value) -> ErrorValue | None:
    """Return the result for operands whose types the operator cannot combine.

    The result is the first operand that is an error; otherwise None (undefined) if an operand is undefined; otherwise a
    new error.
    """
    if isinstance(left, ErrorValue):
        return left
    if isinstance(right, ErrorValue):
        return right
    if left is None or right is None:
        return None
    return ErrorValue(f"{kind_of(left)} {sign} {kind_of(right)} means nothing")


def _number(value: float) -> Value:
    """Return the result of a calculation, or an error if it does not fit into an integer of 64 bits."""
    if isinstance(value, int) and not is_in_range(value):
        return ErrorValue("the result is an integer of more than 64 bits")
    return value


def _span(sign: str, left: Value, right: Value) -> Value:
    """Return the result of an operator on times, durations and numbers, or an error if the operator cannot combine
    them.
    """
    apply = _SPANS.get((sign, type(left), type(right)))
    if apply is None:
        return _settled(sign, left, right)
    try:
        found = apply(left, right)
    except (OverflowError, ValueError):
        return ErrorValue(f"{kind_of(left)} {sign} {kind_of(right)} gives no time that can be written")
    except ZeroDivisionError:
        return ErrorValue("division by zero")
    return cast("Value", found)


_SPANS: Mapping[tuple[str, type, type], Callable[[Any, Any], object]] = {
    ("+", datetime, timedelta): operator.add,
    ("+", timedelta, datetime): operator.add,
    ("+", timedelta, timedelta): operator.add,
    ("-", datetime, timedelta): operator.sub,
    ("-", datetime, datetime): operator.sub,
    ("-", timedelta, timedelta): operator.sub,
    ("*", timedelta, int): operator.mul,
    ("*", timedelta, float): operator.mul,
    ("*", int, timedelta): operator.mul,
    ("*", float, timedelta): operator.mul,
    ("/", timedelta, int): operator.truediv,
    ("/", timedelta, float): operator.truediv,
}


def _arithmetic(sign: str, apply: Callable[[Any, Any], Any]) -> Binary:
    def calculate(left: Value, right: Value, _run: EvaluationState) -> Value:
        if isinstance(left, NUMBERS) and isinstance(right, NUMBERS):
            return _number(apply(left, right))
        return _span(sign, left, right)

    return calculate


def _divide(left: Value, right: Value, _run: EvaluationState) -> Value:
    if not (isinstance(left, NUMBERS) and isinstance(right, NUMBERS)):
        return _span("/", left, right)
    if right == 0:
        return ErrorValue("division by zero")
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    return _number(_truncated(int(left), int(right)))


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: Value, right: Value, _run: EvaluationState) -> Value:
    if not (isinstance(left, int) and isinstance(right, int)):
        return _settled("%", left, right)
    if right == 0:
        return ErrorValue("division by zero")
    return int(left) - int(right) * _truncated(int(left), int(right))


def _bits(sign: str, apply: Callable[[int, int], int]) -> Binary:
    def combine(left: Value, right: Value, _run: EvaluationState) -> Value:
        if type(left) is int and type(right) is int:
            return _signed(apply(left, right))
        return _settled(sign, left, right)

    return combine


def _signed(number: int) -> int:
    """Return the lowest 64 bits of the number as a signed integer."""
    number &= MASK
    return number - (1 << WORD) if number >> (WORD - 1) else number


def _equality(*, wanted: bool) -> Binary:
    sign = "==" if wanted else "!="

    def compare(left: Value, right: Value, run: EvaluationState) -> Value:
        if isinstance(left, str) and isinstance(right, str):
            if left == right:
                return wanted
            run.read(len(left) + len(right))
            return (left.lower() == right.lower()) is wanted
        if isinstance(left, NUMBERS) and isinstance(right, NUMBERS):
            return (left == right) is wanted
        if type(left) is type(right) and isinstance(left, datetime | timedelta):
            return (left == right) is wanted
        return _settled(sign, left, right)

    return compare


def _order(sign: str, apply: Callable[[Any, Any], bool]) -> Binary:
    def compare(left: Value, right: Value, run: EvaluationState) -> Value:
        if isinstance(left, NUMBERS) and isinstance(right, NUMBERS):
            return apply(left, right)
        if isinstance(left, str) and isinstance(right, str):
            run.read(len(left) + len(right))
            return apply(left.lower(), right.lower())
        if type(left) is type(right) and isinstance(left, datetime | timedelta):
            return apply(left, right)
        return _settled(sign, left, right)

    return compare


def is_member(value: Value, items: Value, run: EvaluationState, *, identical: bool = False) -> Value:
    """Return whether a list contains the value, compared by ``==`` or, with ``identical``, by ``is``.

    Members that cannot be compared with the value count as different.
    """
    if items is None or (value is None and not identical):
        return None
    if isinstance(items, ErrorValue):
        return items
    if isinstance(value, ErrorValue) and not identical:
        return value
    if not isinstance(items, tuple):
        return ErrorValue(f"a list is needed, this is the {kind_of(items)}")
    if isinstance(value, tuple) or kind_of(value) == "record":
        return ErrorValue(f"a {kind_of(value)} is no member that can be looked for")
    run.spend(len(items))
    if identical:
        return any(is_identical(value, item) for item in items)
    return any(SIGNS["=="](value, item, run) is True for item in items)


def _identity(left: Value, right: Value, _run: EvaluationState) -> Value:
    return is_identical(left, right)


def _difference(left: Value, right: Value, _run: EvaluationState) -> Value:
    return not is_identical(left, right)


SIGNS: Mapping[str, Binary] = {
    "+": _arithmetic("+", operator.add),
    "-": _arithmetic("-", operator.sub),
    "*": _arithmetic("*", operator.mul),
    "/": _divide,
    "%": _remainder,
    "&": _bits("&", operator.and_),
    "|": _bits("|", operator.or_),
    "^": _bits("^", operator.xor),
    "<<": _bits("<<", lambda left, right: left << (right % WORD)),
    ">>": _bits(">>", lambda left, right: left >> (right % WORD)),
    ">>>": _bits(">>>", lambda left, right: (left & MASK) >> (right % WORD)),
    "==": _equality(wanted=True),
    "!=": _equality(wanted=False),
    "is": _identity,
    "isnt": _difference,
    "<": _order("<", operator.lt),
    "<=": _order("<=", operator.le),
    ">": _order(">", operator.gt),
    ">=": _order(">=", operator.ge),
    "in": is_member,
}
"""Operators that evaluate both operands: {sign: function}.

``&&``, ``||`` and ``?:`` need not evaluate all operands, and are therefore in ``compiler``.
"""


def negate(value: Value) -> Value:
    """Return ``-x``."""
    if type(value) is int or type(value) is float:
        return _number(-value)
    return -value if isinstance(value, timedelta) else _unary("-", value)


def keep(value: Value) -> Value:
    """Return ``+x``."""
    return value if type(value) in {int, float, timedelta} else _unary("+", value)


def invert(value: Value) -> Value:
    """Return ``!x``."""
    found = truth(value)
    return not found if isinstance(found, bool) else found


def complement(value: Value) -> Value:
    """Return ``~x``."""
    return ~value if type(value) is int else _unary("~", value)


def _unary(sign: str, value: Value) -> Value:
    if value is None or isinstance(value, ErrorValue):
        return value
    return ErrorValue(f"{sign}{kind_of(value)} means nothing")


UNARY: Mapping[str, Callable[[Value], Value]] = {"-": negate, "+": keep, "!": invert, "~": complement}
"""Operators with one operand: {sign: function}."""
