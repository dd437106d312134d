"""Check the constraints of inputs and parameters, which limit values beyond their type (B14).

``OPERATORS`` is the table of operators: the form of each argument, and when a value meets the constraint. Operators
without ``holds`` choose among objects in the store; a ``Lookup`` checks these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from phaseline.dsl.functions.registry import is_function
from phaseline.dsl.text.primitive_types import OBJECT_TYPES
from phaseline.dsl.text.value_words import quoted_list, suggest, word_for
from phaseline.lang import regex
from phaseline.lang.fast_dataclasses import frozen
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.blueprint.blueprint import PropertySchema, Value

MESSAGE = "error_message"
"""Key beside an operator with an error message for users (since 1_5)."""
_NAMED_IN_DEPLOYMENTS = frozenset(
    ["capability_value", "scaling_group", "node_id", "node_type", "node_instance", "operation_name"]
)
_OF_ONE_DEPLOYMENT = frozenset({"capability_value", "node_instance"})
_IDS = frozenset({"blueprint_id", "deployment_id"})


class Lookup(Protocol):
    """Finds the objects in the store that inputs may name."""

    def has(self, kind: str, value: Value, filters: Mapping[str, Value]) -> bool:
        """Return True if ``value`` names an object of a type such as ``node_id`` that fits all filters.

        ``filters`` is {operator: argument}.
        """
        ...

    @property
    def deployment(self) -> str | None:
        """Return the deployment for which a value is given, or None if there is none."""
        ...


class Incomparable(Exception):
    """Raised for a value to which an operator cannot be applied, with the reason."""


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ordered(compare: Callable[[float, float], bool]) -> Callable[[Value, Value], bool]:
    def holds(value: Value, argument: Value) -> bool:
        if not isinstance(value, int | float) or not isinstance(argument, int | float):
            raise Incomparable(f"{word_for(value)} cannot be compared with a number")
        return compare(value, argument)

    return holds


def _sized(compare: Callable[[float, float], bool]) -> Callable[[Value, Value], bool]:
    def holds(value: Value, argument: Value) -> bool:
        if not isinstance(value, str | list | dict) or not isinstance(argument, int | float):
            raise Incomparable(f"{word_for(value)} has no length")
        return compare(len(value), argument)

    return holds


def _in_range(value: Value, argument: Value) -> bool:
    if not isinstance(value, int | float) or not isinstance(argument, list):
        raise Incomparable(f"{word_for(value)} cannot be compared with numbers")
    least, most = argument
    return bool(least <= value <= most)  # type: ignore[operator]  # the argument was checked


def _in_values(value: Value, argument: Value) -> bool:
    return isinstance(argument, list) and any(
        value == item and isinstance(value, bool) == isinstance(item, bool) for item in argument
    )


def _matches(value: Value, argument: Value) -> bool:
    if not isinstance(value, str):
        raise Incomparable(f"{word_for(value)} is no text, so no pattern fits it")
    return regex.compiled(str(argument)).matches(value)


def _is_pair(argument: Value) -> bool:
    return isinstance(argument, list) and len(argument) == 2 and all(map(_is_number, argument))


def _is_list(argument: Value) -> bool:
    return isinstance(argument, list)


def _is_text(argument: Value) -> bool:
    return isinstance(argument, str)


def _is_mapping(argument: Value) -> bool:
    return isinstance(argument, dict)


def _is_pattern(argument: Value) -> bool:
    if not isinstance(argument, str):
        return False
    try:
        regex.compiled(argument)
    except regex.PatternError:
        return False
    return True


@frozen
class Operator:
    """An operator of constraints. ``wants`` describes the form of its argument and ``fits`` checks that form.

    ``holds`` checks a value against the argument; it is None for operators that need the store. ``kinds``: the object
    types to which an operator that needs the store applies.
    """

    wants: str
    fits: Callable[[Value], bool]
    holds: Callable[[Value, Value], bool] | None = None
    kinds: frozenset[str] = frozenset()


OPERATORS: Final[dict[str, Operator]] = {
    "equal": Operator("a number", _is_number, lambda value, argument: value == argument),
    "greater_than": Operator("a number", _is_number, _ordered(lambda value, argument: value > argument)),
    "greater_or_equal": Operator("a number", _is_number, _ordered(lambda value, argument: value >= argument)),
    "less_than": Operator("a number", _is_number, _ordered(lambda value, argument: value < argument)),
    "less_or_equal": Operator("a number", _is_number, _ordered(lambda value, argument: value <= argument)),
    "in_range": Operator("a list of two numbers", _is_pair, _in_range),
    "valid_values": Operator("a list", _is_list, _in_values, _NAMED_IN_DEPLOYMENTS),
    "length": Operator("a number", _is_number, _sized(lambda value, argument: value == argument)),
    "min_length": Operator("a number", _is_number, _sized(lambda value, argument: value >= argument)),
    "max_length": Operator("a number", _is_number, _sized(lambda value, argument: value <= argument)),
    "pattern": Operator("a regular expression", _is_pattern, _matches),
    "filter_id": Operator("text", _is_text, kinds=_IDS),
    "labels": Operator("a list", _is_list, kinds=_IDS),
    "tenants": Operator("a list", _is_list, kinds=_IDS),
    "name_pattern": Operator("a mapping", _is_mapping, kinds=_NAMED_IN_DEPLOYMENTS | _IDS | {"secret_key"}),
    "deployment_id": Operator("text", _is_text, kinds=_NAMED_IN_DEPLOYMENTS),
}


class ConstraintProblem(NamedTuple):
    """An invalid constraint: the wrong key (None: all of it), Cloudify's error number, message and remedy."""

    key: str | None
    number: int
    message: str
    mend: str


