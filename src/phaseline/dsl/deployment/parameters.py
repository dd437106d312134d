"""Complete the given parameters of an execution with the defaults of its workflow, and check them (B23)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from phaseline.dsl.deployment.inputs import corrected
from phaseline.dsl.text.positions import dotted
from phaseline.dsl.text.value_words import quoted_list, suggest
from phaseline.dsl.type_system.constraints import Lookup
from phaseline.dsl.type_system.value_checks import ValueProblem, checked_value, completed
from phaseline.model.blueprint.blueprint import DataType, PropertySchema, Value, WorkflowMapping
from phaseline.model.problems.problem import Place, Problem, ProblemsError


def merge_parameters(
    workflow: WorkflowMapping,
    given: Mapping[str, Value],
    *,
    more: Collection[str] = (),
    allow_custom: bool = False,
    types: Mapping[str, DataType] | None = None,
    lookup: Lookup | None = None,
) -> dict[str, Value]:
    """Return {parameter: its given value or its default}, followed by given parameters that are not declared.

    A text becomes an integer, float or boolean if its type requires one. ``more`` are names that may be given although
    the workflow does not declare them; with ``allow_custom`` any name may. A parameter that has neither value nor
    default is omitted if it is not required. ``types`` are the data types of the blueprint. ``lookup`` finds what is
    in the store, to check types such as ``deployment_id``.

    Raises: ``ProblemsError`` with all of PL-P008 (missing) and PL-P004 (wrong type, unknown name).
    """
    values: dict[str, Value] = {}
    problems: list[Problem] = []
    for name, schema in workflow.parameters.items():
        if name in given:
            values[name], complaints = _checked(schema, corrected(schema, given[name]), types or {}, lookup)
            problems += [_wrong(workflow, name, complaint) for complaint in complaints]
        elif schema.has_default:
            values[name] = completed(schema.type, schema.default, types or {}, (), []) if types else schema.default
        elif schema.required:
            problems.append(_missing(workflow, name, schema))
    for name, value in given.items():
        if name not in workflow.parameters:
            values[name] = value
            if name not in more and not allow_custom:
                problems.append(_unknown(workflow, name, list(dict.fromkeys([*workflow.parameters, *more]))))
    if problems:
        raise ProblemsError(problems)
    return values


def _checked(
    schema: PropertySchema, value: Value, types: Mapping[str, DataType], lookup: Lookup | None
) -> tuple[Value, list[ValueProblem]]:
    """Check a value with ``checked_value``.

    Accept null, too, if null is the default or the parameter is not required.
    """
    if value is None and (not schema.required or (schema.has_default and schema.default is None)):
        return None, []
    return checked_value(schema, value, types, lookup)


def _wrong(workflow: WorkflowMapping, name: str, complaint: ValueProblem) -> Problem:
    shown = dotted((name, *complaint.path))
    message = f"the parameter '{shown}' of '{workflow.name}' {complaint.message}"
    if complaint.kind == "constraint":
        message = f"the value of the parameter '{shown}' of '{workflow.name}' cannot be taken: {complaint.message}"
    return Problem("PL-P004", message, complaint.mend, Place(subject=f"parameters.{shown}"))


def _missing(workflow: WorkflowMapping, name: str, schema: PropertySchema) -> Problem:
    what = f" ({schema.description.rstrip('.')})" if schema.description else ""
    message = f"the parameter '{name}' of '{workflow.name}' is missing{what}"
    return Problem("PL-P008", message, f"give it: -p {name}=…", Place(subject=f"parameters.{name}"))


def _unknown(workflow: WorkflowMapping, name: str, known: Collection[str]) -> Problem:
    otherwise = f"it has {quoted_list(known)};" if known else "it has no parameters;"
    mend = f"{suggest(name, known, otherwise)} to hand it on all the same: --allow-custom-parameters"
    return Problem("PL-P004", f"'{workflow.name}' has no parameter '{name}'", mend, Place(subject=f"parameters.{name}"))
