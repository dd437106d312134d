"""Reads the definitions of functions decorated with ``@phase(…)`` from the text of their module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from phaseline.catalog.code.declarations import NO_LITERAL, dotted_name, literal
from phaseline.catalog.phases.call_policy import KNOBS, expression_names
from phaseline.catalog.phases.definitions import HANDLES, OF_PHASE, WrittenDefinition, define
from phaseline.lang.did_you_mean import closest
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.phases.decorator import SPELLINGS, attribute_name
from phaseline.model.problems.problem import NOWHERE, Place, Problem, ProblemsError
from phaseline.records.conversions import AttributeTypeError, AttributeValueError
from phaseline.records.formats.json_codec import from_json
from phaseline.records.record import Record

if TYPE_CHECKING:
    from phaseline.catalog.phases.module_source import FunctionText, ModuleSource
    from phaseline.model.phases.definitions import PhasePlugin

NAMES = frozenset({"phaseline.phase", "phaseline.model.phase_mark.phase", "phaseline.model.phases.decorator.phase"})
EXPRESSIONS = frozenset({"ResourceConstraint", *(f"Phase.{name}" for name in expression_names())})
"""Attributes whose text is read as an expression: Python has no ``:=`` that marks expressions, as
``.cfg`` files have.
"""
OWN = "attributes"
ARGUMENTS = (*SPELLINGS, OWN, *(re.sub("(?<!^)(?=[A-Z])", "_", name).lower() for name in KNOBS))
"""All arguments of ``@phase`` that have a meaning to Phaseline."""
OF_A_PHASE = frozenset(name.lower() for name in OF_PHASE)
LIKELY = 0.8
"""Similarity (0 to 1) to a known argument from which an unknown argument counts as a misspelling."""


def decorated(source: ModuleSource, module: WrittenDefinition) -> Iterator[WrittenDefinition]:
    """Yield a definition for each decorated function of a module.

    ``module`` is the template of these definitions, with the module's name and path.
    """
    for function in (source.functions or {}).values():
        for decorator in function.decorators:
            call = decorator if isinstance(decorator, ast.Call) else None
            if dotted_name(call.func if call is not None else decorator, source.origins or {}) in NAMES:
                yield _written(call, source.place(decorator.lineno, decorator.col_offset + 1), function, source, module)


def marked(given: Mapping[str, Any], plugin: str) -> PhasePlugin:
    """Return the plugin of a decorated function whose source text is not available, from the arguments of its
    decorator.
    """
    record = Record()
    problems: list[Problem] = []
    for argument, value in given.items():
        problem = _unknown(argument, NOWHERE)
        if problem is not None:
            problems.append(problem)
            continue
        for name, one in _attributes(argument, value):
            problems += _put(record, name, one, NOWHERE)
    return define(WrittenDefinition(plugin, record, NOWHERE, {}, problems=tuple(problems)))


def _written(
    call: ast.Call | None, where: Place, function: FunctionText, source: ModuleSource, module: WrittenDefinition
) -> WrittenDefinition:
    places: dict[str, Place] = {}
    problems: list[Problem] = []
    record = Record()
    keywords = [] if call is None else call.keywords
    if call is None or call.args or any(keyword.arg is None for keyword in keywords):
        mend = "write @phase(name=…, states=…, resource_type=…) with each argument by its name"
        problems.append(Problem("PL-D006", "the arguments of @phase cannot be read", mend, where))
    given = {keyword.arg: keyword.value for keyword in keywords if keyword.arg is not None}
    for argument, expression in given.items():
        place = source.place(expression.lineno, expression.col_offset + 1)
        problem = _unknown(argument, place)
        if problem is not None:
            problems.append(problem)
            continue
        value = literal(expression, source.constants or {})
        if value is NO_LITERAL:
            message = f"the value of '{argument}' cannot be known without running the code"
            mend = "write a literal, or the name of a constant of this module"
            problems.append(Problem("PL-D006", message, mend, place))
            continue
        for name, one in _attributes(argument, value):
            places[name.lower()] = place
            problems += _put(record, name, one, place)
    if call is not None and "states" not in given:
        problems.append(Problem("PL-D006", "@phase has no argument 'states'", "add states=… to it", where))
    return altered(
        module,
        name=module.name if function.name in HANDLES else f"{module.name}.{function.name}",
        record=record,
        where=where,
        places=places,
        function=function.name,
        source=altered(source, problems=()),
        problems=tuple(problems),
    )


def _unknown(argument: str, place: Place) -> Problem | None:
    """Return problem PL-D006 for an argument that looks like a misspelled one, else None.

    Any other unknown argument is an attribute that the plugin defines for itself, and no problem.
    """
    if argument in ARGUMENTS or not argument[:1].islower():
        return None
    attribute = attribute_name(argument).removeprefix("Phase.").lower()
    if attribute in OF_A_PHASE:
        return None
    means = {known.lower(): name for name, known in SPELLINGS.items()} | {"forprovider": "provider"}
    meant = means.get(attribute) or closest(argument, ARGUMENTS, near=LIKELY)
    if not meant:
        return None
    mend = f"did you mean {meant}=…? an attribute of your own with this name is {attribute_name(argument)[6:]}=…"
    return Problem("PL-D006", f"@phase has no argument '{argument}'", mend, place)


def _attributes(argument: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (attribute, value) for one argument of ``@phase``; empty values are left out because
    they have no effect.
    """
    if argument == OWN:
        yield from ((str(name), one) for name, one in value.items()) if isinstance(value, Mapping) else [(OWN, value)]
    elif value not in ("", (), [], None):
        yield attribute_name(argument), value


def _put(record: Record, name: str, value: Any, place: Place) -> list[Problem]:
    """Set an attribute of the record, and return the problems of its value."""
    try:
        content = {"$expr": value} if name in EXPRESSIONS and isinstance(value, str) else _as_json(value)
        kept = from_json({"value": content}).stored("value")
        if name.startswith("Phase."):
            if "Phase" not in record:
                record.put("Phase", Record())
            nested = record.get_as_record("Phase")
            assert nested is not None
            nested.put(name.removeprefix("Phase."), kept)
        else:
            record.put(name, kept)
    except ProblemsError as error:
        return [altered(problem, place=place) for problem in error.problems]
    except (AttributeTypeError, AttributeValueError) as error:
        return [Problem("PL-D012", f"{name}: {error}", "give it a value that can be kept", place)]
    return []


def _as_json(value: Any) -> Any:
    """Return a value with all its tuples, at every level, replaced by lists."""
    if isinstance(value, tuple | list):
        return [_as_json(item) for item in value]
    return {key: _as_json(item) for key, item in value.items()} if isinstance(value, Mapping) else value
