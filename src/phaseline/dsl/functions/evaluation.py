"""Values with functions, evaluated inside out in a scope (B40, B41)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, cast

from phaseline.dsl.functions.table import LATER, contains_functions, function_name
from phaseline.dsl.primitives import CHECKS
from phaseline.model.blueprint import Value
from phaseline.model.problem import fail

MAX_RECURSION = 50
"""Functions that may need one another in a row (B40)."""


class NotYetKnown(Exception):
    """A scope cannot know a value before run time; the function stays as it is written."""


class Scope(Protocol):
    """What functions can look up where they stand."""

    def input(self, name: str) -> Value:
        """The value of an input of the deployment. Raises ``KeyError`` for one that is not declared."""
        ...

    def node(self, reference: str) -> tuple[Mapping[str, Value], Scope]:
        """Properties of a node (its name, SELF, SOURCE or TARGET) and the scope in which they are to be read."""
        ...

    def attribute(self, reference: str, path: Sequence[str | int]) -> Value:
        """A runtime attribute (B42). Raises ``NotYetKnown`` before run time."""
        ...


def evaluate(value: Value, scope: Scope, *, depth: int = 0) -> Value:
    """``value`` with its functions replaced by what they stand for.

    A function that the scope cannot know yet stays, with its arguments evaluated as far as they are known.
    Raises ``ProblemsError``: PL-B074 (cannot be evaluated), PL-B075 (more than ``MAX_RECURSION``), PL-B076 (input path).
    """
    if value.__class__ is dict:
        mapping = value
        name = function_name(mapping)
        if name is not None:
            return _call(name, mapping, scope, depth + 1)
        return {key: evaluate(item, scope, depth=depth) for key, item in mapping.items()}
    if value.__class__ is list:
        return [evaluate(item, scope, depth=depth) for item in value]
    return value


def _call(name: str, written: dict[str, Value], scope: Scope, depth: int) -> Value:
    if depth > MAX_RECURSION:
        raise fail(
            "PL-B075",
            f"Functions need one another more than {MAX_RECURSION} times in a row, at '{name}'",
            "Look for properties or inputs that refer to each other in a circle.",
        )
    if name in LATER:
        raise fail("PL-B017", f"The function '{name}' is not supported yet", "Leave it out for now.")
    arguments = evaluate(written[name], scope, depth=depth)
    stays: dict[str, Value] = {**written, name: arguments}
    if contains_functions(arguments):
        return stays
    try:
        result = _COMPUTE[name](arguments, scope, depth)
    except NotYetKnown:
        return stays
    wanted = written.get("type")
    if isinstance(wanted, str):
        _check_type(name, result, wanted)
    return result


def _check_type(name: str, result: Value, wanted: str) -> None:
    if wanted in CHECKS and not CHECKS[wanted](result):
        raise fail(
            "PL-B074",
            f"'{name}' gives {result!r}, which is not of type {wanted}",
            "Change the value or the type beside the function.",
        )


def _known(value: Value) -> Value:
    """``value`` if nothing in it must wait for run time."""
    if contains_functions(value):
        raise NotYetKnown
    return value


def _get_input(arguments: Value, scope: Scope, depth: int) -> Value:
    name, *path = arguments if isinstance(arguments, list) else [arguments]
    try:
        raw = scope.input(str(name))
    except KeyError:
        raise fail("PL-B071", f"There is no input '{name}'", "Declare it under 'inputs'.") from None
    value = _known(evaluate(raw, scope, depth=depth))
    found, rest = descend(value, cast("list[str | int]", path))
    if rest:
        raise fail(
            "PL-B076",
            f"The input '{name}' has no {_shown(rest[0])} in '{_dotted([str(name), *path])}'",
            "Correct the path or the input's value.",
        )
    return found


def _get_property(arguments: Value, scope: Scope, depth: int) -> Value:
    reference, *path = cast("list[str | int]", arguments)
    properties, inner = scope.node(str(reference))
    if path[0] not in properties:
        raise fail(
            "PL-B074", f"'{reference}' has no property '{path[0]}'", "Correct the name, or give the property a value."
        )
    value = evaluate(properties[str(path[0])], inner, depth=depth)
    found, rest = descend(value, path[1:])
    if rest and not contains_functions(value):
        raise fail(
            "PL-B074",
            f"The property '{path[0]}' of '{reference}' has no {_shown(rest[0])}",
            "Correct the path or the property's value.",
        )
    return _known(value if rest else found)


def _get_attribute(arguments: Value, scope: Scope, _depth: int) -> Value:
    reference, *path = cast("list[str | int]", arguments)
    return scope.attribute(str(reference), path)


def _concat(arguments: Value, _scope: Scope, _depth: int) -> Value:
    if not isinstance(arguments, list):
        raise fail("PL-B074", "'concat' needs a list of the parts to join", "Give a list, such as ['http://', host].")
    return "".join(str(part) for part in arguments)


_COMPUTE: dict[str, Callable[[Value, Scope, int], Value]] = {
    "get_input": _get_input,
    "get_property": _get_property,
    "get_attribute": _get_attribute,
    "concat": _concat,
}
"""{name: (evaluated arguments, scope, depth) -> result}"""


def descend(value: Value, path: Sequence[str | int]) -> tuple[Value, Sequence[str | int]]:
    """(what ``path`` leads to, the steps that could not be taken).

    >>> descend({"a": [1, 2]}, ["a", 1])
    (2, [])
    >>> descend({"a": 1}, ["b"])
    ({'a': 1}, ['b'])
    """
    for place, step in enumerate(path):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and (index := _index(step)) is not None and index < len(value):
            value = value[index]
        else:
            return value, path[place:]
    return value, []


def _index(step: str | int) -> int | None:
    if isinstance(step, int):
        return step if step >= 0 else None
    return int(step) if step.isdecimal() and len(step) < 10 else None


def _shown(step: str | int) -> str:
    return f"index {step}" if isinstance(step, int) else f"key '{step}'"


def _dotted(path: Sequence[str | int]) -> str:
    return ".".join(map(str, path))
