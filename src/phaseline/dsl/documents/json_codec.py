"""Convert blueprints to JSON values and back, for the store. Operations that nodes share are written once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from phaseline.dsl.documents.group_codec import groups_from_json, groups_to_json
from phaseline.dsl.functions.third_party import ANNOUNCED
from phaseline.lang.fast_dataclasses import as_dict, field_defaults
from phaseline.model.blueprint.blueprint import (
    Availability,
    Blueprint,
    DataType,
    Node,
    OnPath,
    Operation,
    Output,
    Plugin,
    PropertySchema,
    Relationship,
    Value,
    WorkflowMapping,
)
from phaseline.model.problems.problem import Place

if TYPE_CHECKING:
    from phaseline.model.blueprint.state_paths import StatePath

FORMAT = 1
"""Version of the format that this module writes; a reader refuses a higher version."""


class _Writer:
    """Writes each shared object once, in a list, and refers to it by its number in that list.

    Equal objects are recognised by ``id()``, which is unique because the blueprint exists throughout.
    """

    def __init__(self) -> None:
        self.operations: list[tuple[Any, ...]] = []
        self.tables: list[list[int]] = []
        self.hierarchies: list[list[str]] = []
        self.relationships: list[list[Any]] = []
        self._numbers: dict[int, int] = {}

    def operation(self, operation: Operation) -> int:
        """Return the number of an operation; write it if it is new."""
        number = self._numbers.get(id(operation))
        if number is None:
            number = self._numbers[id(operation)] = len(self.operations)
            row = _operation_row(operation)
            self.operations.append(row if row[_SAID:] != _UNSAID else row[:_SAID])
        return number

    def table(self, operations: Mapping[str, Operation]) -> int:
        """Return the number of a mapping of operations; write it if it is new."""
        number = self._numbers.get(id(operations))
        if number is None:
            number = self._numbers[id(operations)] = len(self.tables)
            known, add = self._numbers.get, self.operation
            self.tables.append([known(id(item)) or add(item) for item in operations.values()])
        return number

    def hierarchy(self, hierarchy: tuple[str, ...]) -> int:
        """Return the number of a type hierarchy; write it if it is new."""
        number = self._numbers.get(id(hierarchy))
        if number is None:
            number = self._numbers[id(hierarchy)] = len(self.hierarchies)
            self.hierarchies.append(list(hierarchy))
        return number

    def relationship(self, item: Relationship) -> int:
        """Return the number of a relationship; write it if it is new."""
        number = self._numbers.get(id(item))
        if number is None:
            number = self._numbers[id(item)] = len(self.relationships)
            self.relationships.append(
                [
                    self.hierarchy(item.type_hierarchy),
                    item.target,
                    _plain(item.properties),
                    self.table(item.source_operations),
                    self.table(item.target_operations),
                    item.connection_type,
                    item.has_functions,
                ]
            )
        return number

    def node(self, node: Node) -> list[Any]:
        """Return one node as a row of JSON values."""
        return [
            node.name,
            self.hierarchy(node.type_hierarchy),
            _plain(node.properties),
            self.table(node.operations),
            [self.relationship(item) for item in node.relationships],
            node.host,
            node.default_instances,
            node.min_instances,
            node.max_instances,
            node.has_functions,
            node.place.file,
            node.place.line,
            node.place.column,
            *([list(node.restricted_actions)] if node.restricted_actions else ()),
        ]


_operation_row = attrgetter(*field_defaults(Operation))
_SAID = 6
_UNSAID = tuple(field_defaults(Operation).values())[_SAID:]
"""Default values of the last fields of an operation. They are not written if all of them have their defaults."""


def _plain(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values as a ``dict``, which the JSON writer requires."""
    return values if isinstance(values, dict) else dict(values)


def blueprint_to_json(blueprint: Blueprint) -> dict[str, Any]:
    """Return the blueprint, except its warnings, as JSON values."""
    writer = _Writer()
    nodes = [writer.node(node) for node in blueprint.nodes.values()]
    return {
        "format": FORMAT,
        "version": blueprint.version,
        "file": blueprint.file,
        "folder": blueprint.folder,
        "description": blueprint.description,
        "metadata": dict(blueprint.metadata),
        "inputs": _schemas(blueprint.inputs),
        "outputs": {name: [output.value, output.description] for name, output in blueprint.outputs.items()},
        "capabilities": {name: [output.value, output.description] for name, output in blueprint.capabilities.items()},
        "plugins": [_short(plugin) for plugin in blueprint.plugins.values()],
        "workflows": [
            {
                **_short(workflow),
                "parameters": _schemas(workflow.parameters),
                "availability": as_dict(workflow.availability),
            }
            for workflow in blueprint.workflows.values()
        ],
        "data_types": [
            [kind.name, _schemas(kind.properties), list(kind.hierarchy), kind.description]
            for kind in blueprint.data_types.values()
        ],
        "uploaded": dict(blueprint.uploaded),
        "operations": writer.operations,
        "operation_tables": writer.tables,
        "hierarchies": writer.hierarchies,
        "relationships": writer.relationships,
        "nodes": nodes,
        "on_path": {name: [list(one.line), one.target, as_dict(one.place)] for name, one in blueprint.on_path.items()},
        "state_paths": [
            [path.resource_type, path.target, list(path.states), as_dict(path.where)] for path in blueprint.state_paths
        ],
        "announced": list(blueprint.announced),
        "id": blueprint.id,
        **groups_to_json(blueprint),
    }


