"""Complete the given values of inputs and parameters with defaults of data types, and check them (B12-B14)."""

from __future__ import annotations

from collections.abc import Mapping

from phaseline.dsl.functions.registry import contains_functions, is_function
from phaseline.dsl.text.primitive_types import CHECKS, EXAMPLES
from phaseline.dsl.text.value_words import quoted_list, suggest
from phaseline.dsl.type_system.constraints import Lookup, choice_violation, needs_lookup, violation
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.blueprint.blueprint import DataType, PropertySchema, Value

EXTERNAL = "use_external_resource"
"""Name of the property that, if true, allows required properties to be missing."""


class ValueProblem(NamedTuple):
    """What is wrong with a value, or with the part at ``path`` in it.

    ``kind`` is ``type``, ``constraint`` or ``function``: the aspect that is wrong.
    """

    path: tuple[str | int, ...]
    kind: str
    message: str
    mend: str


def checked_value(
    schema: PropertySchema, value: Value, types: Mapping[str, DataType], lookup: Lookup | None = None
) -> tuple[Value, list[ValueProblem]]:
    """Return (the completed value, its problems). Without ``lookup``, values of object types are not checked."""
    complaints: list[ValueProblem] = []
    whole = completed(schema.type, value, types, (), complaints)
    if complaints:
        return whole, complaints
    if schema.constraints and contains_functions(whole):
        message = "is given a function, and its constraints could not be checked"
        return whole, [ValueProblem((), "function", message, "give a plain value")]
    if is_function(whole):
        return whole, complaints
    kind = schema.type
    items: list[tuple[tuple[str | int, ...], Value]] = [((), whole)]
    if schema.item_type is not None and isinstance(whole, list):
        kind, items = schema.item_type, [((number,), item) for number, item in enumerate(whole)]
    for path, item in items:
        if path:
            completed(kind, item, types, path, complaints)
        said = violation(kind, schema.constraints, item) if not complaints else None
        if said is None and lookup is not None and not complaints and needs_lookup(schema):
            said = choice_violation(kind, schema.constraints, item, lookup)
        if said is not None:
            complaints.append(ValueProblem(path, "constraint", said, "give a value that keeps the constraints"))
    return whole, complaints


def completed(
    kind: str | None,
    value: Value,
    types: Mapping[str, DataType],
    path: tuple[str | int, ...],
    complaints: list[ValueProblem],
    under: Value = None,
) -> Value:
    """Return ``value`` merged over ``under`` and the defaults of its data type; add problems to ``complaints``."""
    if kind is None or is_function(value):
        return value
    data = types.get(kind)
    if data is None:
        if kind in CHECKS and not CHECKS[kind](value):
            complaints.append(
                ValueProblem(path, "type", f"is {value!r}, which is not of type {kind}", f"give {EXAMPLES[kind]}")
            )
        return value
    if not isinstance(value, dict):
        mend = f"give a mapping with the keys of {kind}"
        complaints.append(ValueProblem(path, "type", f"is {value!r}, which is not of type {kind}", mend))
        return value
    for name in value:
        if name not in data.properties:
            mend = suggest(name, data.properties, f"it has {quoted_list(data.properties)}")
            complaints.append(ValueProblem((*path, name), "type", f"is not a property of the data type {kind}", mend))
    beneath = {name: schema.default for name, schema in data.properties.items() if schema.has_default}
    beneath.update(under if isinstance(under, dict) else {})
    merged = {**beneath, **value}
    is_external = merged.get(EXTERNAL) is True
    for name, schema in data.properties.items():
        if name in merged:
            merged[name] = completed(schema.type, merged[name], types, (*path, name), complaints, beneath.get(name))
        elif schema.required and not is_external:
            mend = f"give '{name}' a value"
            complaints.append(
                ValueProblem((*path, name), "type", f"is missing: the data type {kind} requires it", mend)
            )
    return merged
