"""Functions on lists: sums, smallest and largest members, membership, comparisons of all members; and ``abs``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from phaseline.records.functions.signature import ExpressionFunction, exactly, unfit
from phaseline.records.operators import SIGNS, is_member
from phaseline.records.values import ErrorValue, is_in_range, kind_of

if TYPE_CHECKING:
    from phaseline.records.evaluation import EvaluationState
    from phaseline.records.values import Value

COMPARISONS = ("<", "<=", "==", "!=", ">=", ">", "is", "isnt")
"""The comparisons that ``anyCompare`` and ``allCompare`` accept."""


def _over_numbers(combine: Callable[[list[int | float]], Value]) -> ExpressionFunction:
    """Return an expression function that calls ``combine`` with the numbers of one list, without its undefined members."""

    def apply(values: list[Value], run: EvaluationState) -> Value:
        items = values[0]
        if not isinstance(items, tuple):
            return unfit(items, "a list")
        run.spend(len(items))
        numbers: list[int | float] = []
        for item in items:
            if isinstance(item, int | float):
                numbers.append(item)
            elif item is not None:
                return unfit(item, "a number")
        return combine(numbers)

    return exactly(1, apply)


def _total(numbers: list[int | float]) -> Value:
    found = numbers[0] if len(numbers) == 1 else sum(numbers)
    if isinstance(found, int) and not is_in_range(found):
        return ErrorValue("the result is an integer of more than 64 bits")
    return found


def _average(numbers: list[int | float]) -> Value:
    return sum(numbers) / len(numbers) if numbers else 0


def _extreme(choose: Callable[[list[int | float]], int | float]) -> ExpressionFunction:
    def combine(numbers: list[int | float]) -> Value:
        if len(numbers) <= 1:
            return numbers[0] if numbers else None
        found = choose(numbers)
        if any(isinstance(number, float) for number in numbers):
            return float(found)
        return int(found)

    return _over_numbers(combine)


def _absolute(values: list[Value], _run: EvaluationState) -> Value:
    value = values[0]
    if not isinstance(value, int | float):
        return unfit(value, "a number")
    return abs(value) if is_in_range(int(abs(value)) if isinstance(value, int) else 0) else ErrorValue("too large")


def _compare(values: list[Value], run: EvaluationState, *, is_any: bool) -> Value:
    sign, items, other = values
    if sign is None or isinstance(sign, ErrorValue):
        return sign
    if not isinstance(sign, str) or sign.lower() not in COMPARISONS:
        shown = repr(sign) if isinstance(sign, str) else f"the {kind_of(sign)}"
        return ErrorValue(f"{shown[:40]} is no comparison; there are: {' '.join(COMPARISONS)}")
    if items is None:
        return None
    if not isinstance(items, tuple):
        return unfit(items, "a list")
    run.spend(len(items))
    compare = SIGNS[sign.lower()]
    for item in items:
        found = compare(item, other, run)
        if found is None or isinstance(found, ErrorValue):
            return False if found is None else found
        if found is is_any:
            return is_any
    return not is_any


FUNCTIONS: Mapping[str, ExpressionFunction] = {
    "sum": _over_numbers(_total),
    "avg": _over_numbers(_average),
    "min": _extreme(min),
    "max": _extreme(max),
    "abs": exactly(1, _absolute),
    "member": exactly(2, lambda values, run: is_member(values[0], values[1], run), is_strict=False),
    "identicalMember": exactly(
        2, lambda values, run: is_member(values[0], values[1], run, identical=True), is_strict=False
    ),
    "anyCompare": exactly(3, lambda values, run: _compare(values, run, is_any=True), is_strict=False),
    "allCompare": exactly(3, lambda values, run: _compare(values, run, is_any=False), is_strict=False),
}
"""The functions of this module: {name in expressions: function}."""
