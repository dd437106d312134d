"""Find the names of secrets in a blueprint: the arguments of all ``get_secret`` functions (B41)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from phaseline.dsl.functions.registry import function_name
from phaseline.model.blueprint.blueprint import Blueprint, Operation, Value

GET_SECRET = "get_secret"  # noqa: S105 - the name of a function


def secret_names(blueprint: Blueprint) -> tuple[str, ...]:
    """Return the literal names of secrets, each once, in order. Names that functions compute are not included."""
    return tuple(dict.fromkeys(_names(blueprint)))


def _names(blueprint: Blueprint) -> Iterator[str]:
    for node in blueprint.nodes.values():
        if not node.has_functions:
            continue
        yield from _in_value(dict(node.properties))
        yield from _in_operations(node.operations.values())
        for relationship in node.relationships:
            yield from _in_value(dict(relationship.properties))
            yield from _in_operations(relationship.source_operations.values())
            yield from _in_operations(relationship.target_operations.values())
    for schema in blueprint.inputs.values():
        yield from _in_value(schema.default)
    for workflow in blueprint.workflows.values():
        for parameter in workflow.parameters.values():
            yield from _in_value(parameter.default)
    for output in (*blueprint.outputs.values(), *blueprint.capabilities.values()):
        yield from _in_value(output.value)
    for values in (
        *blueprint.labels.values(),
        blueprint.deployment_settings.values(),
        blueprint.resource_tags.values(),
    ):
        yield from _in_value(list(values))


def _in_operations(operations: Iterable[Operation]) -> Iterator[str]:
    for operation in operations:
        if operation.has_functions:
            yield from _in_value(dict(operation.inputs))


def _in_value(value: Value) -> Iterator[str]:
    if isinstance(value, dict):
        if function_name(value) == GET_SECRET:
            argument = value[GET_SECRET]
            name = argument[0] if isinstance(argument, list) and argument else argument
            if isinstance(name, str):
                yield name
        for item in value.values():
            yield from _in_value(item)
    elif isinstance(value, list):
        for item in value:
            yield from _in_value(item)
