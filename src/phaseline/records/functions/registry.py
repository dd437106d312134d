"""All functions by name, and the closures of calls; a call is checked when its expression is read, not when it is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from phaseline.records import syntax_tree as syntax
from phaseline.records.functions import list_functions as lists
from phaseline.records.functions import regex_functions as patterns
from phaseline.records.functions import string_functions as texts
from phaseline.records.functions import time_functions as times
from phaseline.records.functions import type_functions as kinds
from phaseline.records.functions.signature import ANY_NUMBER, ExpressionFunction
from phaseline.records.operators import truth
from phaseline.records.text_errors import TextError
from phaseline.records.unparsing import text_of
from phaseline.records.values import ErrorValue, bounded

if TYPE_CHECKING:
    from phaseline.records.evaluation import EvaluationState
    from phaseline.records.expression import Evaluate
    from phaseline.records.record import Record
    from phaseline.records.values import Value

TABLE: Mapping[str, ExpressionFunction] = {
    name.lower(): function
    for part in (kinds, lists, patterns, texts, times)
    for name, function in part.FUNCTIONS.items()
}
"""All functions that get evaluated arguments: {name in lower case: function}."""


def _if_then_else(arguments: list[Evaluate], _node: syntax.FunctionCall) -> Evaluate:
    condition, then, otherwise = arguments

    def if_then_else(record: Record, run: EvaluationState) -> Value:
        found = truth(condition(record, run))
        if isinstance(found, bool):
            return then(record, run) if found else otherwise(record, run)
        return found

    return if_then_else


def _if_undefined(arguments: list[Evaluate], _node: syntax.FunctionCall) -> Evaluate:
    first, second = arguments

    def if_undefined(record: Record, run: EvaluationState) -> Value:
        value = first(record, run)
        return second(record, run) if value is None else value

    return if_undefined


def _unparse(_arguments: list[Evaluate], node: syntax.FunctionCall) -> Evaluate:
    """Return a closure for the text of the argument.

    If the argument is the name of an attribute, the result is the text of that attribute's value.
    """
    from phaseline.records.unparsing import value_text

    argument = node.arguments[0]
    text = text_of(argument)
    if not isinstance(argument, syntax.Name):
        return lambda _record, _run: text
    key = argument.name.lower()
    return lambda record, _run: bounded(value_text(record.folded[key])) if key in record.folded else text


LAZY: Mapping[str, tuple[int, Callable[[list[Evaluate], syntax.FunctionCall], Evaluate]]] = {
    "ifthenelse": (3, _if_then_else),
    "ifundefined": (2, _if_undefined),
    "unparse": (1, _unparse),
}
"""Functions that need not evaluate all arguments: {name in lower case: (number of arguments, function that makes the
closure)}.
"""

NAMES = tuple(
    sorted(
        [
            *(name for part in (kinds, lists, patterns, texts, times) for name in part.FUNCTIONS),
            "ifThenElse",
            "ifUndefined",
            "unparse",
        ]
    )
)
"""Every function name as it is written."""


def call_of(node: syntax.FunctionCall, arguments: list[Evaluate]) -> Evaluate:
    """Return the closure of a call. Raises ``TextError`` PL-R006 for an unknown function, PL-R009 for a wrong number of arguments."""
    name = node.name.lower()
    count = len(arguments)
    if name in LAZY:
        wanted, make = LAZY[name]
        _check_count(node, count, wanted, wanted)
        return make(arguments, node)
    function = TABLE.get(name)
    if function is None:
        from phaseline.lang.did_you_mean import suggestion

        hint = suggestion(node.name, NAMES)
        raise TextError(
            "PL-R006", f"there is no function '{node.name[:60]}'", f"{hint}there are: {', '.join(NAMES)}", node.offset
        )
    _check_count(node, count, function.fewest, function.most)
    if name in {"regexp", "regexps"}:
        _check_pattern(node)
    return _strict(function, arguments) if function.is_strict else _plain(function, arguments)


def _check_count(node: syntax.FunctionCall, count: int, fewest: int, most: int) -> None:
    if fewest <= count <= most:
        return
    least = "at least " if most == ANY_NUMBER else ""
    wanted = f"{fewest} to {most}" if fewest < most < ANY_NUMBER else f"{least}{fewest}"
    message = f"{node.name} takes {wanted} argument{'s' * (not wanted.endswith('1'))}, {count} given"
    raise TextError("PL-R009", message, "see the page about expressions for what it takes", node.offset)


def _check_pattern(node: syntax.FunctionCall) -> None:
    """Check a regular expression that is written as a literal string, already when the expression is read."""
    pattern = node.arguments[0]
    last = node.arguments[-1] if len(node.arguments) == (3 if node.name.lower() == "regexp" else 4) else None
    options = last.value if isinstance(last, syntax.Literal) and isinstance(last.value, str) else ""
    if isinstance(pattern, syntax.Literal) and isinstance(pattern.value, str):
        patterns.check(pattern.value, options, node.offset)


def _plain(function: ExpressionFunction, arguments: list[Evaluate]) -> Evaluate:
    apply = function.apply
    return lambda record, run: apply([argument(record, run) for argument in arguments], run)


def _strict(function: ExpressionFunction, arguments: list[Evaluate]) -> Evaluate:
    apply, undefined_first = function.apply, function.undefined_first

    def call(record: Record, run: EvaluationState) -> Value:
        values = []
        is_undefined = False
        error: Value = None
        for argument in arguments:
            value = argument(record, run)
            if value is None:
                is_undefined = True
            elif value.__class__ is ErrorValue:
                if not undefined_first:
                    return value
                error = value
            values.append(value)
        if is_undefined:
            return None
        return apply(values, run) if error is None else error

    return call
