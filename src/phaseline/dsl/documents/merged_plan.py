"""Write a blueprint as the plan that Cloudify's parser returns: one JSON value, fully merged and checked (B50).

Equal blueprints give equal documents, with keys in the order of the files (B51).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from phaseline.dsl.functions.registry import function_name, is_function
from phaseline.dsl.imports.section_merge import MergedSections
from phaseline.dsl.nodes.plugin_placement import CENTRAL, HOST_AGENT, placement_of
from phaseline.dsl.type_system.value_checks import completed
from phaseline.lang.fast_dataclasses import as_dict
from phaseline.model.blueprint.blueprint import (
    SCRIPT_RUNNER,
    Availability,
    Blueprint,
    Node,
    Operation,
    PropertySchema,
    Relationship,
    Value,
)

WORKFLOW_RUNNER = "script_runner.tasks.execute_workflow"
"""Function of Cloudify's script plugin that runs a script as a workflow."""
_SCRIPT_INPUTS = {"script": "script_path", "inline": "script_source"}

Document = dict[str, Any]


def plan_document(blueprint: Blueprint, sections: MergedSections) -> Document:
    """Return the whole merged blueprint as a document.

    ``sections`` are the merged sections of the blueprint's files (see ``reader.read_whole``).
    """
    placement = placement_of(blueprint)
    arriving: dict[str, list[Relationship]] = {}
    for node in blueprint.nodes.values():
        for item in node.relationships:
            arriving.setdefault(item.target, []).append(item)
    plugins = {
        name: {**as_dict(plugin), "properties_description": plugin.properties_description or None}
        for name, plugin in blueprint.plugins.items()
    }
    nodes = [
        _node(
            node,
            blueprint,
            _used(node, arriving.get(node.name, ()), plugins),
            _at(plugins, placement.hosts.get(node.name, ()), HOST_AGENT),
            _at(plugins, placement.central.get(node.name, ()), CENTRAL),
        )
        for node in blueprint.nodes.values()
    ]
    document: Document = {
        "version": {
            "raw": blueprint.version,
            "definitions_name": blueprint.version.rsplit("_", 2)[0],
            "definitions_version": [int(part) for part in blueprint.version.rsplit("_", 2)[1:]],
        },
        "description": blueprint.description or None,
        "metadata": dict(blueprint.metadata),
        "inputs": _completed(blueprint.inputs, blueprint),
        "nodes": nodes,
        "relationships": {name: _relationship_type(name, sections) for name in sections.of("relationships")},
        "workflows": {name: _workflow(blueprint, name) for name in blueprint.workflows},
        "outputs": _outputs(blueprint, "outputs"),
        "capabilities": _outputs(blueprint, "capabilities"),
        **_groups(blueprint),
        "policy_types": dict(blueprint.policy_types),
        "policy_triggers": dict(blueprint.policy_triggers),
        "data_types": {name: _data_type(name, blueprint, sections) for name in blueprint.data_types},
        "labels": {name: {"values": list(values)} for name, values in blueprint.labels.items()},
        "blueprint_labels": {name: {"values": list(values)} for name, values in blueprint.blueprint_labels.items()},
        "resource_tags": dict(blueprint.resource_tags),
        "deployment_settings": dict(blueprint.deployment_settings),
        "imported_blueprints": list(blueprint.uploaded.values()),
        "namespaces_mapping": dict(blueprint.uploaded),
        "deployment_plugins_to_install": _at(plugins, _each(placement.central), CENTRAL),
        "host_agent_plugins_to_install": _at(plugins, _each(placement.hosts), HOST_AGENT),
        "workflow_plugins_to_install": [plugins[name] for name in placement.workflows if name in plugins],
    }
    document["requirements"] = {
        "parent_capabilities": [
            argument if isinstance(argument, list) else [argument]
            for argument in _unique(_arguments(document, "get_environment_capability"))
        ],
        "secrets": _unique(_arguments(document, "get_secret")),
    }
    return document


def _groups(blueprint: Blueprint) -> Document:
    """Return the sections ``groups``, ``scaling_groups`` and ``policies``."""
    return {
        "groups": {
            name: {"members": list(group.members), "policies": _group_policies(group.policies)}
            for name, group in blueprint.groups.items()
        },
        "scaling_groups": {
            name: {"members": list(group.members), "properties": _counts(group)}
            for name, group in blueprint.scaling_groups.items()
        },
        "policies": {
            name: {"type": policy.type, "targets": list(policy.targets), "properties": _counts(policy)}
            for name, policy in blueprint.policies.items()
        },
    }


