"""The description of a function of the expression language, and the rules that most functions share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from phaseline.records.values import ErrorValue, kind_of

if TYPE_CHECKING:
    from phaseline.records.evaluation import EvaluationState
    from phaseline.records.values import Value

Apply: TypeAlias = "Callable[[list[Value], EvaluationState], Value]"
ANY_NUMBER = 10_000
"""The limit for functions with any number of arguments: more than an expression of the largest size can have."""


@dataclass(frozen=True, slots=True)
class ExpressionFunction:
    """A function of the language. ``apply`` gets at least ``fewest`` and at most ``most`` values.

    If ``is_strict``, ``apply`` is not called with errors or undefined values: the result is the first error, otherwise
    undefined. If also ``undefined_first``, one undefined argument makes the result undefined, even beside an error.
    """

    apply: Apply
    fewest: int
    most: int
    is_strict: bool = True
    undefined_first: bool = False


def exactly(count: int, apply: Apply, *, is_strict: bool = True) -> ExpressionFunction:
    """Return a function of exactly ``count`` arguments."""
    return ExpressionFunction(apply, count, count, is_strict)


def unfit(value: Value, wanted: str) -> ErrorValue:
    """Return the error for an argument of the wrong kind; an argument that is an error is returned unchanged."""
    return value if isinstance(value, ErrorValue) else ErrorValue(f"{wanted} is needed, this is the {kind_of(value)}")
