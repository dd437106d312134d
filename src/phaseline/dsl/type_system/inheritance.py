"""Combine a template with its type: the template's properties and operations override the inherited ones (B12, B32)."""

from __future__ import annotations

from collections.abc import Mapping

from phaseline.dsl.functions.static_checks import FunctionCheck, Standing
from phaseline.dsl.text.problem_report import ElementPath
from phaseline.dsl.type_system.operations import Operations, Owner
from phaseline.dsl.type_system.property_schemas import Properties
from phaseline.dsl.type_system.type_hierarchy import ResolvedType, Side
from phaseline.dsl.type_system.value_checks import EXTERNAL
from phaseline.model.blueprint.blueprint import Operation, Value


def complete_and_scan(
    builder: Properties,
    functions: FunctionCheck,
    kind: ResolvedType,
    given: Mapping[str, Value],
    spot: ElementPath,
    owner: tuple[Owner, str],
) -> tuple[dict[str, Value], bool]:
    """Return (properties with the type's defaults, True if any contains a function).

    ``owner`` is (``node`` or ``relationship``, name of the node).
    """
    merged = builder.complete(kind.schemas, given, spot, f"the type '{kind.name}'")
    if EXTERNAL in given:
        builder.check_external(merged, spot)
    has_functions = kind.has_functions
    standing: Standing = "node" if owner[0] == "node" else "relationship"
    if kind.unchecked:
        for name, later in kind.unchecked.items():
            if name not in given:
                functions.use(later)
    for name, value in given.items():
        if (value.__class__ is dict or value.__class__ is list) and functions.scan(
            value, spot.at(name), standing, owner[1]
        ):
            has_functions = True
    return merged, has_functions


def side_operations(
    builder: Operations, side: Side, interfaces: Mapping[str, Value] | None, spot: ElementPath, owner: tuple[Owner, str]
) -> tuple[Mapping[str, Operation], bool]:
    """Merge the operations of a type (``side``) with those that a template writes, and check the inherited ones.

    Return (operations by full name, True if any of them contains functions).
    """
    operations, have_functions = side.plain, side.has_functions
    if interfaces:
        operations, own_have = builder.of_template(interfaces, side.types, side.plain, spot, owner[0], owner[1])
        have_functions = side.has_functions or own_have
    for name, base in side.open.items():
        if operations[name] is base.operation:
            builder.check_inherited(base, spot)
        elif base.fault is not None:
            base.fault.is_replaced = True
    return operations, have_functions