def _data_type(name: str, blueprint: Blueprint, sections: MergedSections) -> Document:
    kind = blueprint.data_types[name]
    return {
        "properties": _schemas(kind.properties),
        "derived_from": kind.hierarchy[-2] if len(kind.hierarchy) > 1 else None,
        "description": kind.description or None,
        "version": _raw(sections, "data_types", name).get("version"),
    }


def _node(
    node: Node,
    blueprint: Blueprint,
    used: list[Document],
    on_host: list[Document],
    central: list[Document],
) -> Document:
    written: Document = {
        "id": node.name,
        "name": node.name,
        "type": node.type,
        "type_hierarchy": list(node.type_hierarchy),
        "host_id": node.host,
        "properties": dict(node.properties),
        "operations": _operations(node.operations),
        "relationships": [_relationship(item) for item in node.relationships],
        "capabilities": {"scalable": {"properties": _counts(node)}},
        "plugins": used,
        "deployment_plugins_to_install": central,
    }
    if node.is_host:
        written["plugins_to_install"] = on_host
    if node.type in blueprint.open_types:
        written["is_open"] = True
    return written


def _used(node: Node, arriving: Iterable[Relationship], plugins: Mapping[str, Document]) -> list[Document]:
    """Return the plugins of the operations that run at a node, each once for every executor.

    They are the node's own operations, the source operations of its relationships, and the target operations of
    ``arriving``, the relationships that lead to the node.
    """
    tables = [node.operations, *(item.source_operations for item in node.relationships)]
    tables += [item.target_operations for item in arriving]
    pairs = dict.fromkeys(
        (operation.plugin, operation.executor)
        for table in tables
        for operation in table.values()
        if operation.is_implemented and operation.plugin in plugins
    )
    return [{**plugins[name], "executor": executor} for name, executor in pairs]


def _at(plugins: Mapping[str, Document], names: Iterable[str], executor: str) -> list[Document]:
    """Return the declarations of the named plugins, each with this ``executor``."""
    return [{**plugins[name], "executor": executor} for name in names if name in plugins]


def _relationship(item: Relationship) -> Document:
    return {
        "type": item.type,
        "type_hierarchy": list(item.type_hierarchy),
        "target_id": item.target,
        "properties": dict(item.properties),
        "source_operations": _operations(item.source_operations),
        "target_operations": _operations(item.target_operations),
    }


def _operations(operations: Mapping[str, Operation]) -> Document:
    """Return the operations by full name, and also by short name if only one operation has it (B33)."""
    bare: dict[str, int] = {}
    for full in operations:
        name = full.rpartition(".")[2]
        bare[name] = bare.get(name, 0) + 1
    written: Document = {}
    for full, operation in operations.items():
        name = full.rpartition(".")[2]
        written[full] = _operation(operation)
        if bare[name] == 1 and name not in operations:
            written[name] = written[full]
    return written


def _operation(operation: Operation) -> Document:
    inputs = dict(operation.inputs)
    function = operation.implementation
    if operation.form in _SCRIPT_INPUTS:
        inputs[_SCRIPT_INPUTS[operation.form]] = operation.implementation
        function = SCRIPT_RUNNER
    types = {name: value["type"] for name, value in inputs.items() if isinstance(value, dict) and "type" in value}
    return {
        "name": operation.name,
        "plugin": operation.plugin,
        "operation": function,
        "executor": operation.executor,
        "inputs": inputs,
        "has_intrinsic_functions": operation.has_functions,
        "max_retries": operation.max_retries,
        "retry_interval": operation.retry_interval_s,
        "timeout": operation.timeout_s,
        "timeout_recoverable": operation.timeout_recoverable or None,
        "inputs_types": types,
    }


def _counts(of: Any) -> Document:
    """Return the instance counts of a node, a policy or a scaling group."""
    default = of.default_instances
    return {
        "min_instances": of.min_instances,
        "max_instances": of.max_instances,
        "default_instances": default,
        "current_instances": default,
        "planned_instances": default,
    }


def _group_policies(policies: Mapping[str, Any]) -> Document:
    return {
        name: {
            "type": policy.type,
            "properties": dict(policy.properties),
            "triggers": {key: as_dict(trigger) for key, trigger in policy.triggers.items()},
        }
        for name, policy in policies.items()
    }


