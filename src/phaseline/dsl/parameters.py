"""The parameters of an execution: what was given, completed by the defaults of the workflow and checked (B23)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from phaseline.dsl.functions.table import is_function
from phaseline.dsl.inputs import corrected
from phaseline.dsl.primitives import CHECKS, EXAMPLES
from phaseline.dsl.suggestions import listing, suggest
from phaseline.model.blueprint import PropertySchema, Value, WorkflowMapping
from phaseline.model.problem import Place, Problem, ProblemsError


def merge_parameters(
    workflow: WorkflowMapping,
    given: Mapping[str, Value],
    *,
    more: Collection[str] = (),
    allow_custom: bool = False,
) -> dict[str, Value]:
    """{parameter: value}: what was given, else the default; then given ones that are not declared.

    Texts become integers, floats or booleans where the type asks for one. ``more``: names that are known although
    the workflow does not declare them; ``allow_custom``: any name is. A parameter without default and value is
    left out if it is not required.

    Raises: ``ProblemsError`` with all of PL-P008 (missing) and PL-P004 (wrong type, unknown name).
    """
    values: dict[str, Value] = {}
    problems: list[Problem] = []
    for name, schema in workflow.parameters.items():
        if name in given:
            values[name] = corrected(schema, given[name])
            if not _fits(schema, values[name]):
                problems.append(_mismatch(workflow, name, schema, values[name]))
        elif schema.has_default:
            values[name] = schema.default
        elif schema.required:
            problems.append(_missing(workflow, name, schema))
    for name, value in given.items():
        if name not in workflow.parameters:
            values[name] = value
            if name not in more and not allow_custom:
                problems.append(_unknown(workflow, name, [*workflow.parameters, *more]))
    if problems:
        raise ProblemsError(problems)
    return values


def _fits(schema: PropertySchema, value: Value) -> bool:
    """Whether a value is of its type; null is where it is the default, or nothing need be given."""
    if value is None and (not schema.required or (schema.has_default and schema.default is None)):
        return True
    return schema.type not in CHECKS or is_function(value) or CHECKS[schema.type](value)


def _mismatch(workflow: WorkflowMapping, name: str, schema: PropertySchema, value: Value) -> Problem:
    message = f"the parameter '{name}' of '{workflow.name}' is {value!r}, which is not of type {schema.type}"
    return Problem("PL-P004", message, f"Give {EXAMPLES[schema.type or '']}.", Place(subject=f"parameters.{name}"))


def _missing(workflow: WorkflowMapping, name: str, schema: PropertySchema) -> Problem:
    what = f" ({schema.description.rstrip('.')})" if schema.description else ""
    message = f"the parameter '{name}' of '{workflow.name}' is missing{what}"
    return Problem("PL-P008", message, f"Give it: -p {name}=…", Place(subject=f"parameters.{name}"))


def _unknown(workflow: WorkflowMapping, name: str, known: Collection[str]) -> Problem:
    otherwise = f"It has {listing(known)}." if known else "It has no parameters."
    mend = f"{suggest(name, known, otherwise)} To hand it on all the same: --allow-custom-parameters"
    return Problem("PL-P004", f"'{workflow.name}' has no parameter '{name}'", mend, Place(subject=f"parameters.{name}"))