def wrong_constraint(written: Mapping[str, Value], *, has_message: bool) -> ConstraintProblem | None:
    """Return what is wrong with a written constraint, or None.

    ``has_message`` is True if the version of the language allows ``error_message``.
    """
    names = [name for name in written if name != MESSAGE]
    if len(names) != 1:
        what = "has no operator" if not names else f"has {len(names)} operators: {quoted_list(names)}"
        return ConstraintProblem(None, 103, f"a constraint {what}", "write one operator in each item of the list")
    name = names[0]
    if MESSAGE in written and not has_message:
        version = "remove it, or write 'tosca_definitions_version: cloudify_dsl_1_5'"
        return ConstraintProblem(MESSAGE, 102, f"'{MESSAGE}' of a constraint was added in cloudify_dsl_1_5", version)
    if MESSAGE in written and not isinstance(written[MESSAGE], str):
        return ConstraintProblem(
            MESSAGE, 1, f"expected text, found {word_for(written[MESSAGE])}", "put the value into quotes"
        )
    operator = OPERATORS.get(name)
    if operator is None:
        mend = suggest(name, OPERATORS, f"operators are {quoted_list(OPERATORS)}")
        return ConstraintProblem(name, 103, f"there is no constraint '{name}'", mend)
    if not is_function(written[name]) and not operator.fits(written[name]):
        message = f"'{name}' cannot have {_shown(written[name])} as its argument"
        return ConstraintProblem(name, 212, message, f"give {operator.wants}")
    return None


def violation(kind: str | None, constraints: Sequence[Mapping[str, Value]], value: Value) -> str | None:
    """Return a sentence that explains why a value breaks one of its constraints, or None if it breaks none.

    Constraints that can be checked only with the store are not checked.
    """
    for written in constraints:
        name, argument = _operator(written)
        holds = OPERATORS[name].holds
        if holds is None or kind in OPERATORS[name].kinds:
            continue
        try:
            if is_function(argument):
                raise Incomparable("its argument is not known yet")
            if holds(value, argument):
                continue
            said = written.get(MESSAGE)
            return f"{_shown(value)}: {said}" if said else f"{_shown(value)} breaks {name}: {_shown(argument)}"
        except Incomparable as why:
            return f"{_shown(value)} cannot be tried with {name}: {why}"
    return None


def choice_violation(
    kind: str | None, constraints: Sequence[Mapping[str, Value]], value: Value, lookup: Lookup
) -> str | None:
    """Return a sentence that explains why a value that names an object in the store is not allowed, or None if it is
    allowed.

    Call this only for a schema for which ``needs_lookup`` is true.
    """
    filters = {name: argument for name, argument in map(_operator, constraints) if _chooses(name, kind)}
    for name in filters:
        if kind not in OPERATORS[name].kinds:
            return f"'{name}' cannot choose among values of type {kind or 'any'}"
    assert kind in OBJECT_TYPES, "needs_lookup is asked before"
    if kind in _NAMED_IN_DEPLOYMENTS and "deployment_id" not in filters and lookup.deployment is None:
        more = "" if kind in _OF_ONE_DEPLOYMENT else "'blueprint_id' or "
        return f"the type {kind} needs the constraint {more}'deployment_id' here"
    if lookup.has(kind, value, filters):
        return None
    return f"there is no {kind.replace('_', ' ')} {_shown(value)}" + (
        f" that fits {quoted_list(filters)}" if filters else ""
    )


def needs_lookup(schema: PropertySchema) -> bool:
    """Return True if values of this schema can be checked only with the store."""
    kinds = {schema.type, schema.item_type}
    return bool(kinds & OBJECT_TYPES) or any(OPERATORS[_operator(item)[0]].holds is None for item in schema.constraints)


def _chooses(name: str, kind: str | None) -> bool:
    return OPERATORS[name].holds is None or kind in OPERATORS[name].kinds


def _operator(written: Mapping[str, Value]) -> tuple[str, Value]:
    return next((name, argument) for name, argument in written.items() if name != MESSAGE)


def _shown(value: Value) -> str:
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return re.sub(r"\s+", " ", text if len(text) <= 80 else f"{text[:77]}…")