def _short(one: object) -> dict[str, Any]:
    """Return {field: value} for the fields whose values differ from their defaults."""
    defaults = _DEFAULTS[type(one)]
    return {name: value for name, value in as_dict(one).items() if value != defaults[name]}


_DEFAULTS: dict[type, dict[str, Any]] = {
    kind: field_defaults(kind) for kind in (PropertySchema, Plugin, WorkflowMapping)
}


def _schemas(schemas: Mapping[str, PropertySchema]) -> dict[str, dict[str, Any]]:
    return {name: _short(schema) for name, schema in schemas.items()}


def _read_schemas(written: Mapping[str, Mapping[str, Any]]) -> dict[str, PropertySchema]:
    return {
        name: PropertySchema(**{**fields, "constraints": tuple(fields.get("constraints", ()))})
        for name, fields in written.items()
    }


def blueprint_from_json(written: Mapping[str, Any]) -> Blueprint:
    """Return the blueprint from the JSON values that ``blueprint_to_json`` wrote; it has no warnings."""
    ANNOUNCED.expect(written.get("announced", ()))  # not written by the first version
    operations = [Operation(*row) for row in written["operations"]]
    tables = [{operations[number].name: operations[number] for number in row} for row in written["operation_tables"]]
    hierarchies = [tuple(row) for row in written["hierarchies"]]
    relationships = [
        Relationship(
            hierarchies[row[0]][-1], hierarchies[row[0]], row[1], row[2], tables[row[3]], tables[row[4]], row[5], row[6]
        )
        for row in written["relationships"]
    ]
    nodes = {
        row[0]: Node(
            row[0],
            hierarchies[row[1]][-1],
            hierarchies[row[1]],
            row[2],
            tables[row[3]],
            tuple([relationships[number] for number in row[4]]),
            row[5],
            row[6],
            row[7],
            row[8],
            row[9],
            Place(row[10], row[11], row[12], f"node_templates.{row[0]}"),
            tuple(row[13]) if len(row) > 13 else (),  # written where there are any
        )
        for row in written["nodes"]
    }
    return Blueprint(
        version=written["version"],
        file=written["file"],
        folder=written["folder"],
        nodes=nodes,
        inputs=_read_schemas(written["inputs"]),
        outputs={name: Output(*row) for name, row in written["outputs"].items()},
        capabilities={name: Output(*row) for name, row in written["capabilities"].items()},
        plugins={plugin["name"]: Plugin(**plugin) for plugin in written["plugins"]},
        workflows={workflow["name"]: _workflow(workflow) for workflow in written["workflows"]},
        description=written["description"],
        metadata=cast("dict[str, Value]", written["metadata"]),
        data_types={
            row[0]: DataType(row[0], _read_schemas(row[1]), tuple(row[2]), row[3])
            for row in written.get("data_types", ())
        },
        uploaded=written.get("uploaded", {}),
        on_path={  # not written by the first version, as the next one
            name: OnPath(tuple(line), target, Place(**place))
            for name, (line, target, place) in written.get("on_path", {}).items()
        },
        state_paths=_state_paths(written["state_paths"]) if written.get("state_paths") else (),
        announced=tuple(written.get("announced", ())),
        id=written.get("id", ""),
        **groups_from_json(written),
    )


def _state_paths(written: Iterable[Any]) -> tuple[StatePath, ...]:
    from phaseline.model.blueprint.state_paths import StatePath  # few blueprints have any

    return tuple(
        StatePath(kind, target, tuple(states), where=Place(**place)) for kind, target, states, place in written
    )


def _workflow(written: Mapping[str, Any]) -> WorkflowMapping:
    parameters = _read_schemas(written["parameters"])
    rules: dict[str, Any] = {
        name: tuple(rule) if isinstance(rule, list) else rule for name, rule in written.get("availability", {}).items()
    }
    return WorkflowMapping(
        written["name"],
        written["mapping"],
        written.get("plugin", ""),
        parameters,
        written.get("form", "function"),  # not written by the first version, as the next two
        written.get("is_cascading", False),
        Availability(**rules),
    )
