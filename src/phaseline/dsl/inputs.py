"""The inputs of a deployment: what was given, completed by defaults and checked (B13)."""

from __future__ import annotations

from collections.abc import Mapping

from phaseline.dsl.functions.table import is_function
from phaseline.dsl.primitives import CHECKS, EXAMPLES
from phaseline.dsl.suggestions import listing, suggest
from phaseline.model.blueprint import Blueprint, PropertySchema, Value
from phaseline.model.problem import Place, Problem, ProblemsError


def complete_inputs(
    blueprint: Blueprint, given: Mapping[str, Value], *, auto_correct: bool = False
) -> dict[str, Value]:
    """{input: value} for every declared input, in the order of the declarations.

    A default of null counts as none; an input that is not required and not given is null.
    ``auto_correct``: texts become integers, floats or booleans where the type asks for one.

    Raises: ``ProblemsError`` with all of PL-B080 (missing), PL-B081 (unknown), PL-B082 (wrong type).
    """
    problems: list[Problem] = []
    values: dict[str, Value] = {}
    missing: list[str] = []
    for name, schema in blueprint.inputs.items():
        if name in given:
            value = corrected(schema, given[name]) if auto_correct else given[name]
            problem = _mismatch(name, schema, value)
            if problem is not None:
                problems.append(problem)
            values[name] = value
        elif schema.default is not None:
            values[name] = schema.default
        elif schema.required:
            missing.append(name)
        else:
            values[name] = None
    problems.extend(_unknown(name, blueprint.inputs) for name in given if name not in blueprint.inputs)
    if missing:
        problems.insert(0, _missing(missing))
    if problems:
        raise ProblemsError(problems)
    return values


def _missing(names: list[str]) -> Problem:
    word = "input is" if len(names) == 1 else "inputs are"
    return Problem(
        "PL-B080",
        f"Required {word} missing: {', '.join(names)}",
        f"Give {'it' if len(names) == 1 else 'them'} with {' '.join(f'-i {name}=…' for name in names[:4])}{' …' if len(names) > 4 else ''}, or in a file with --inputs FILE.",
        Place(subject="inputs"),
        cloudify_class="MissingRequiredInputError",
    )


def _unknown(name: str, declared: Mapping[str, PropertySchema]) -> Problem:
    otherwise = f"The blueprint declares {listing(declared)}." if declared else "The blueprint declares no inputs."
    return Problem(
        "PL-B081",
        f"The blueprint has no input '{name}'",
        suggest(name, declared, otherwise),
        Place(subject=f"inputs.{name}"),
        cloudify_class="UnknownInputError",
    )


def _mismatch(name: str, schema: PropertySchema, value: Value) -> Problem | None:
    kind = schema.type
    if kind not in CHECKS or is_function(value) or CHECKS[kind](value):
        return None
    if value is None and not schema.required:
        return None
    return Problem(
        "PL-B082",
        f"The input '{name}' is {value!r}, which is not of type {kind}",
        f"Give {EXAMPLES[kind]}.",
        Place(subject=f"inputs.{name}"),
        cloudify_class="DSLParsingException",
    )


def corrected(schema: PropertySchema, value: Value) -> Value:
    """A text as the number or truth its type asks for, where it is one."""
    if not isinstance(value, str):
        return value
    try:
        if schema.type == "integer":
            return int(value)
        if schema.type == "float":
            return float(value)
    except ValueError:
        return value
    if schema.type == "boolean":
        return {"true": True, "false": False}.get(value.lower(), value)
    return value
