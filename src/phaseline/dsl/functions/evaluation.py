"""Evaluate the functions in a value, the innermost first, with the values that a scope knows (B40, B41)."""

from __future__ import annotations

from phaseline.dsl.functions import lookup_functions as lookups
from phaseline.dsl.functions import string_functions as texts
from phaseline.dsl.functions.errors import fail
from phaseline.dsl.functions.registry import ELSEWHERE, contains_functions, function_name
from phaseline.dsl.functions.scope import NotYetKnown, Scope
from phaseline.dsl.functions.third_party import ANNOUNCED, AnnouncedFunctionError
from phaseline.dsl.text.primitive_types import CHECKS
from phaseline.dsl.text.value_words import word_for
from phaseline.model.blueprint.blueprint import Value

MAX_RECURSION = 50
"""Largest depth to which functions may need the values of other functions (B40)."""
MAX_PARTS = 100_000
"""Largest number of parts in functions evaluated for one value.

The limit stops values that repeat other values many times, because their parts multiply.
"""

_COMPUTE = {**lookups.COMPUTE, **texts.COMPUTE}


class _Way:
    """Progress in evaluating one value: the nesting depth of functions, and how many more parts may be evaluated."""

    __slots__ = ("depth", "left")

    def __init__(self) -> None:
        self.depth = 0
        self.left = MAX_PARTS

    def spend(self, count: int) -> None:
        """Count ``count`` more evaluated parts if they are inside functions; raise PL-B075 if there are too many."""
        if self.depth:
            self.left -= count
        if self.left < 0:
            raise fail(
                "PL-B075",
                f"a value has more than {MAX_PARTS:,} parts when evaluated",
                "refer less often to values that repeat other values: their parts multiply",
            )


def evaluate(value: Value, scope: Scope, way: _Way | None = None) -> Value:
    """Return ``value`` with each function replaced by its result.

    A function whose value the scope does not know yet remains, with its arguments evaluated as far as possible. ``way``
    counts depth and parts when ``evaluate`` calls itself for a nested value; callers leave it out.

    Raises ``ProblemsError``: PL-B074 (cannot be evaluated), PL-B075 (``MAX_RECURSION``, ``MAX_PARTS``), PL-B076 (input
    path), PL-B078 and PL-B170 (other deployments), PL-B079 and PL-B150 (secrets).
    """
    if value.__class__ is dict:
        mapping = value
        way = way or _Way()
        name = function_name(mapping)
        if name is None:
            way.spend(len(mapping))
            return {key: evaluate(item, scope, way) for key, item in mapping.items()}
        way.depth += 1
        way.spend(1)
        try:
            return _watched(name, mapping, scope, way)
        finally:
            way.depth -= 1
    if value.__class__ is list:
        way = way or _Way()
        way.spend(len(value))
        return [evaluate(item, scope, way) for item in value]
    return value


def _watched(name: str, written: dict[str, Value], scope: Scope, way: _Way) -> Value:
    watcher = scope.watcher
    if watcher is None:
        return _call(name, written, scope, way)
    before = watcher.begin()
    result = _call(name, written, scope, way)
    watcher.end(before, name, result)
    return result


def _call(name: str, written: dict[str, Value], scope: Scope, way: _Way) -> Value:
    if way.depth > MAX_RECURSION:
        raise fail(
            "PL-B075",
            f"functions need one another more than {MAX_RECURSION} times in a row, at '{name}'",
            "look for properties or inputs that refer to each other in a circle",
        )

    def inner(found: Value, within: Scope) -> Value:
        return evaluate(found, within, way)

    arguments = inner(written[name], scope)
    stays: dict[str, Value] = {**written, name: arguments}
    if contains_functions(arguments):
        return stays
    try:
        if name in _COMPUTE:
            result = _COMPUTE[name](arguments, scope, inner)
        elif name in ELSEWHERE:
            result = scope.elsewhere(name, arguments, inner, written)
        else:
            result = _announced(name, stays, scope, inner)
    except NotYetKnown:
        return stays
    wanted = written.get("type")
    if isinstance(wanted, str):
        _check_type(name, result, wanted)
    return result


def _announced(name: str, written: dict[str, Value], scope: Scope, inner: texts.Inner) -> Value:
    """Return the value of a third-party function; functions in its result are evaluated, too."""
    try:
        return inner(ANNOUNCED.function(name).evaluate(written, scope), scope)
    except AnnouncedFunctionError as error:
        raise fail("PL-B074", error.message, error.mend, kind=error.kind) from error


def _check_type(name: str, result: Value, wanted: str) -> None:
    if wanted in CHECKS and not CHECKS[wanted](result):
        raise fail(
            "PL-B074",
            f"'{name}' gives {word_for(result)}, which is not of type {wanted}",
            "change the value or the type beside the function",
        )