def _workflow(blueprint: Blueprint, name: str) -> Document:
    workflow = blueprint.workflows[name]
    parameters = _completed(workflow.parameters, blueprint)
    function = workflow.mapping
    if workflow.form in _SCRIPT_INPUTS:
        parameters[_SCRIPT_INPUTS[workflow.form]] = {"default": workflow.mapping}
        function = WORKFLOW_RUNNER
    rules = workflow.availability
    return {
        "plugin": workflow.plugin,
        "operation": function,
        "parameters": parameters,
        "is_cascading": workflow.is_cascading,
        "availability_rules": None
        if rules == Availability()
        else {
            "available": rules.available,
            "node_instances_active": list(rules.node_instances_active),
            "node_types_required": list(rules.node_types_required),
        },
    }


def _schemas(schemas: Mapping[str, PropertySchema]) -> Document:
    return {name: _schema(schema) for name, schema in schemas.items()}


def _completed(schemas: Mapping[str, PropertySchema], blueprint: Blueprint) -> Document:
    """Return the schemas as a document, with defaults completed by the defaults of their data types."""
    written = _schemas(schemas)
    for name, schema in schemas.items():
        default = schema.default
        if schema.type in blueprint.data_types and isinstance(default, dict) and not is_function(default):
            written[name]["default"] = completed(schema.type, default, blueprint.data_types, (), [])
    return written


def _schema(schema: PropertySchema) -> Document:
    """Return the fields of a schema that are given. A default of null counts as given if it is written."""
    written: Document = {"type": schema.type} if schema.type is not None else {}
    if schema.has_default:
        written["default"] = schema.default
    more = {
        "required": False if not schema.required else None,
        "description": schema.description or None,
        "display_label": schema.display_label or None,
        "hidden": True if schema.hidden else None,
        "item_type": schema.item_type,
        "constraints": [dict(item) for item in schema.constraints] or None,
        "display": {"rows": schema.display_rows} if schema.display_rows is not None else None,
    }
    return {**written, **{key: value for key, value in more.items() if value is not None}}


def _outputs(blueprint: Blueprint, section: str) -> Document:
    return {
        name: {"description": output.description, "value": output.value}
        if output.description
        else {"value": output.value}
        for name, output in getattr(blueprint, section).items()
    }


def _relationship_type(name: str, sections: MergedSections) -> Document:
    """Return a relationship type with everything that it inherits."""
    chain: list[str] = []
    current: Value = name
    while isinstance(current, str) and current in sections.of("relationships") and current not in chain:
        chain.append(current)
        current = _raw(sections, "relationships", current).get("derived_from")
    written: Document = {
        "name": name,
        "derived_from": chain[1] if len(chain) > 1 else None,
        "type_hierarchy": chain[::-1],
        "properties": {},
        "source_interfaces": {},
        "target_interfaces": {},
    }
    for link in reversed(chain):
        raw = _raw(sections, "relationships", link)
        written["properties"].update(cast("Document", raw.get("properties") or {}))
        for side in ("source_interfaces", "target_interfaces"):
            for interface, operations in cast("Document", raw.get(side) or {}).items():
                own = {key: _written_operation(raw_operation) for key, raw_operation in (operations or {}).items()}
                written[side][interface] = {**written[side].get(interface, {}), **own}
    return written


def _written_operation(raw: Value) -> Document:
    """Return an operation as its type declares it, with None for every field that is not given."""
    fields = {"implementation": raw} if isinstance(raw, str) else dict(cast("Document", raw or {}))
    names = ("executor", "max_retries", "retry_interval", "timeout", "timeout_recoverable")
    return {
        "implementation": fields.get("implementation") or "",
        "inputs": fields.get("inputs") or {},
        **{name: fields.get(name) for name in names},
    }


def _raw(sections: MergedSections, section: str, name: str) -> Mapping[str, Value]:
    raw = sections.of(section).get(name)
    return raw if isinstance(raw, dict) else {}


def _each(places: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
    """Return the names of all plugins in {place: names of plugins}, each once."""
    return dict.fromkeys(name for names in places.values() for name in names)


def _arguments(value: object, function: str) -> Iterator[Any]:
    """Yield the argument of each occurrence of a function in a value, at any depth."""
    if isinstance(value, dict):
        if function_name(value) == function:
            yield value[function]
        for item in value.values():
            yield from _arguments(item, function)
    elif isinstance(value, list):
        for item in value:
            yield from _arguments(item, function)


def _unique(values: Iterator[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found
