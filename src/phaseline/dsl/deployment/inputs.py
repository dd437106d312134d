"""Complete the given inputs of a deployment with defaults, and check them (B13)."""

from __future__ import annotations

from collections.abc import Mapping

from phaseline.dsl.functions.evaluation import evaluate
from phaseline.dsl.functions.plan_and_runtime_scopes import StaticScope
from phaseline.dsl.functions.registry import contains_functions
from phaseline.dsl.text.cloudify_errors import ANCESTOR
from phaseline.dsl.text.positions import dotted
from phaseline.dsl.text.value_words import quoted_list, suggest
from phaseline.dsl.type_system.constraints import Lookup
from phaseline.dsl.type_system.value_checks import ValueProblem, checked_value, completed
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Blueprint, PropertySchema, Value
from phaseline.model.problems.problem import Place, Problem, ProblemsError

_CODES = {"type": "PL-B082", "constraint": "PL-B088", "function": "PL-B093"}


def complete_inputs(
    blueprint: Blueprint, given: Mapping[str, Value], *, auto_correct: bool = False, lookup: Lookup | None = None
) -> dict[str, Value]:
    """Return {input: value} for every declared input, in the order of the declarations.

    A default of null counts as no default. An input that is neither given nor required is null. An input of a data
    type is completed with the defaults of that type. With ``auto_correct``, a text becomes an integer, float or
    boolean if its type requires one. ``lookup`` finds what is in the store, to check types such as ``deployment_id``;
    without ``lookup`` such inputs are not checked.

    Raises: ``ProblemsError`` with all of PL-B080 (missing), PL-B081 (unknown), PL-B082 (wrong type), PL-B088
    (constraint not met) and PL-B093 (a function as the value of an input with constraints).
    """
    values: dict[str, Value] = {}
    missing: list[str] = []
    for name, schema in blueprint.inputs.items():
        if name in given:
            values[name] = corrected(schema, given[name]) if auto_correct else given[name]
        elif schema.default is not None:
            values[name] = schema.default
        else:
            complaints: list[ValueProblem] = []
            own = completed(schema.type, {}, blueprint.data_types, (), complaints)
            if schema.type in blueprint.data_types and not complaints:
                values[name] = own
            elif schema.required:
                missing.append(name)
            else:
                values[name] = None
    problems = [_missing(missing)] if missing else []
    scope = StaticScope(values, {})
    for name, schema in blueprint.inputs.items():
        if values.get(name) is not None or (name in given and schema.required):
            known = _with_known_arguments(schema, scope, problems)
            values[name], complaints = checked_value(known, values[name], blueprint.data_types, lookup)
            problems += [_problem(name, complaint) for complaint in complaints]
    problems += [_unknown(name, blueprint.inputs) for name in given if name not in blueprint.inputs]
    if problems:
        raise ProblemsError(problems)
    return values


def _with_known_arguments(schema: PropertySchema, scope: StaticScope, problems: list[Problem]) -> PropertySchema:
    """Return the schema with the functions in its constraints evaluated; add errors to ``problems``."""
    if not any(contains_functions(dict(item)) for item in schema.constraints):
        return schema
    try:
        known = [{key: evaluate(argument, scope) for key, argument in item.items()} for item in schema.constraints]
    except ProblemsError as error:
        problems += error.problems
        known = []
    return altered(schema, constraints=tuple(known))


def _problem(name: str, complaint: ValueProblem) -> Problem:
    code = _CODES[complaint.kind]
    number, kind = ANCESTOR[code]
    subject = dotted(("inputs", name, *complaint.path))
    message = f"the input '{dotted((name, *complaint.path))}' {complaint.message}"
    if complaint.kind == "constraint":
        message = f"the value of the input '{dotted((name, *complaint.path))}' cannot be taken: {complaint.message}"
    return Problem(code, message, complaint.mend, Place(subject=subject), cloudify_code=number, cloudify_class=kind)


def _missing(names: list[str]) -> Problem:
    word = "input is" if len(names) == 1 else "inputs are"
    return Problem(
        "PL-B080",
        f"required {word} missing: {', '.join(names)}",
        f"give {'it' if len(names) == 1 else 'them'} with {' '.join(f'-i {name}=…' for name in names[:4])}{' …' if len(names) > 4 else ''}, or in a file with --inputs FILE",
        Place(subject="inputs"),
        cloudify_class="MissingRequiredInputError",
    )


def _unknown(name: str, declared: Mapping[str, PropertySchema]) -> Problem:
    otherwise = f"the blueprint declares {quoted_list(declared)}" if declared else "the blueprint declares no inputs"
    return Problem(
        "PL-B081",
        f"the blueprint has no input '{name}'",
        suggest(name, declared, otherwise),
        Place(subject=f"inputs.{name}"),
        cloudify_class="UnknownInputError",
    )


def corrected(schema: PropertySchema, value: Value) -> Value:
    """Convert a text to the number or truth value that its type requires, if possible; else return it unchanged."""
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
