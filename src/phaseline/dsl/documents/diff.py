"""Compare two merged and checked blueprints by their elements, not by lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import is_

from phaseline.dsl.functions.registry import is_function
from phaseline.dsl.imports.section_merge import MergedSections
from phaseline.dsl.text.positions import dotted
from phaseline.model.blueprint.blueprint import Blueprint, Node, Operation, PropertySchema, Relationship, Value
from phaseline.model.blueprint.diff import BlueprintChange, Differences, Path, Rename, ValueComparison

DECLARED = (
    "outputs",
    "capabilities",
    "workflows",
    "plugins",
    "groups",
    "policies",
    "labels",
    "blueprint_labels",
    "deployment_settings",
    "resource_tags",
    "node_types",
    "relationships",
    "data_types",
)
"""Sections whose elements are compared as they are written in the blueprint's own files, even if no node uses them."""
NOUNS = {
    "inputs": "input",
    "nodes": "node",
    "outputs": "output",
    "capabilities": "capability",
    "workflows": "workflow",
    "plugins": "plugin",
    "groups": "group",
    "policies": "policy",
    "labels": "label",
    "blueprint_labels": "blueprint label",
    "resource_tags": "resource tag",
    "node_types": "node type",
    "relationships": "relationship type",
    "data_types": "data type",
}
PARTS = {"properties": "property", "operations": "operation", "relationships": "relationship"}
"""{part of a node: the noun that a difference shows for it}."""
ALIKE = 0.6
"""Smallest share of equal values at which a removed and a new node are reported as one renamed node."""

Document = Mapping[str, Value]


def compare(old: tuple[Blueprint, MergedSections], new: tuple[Blueprint, MergedSections]) -> Differences:
    """Return the differences that lead from the old blueprint to the new one."""
    before, after = comparable_values(*old), comparable_values(*new)
    changes: list[BlueprintChange] = []
    renames: list[Rename] = []
    for section in before:
        changes += _COMPARISON.changes((section,), before[section], after[section])
        if section in NOUNS:
            renames += _renames(section, _elements(before[section]), _elements(after[section]))
    return Differences(tuple(changes), tuple(renames))


# -- contents of a blueprint ------------------------------------------------------------------------------------------


def comparable_values(blueprint: Blueprint, sections: MergedSections) -> dict[str, Value]:
    """Return the parts of a blueprint that are compared, as plain values: nodes with all they inherit, and declarations."""
    found: dict[str, Value] = {
        "version": blueprint.version,
        "description": blueprint.description,
        "metadata": dict(blueprint.metadata),
        "inputs": {name: _schema(schema) for name, schema in blueprint.inputs.items()},
        "nodes": {name: _node(node) for name, node in blueprint.nodes.items()},
    }
    return {**found, **{section: _declared(sections, section) for section in DECLARED}}


def _declared(sections: MergedSections, section: str) -> dict[str, Value]:
    """Return the elements of a section that the blueprint's own files declare, without those of built-in types."""
    return {
        name: value
        for name, value in sections.of(section).items()
        if not sections.spot(section, name).document.is_bundled
    }


def _node(node: Node) -> dict[str, Value]:
    relationships: dict[str, Value] = {}
    for item in node.relationships:
        key = f"{item.type} -> {item.target}"
        while key in relationships:
            key += " (again)"
        relationships[key] = _relationship(item)
    return {
        "type": node.type,
        "type_hierarchy": list(node.type_hierarchy),
        "instances": {"default": node.default_instances, "min": node.min_instances, "max": node.max_instances},
        "restricted_actions": list(node.restricted_actions),
        "properties": dict(node.properties),
        "operations": _operations(node.operations),
        "relationships": relationships,
    }


def _relationship(item: Relationship) -> dict[str, Value]:
    return {
        "properties": dict(item.properties),
        "source_operations": _operations(item.source_operations),
        "target_operations": _operations(item.target_operations),
    }


def _operations(operations: Mapping[str, Operation]) -> dict[str, Value]:
    return {name: _operation(each) for name, each in operations.items() if each.is_implemented}


def _operation(operation: Operation) -> dict[str, Value]:
    plugin = f"{operation.plugin}." if operation.form == "function" else ""
    fields: dict[str, Value] = {
        "implementation": plugin + operation.implementation,
        "inputs": dict(operation.inputs),
        "executor": operation.executor,
        "max_retries": operation.max_retries,
        "retry_interval": operation.retry_interval_s,
        "timeout": operation.timeout_s,
        "timeout_recoverable": operation.timeout_recoverable or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _schema(schema: PropertySchema) -> dict[str, Value]:
    fields: dict[str, Value] = {"type": schema.type, "required": schema.required, "description": schema.description}
    if schema.has_default:
        fields["default"] = schema.default
    return fields


# -- how two differ -------------------------------------------------------------------------------------------------


def _noun(path: Path) -> str:
    """Return the noun for the value at a path: 'property' or the like inside a node, else the noun of its section."""
    section = str(path[0])
    if section == "nodes" and len(path) > 3:
        return PARTS.get(str(path[2]), "node")
    return NOUNS.get(section, section.replace("_", " "))


_COMPARISON = ValueComparison(_noun, dotted, is_function, is_)


def _elements(value: Value) -> Document:
    return value if isinstance(value, dict) else {}


def _renames(section: str, old: Document, new: Document) -> Iterator[Rename]:
    """Pair removed elements with similar new ones of the section, the most similar pairs first."""
    gone = [name for name in old if name not in new]
    come = [name for name in new if name not in old]
    pairs = sorted(
        ((_likeness(old[one], new[other]), one, other) for one in gone for other in come), key=lambda pair: -pair[0]
    )
    taken: set[tuple[str, str]] = set()
    for likeness, one, other in pairs:
        if likeness >= ALIKE and ("old", one) not in taken and ("new", other) not in taken:
            taken |= {("old", one), ("new", other)}
            yield Rename(NOUNS[section], one, other, round(likeness, 2))


def _likeness(old: Value, new: Value) -> float:
    """Return the share of equal leaf values from 0 to 1; 0 for an element without leaf values or of another type."""
    before, after = dict(_leaves((), old)), dict(_leaves((), new))
    if not before or not after or before.get(("type",)) != after.get(("type",)):
        return 0.0
    equal = sum(after.get(path) == leaf for path, leaf in before.items())
    return equal / max(len(before), len(after))


def _leaves(path: Path, value: Value) -> Iterator[tuple[Path, str]]:
    if isinstance(value, dict) and value and not is_function(value):
        for name, item in value.items():
            yield from _leaves((*path, name), item)
    elif value not in ({}, [], None, ""):
        yield path, repr(value)
