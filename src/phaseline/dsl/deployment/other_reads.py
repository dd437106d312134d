"""Find the functions of a blueprint that read other deployments, as records of dependencies (DP5)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from phaseline.dsl.functions.registry import ELSEWHERE, function_name
from phaseline.model.blueprint.blueprint import Blueprint, Operation, Value
from phaseline.model.rows.dependencies import Dependency, DependencyKind

KINDS: Mapping[str, DependencyKind] = {
    "get_capability": "capability",
    "get_environment_capability": "environment",
    "get_group_capability": "group",
}
"""{function: kind of its records}; ``get_consumers`` reads no capability of another deployment and makes no record."""


def text_of(written: Mapping[str, Value]) -> str:
    """Return a function as the text by which its record is found: equal functions have equal texts.

    >>> text_of({"get_capability": ["net", "ip"]})
    '{"get_capability":["net","ip"]}'
    """
    return json.dumps(written, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def dependencies_of(blueprint: Blueprint) -> tuple[Dependency, ...]:
    """Return the records of all functions of a blueprint that read other deployments, in the order of the blueprint."""
    return tuple(
        Dependency(KINDS[name], creator, text_of(written), literal_provider(name, written[name]))
        for creator, name, written in functions_elsewhere(blueprint)
        if name in KINDS
    )


def literal_provider(name: str, argument: Value) -> str:
    """Return the name of the deployment that a function reads if the blueprint has it as text, else "".

    >>> literal_provider("get_capability", ["net", "ip"]), literal_provider("get_group_capability", ["all", "ip"])
    ('net', '')
    """
    first = argument[0] if name == "get_capability" and isinstance(argument, list) and argument else None
    return first if isinstance(first, str) else ""


def has_functions_elsewhere(blueprint: Blueprint) -> bool:
    """Return True if a function of the blueprint reads other deployments."""
    return any(True for _ in functions_elsewhere(blueprint))


def functions_elsewhere(blueprint: Blueprint) -> Iterator[tuple[str, str, dict[str, Value]]]:
    """Yield (dotted path of the value that has it, name, function as written) of all functions that read others."""
    for node in blueprint.nodes.values():
        if not node.has_functions:
            continue
        own = f"nodes.{node.name}"
        yield from _in_values(f"{own}.properties", node.properties)
        yield from _in_operations(f"{own}.operations", node.operations.values())
        for item in node.relationships:
            towards = f"{own}.relationships.{item.target}"
            yield from _in_values(f"{towards}.properties", item.properties)
            yield from _in_operations(f"{towards}.source_operations", item.source_operations.values())
            yield from _in_operations(f"{towards}.target_operations", item.target_operations.values())
    for workflow in blueprint.workflows.values():
        defaults = {name: schema.default for name, schema in workflow.parameters.items()}
        yield from _in_values(f"workflows.{workflow.name}.parameters", defaults)
    for section, outputs in (("outputs", blueprint.outputs), ("capabilities", blueprint.capabilities)):
        yield from _in_values(section, {name: output.value for name, output in outputs.items()})
    yield from _in_values("labels", {key: list(values) for key, values in blueprint.labels.items()})
    yield from _in_values("resource_tags", blueprint.resource_tags)


def _in_operations(path: str, operations: Iterable[Operation]) -> Iterator[tuple[str, str, dict[str, Value]]]:
    for operation in operations:
        if operation.has_functions:
            yield from _in_values(f"{path}.{operation.name}.inputs", operation.inputs)


def _in_values(path: str, values: Mapping[str, Value]) -> Iterator[tuple[str, str, dict[str, Value]]]:
    for key, value in values.items():
        for name, written in _in_value(value):
            yield f"{path}.{key}", name, written


def _in_value(value: Value) -> Iterator[tuple[str, dict[str, Value]]]:
    if value.__class__ is dict:
        name = function_name(value)
        if name in ELSEWHERE:
            yield str(name), value
        for item in value.values():
            yield from _in_value(item)
    elif value.__class__ is list:
        for item in value:
            yield from _in_value(item)
