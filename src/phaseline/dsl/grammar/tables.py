"""The language as tables: the keys of each element, the shape of their values, and their version (B4, B5, B10-B31).

A new element of the language is a new row. In ``TableKey(shape, since)``, ``since`` is the minor version of
``cloudify_dsl_1_…`` that introduced the key. ``shape_check`` checks whether a value has a shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

from phaseline.dsl.text.dsl_versions import PHASELINE
from phaseline.lang.fast_dataclasses import frozen


@frozen
class Leaf:
    """A plain value of one of ``types``. ``word`` names it in messages; ``minimum`` is the smallest number allowed."""

    word: str
    types: frozenset[type] | None = None
    minimum: float | None = None


@frozen
class Each:
    """A mapping whose keys are freely chosen names, and whose values all have one shape."""

    of: Shape


@frozen
class TableRows:
    """A list whose items all have one shape."""

    of: Shape


@frozen
class TableKey:
    """A key of a table: the shape of its value, the minor version that introduced it, and how far it is supported.

    ``support`` "no effect" means that the key is accepted with a warning. ``refers`` is the section whose elements the
    value (a text or a list of texts) names, or ``implementation`` if the value is the implementation of an operation.
    """

    shape: Shape
    since: int = 0
    is_required: bool = False
    support: Literal["now", "no effect"] = "now"
    note: str = ""
    refers: str = ""


class Table:
    """A mapping with fixed keys. A user may also write a text in its place, which then is the value of the key
    ``short``.

    If a user writes any other plain value in its place, a message proposes to make it the value of the key ``likely``.

    A mapping that has only the key ``fragment`` adds to an element of another file, so it needs no other key (B7).
    """

    __slots__ = ("fragment", "keys", "likely", "required", "short", "title")

    def __init__(
        self,
        title: str,
        keys: Mapping[str, TableKey],
        *,
        short: str = "",
        fragment: str | None = None,
        likely: str = "",
    ) -> None:
        """Store the fields and collect ``required``, the keys that must be present."""
        self.title = title
        self.keys = keys
        self.short = short
        self.fragment = fragment
        self.likely = likely
        self.required = tuple(name for name, key in keys.items() if key.is_required)


class Sifted(list[object]):
    """A list without its faulty items. ``places`` are the remaining items' original indexes, for later messages."""

    def __init__(self, items: list[object], places: list[int]) -> None:
        """Store the remaining items and their original indexes."""
        super().__init__(items)
        self.places = places


def numbered(rows: list[Any]) -> Iterator[tuple[int, Any]]:
    """Return (index in the text, item) for each item of a checked list."""
    return zip(rows.places, rows, strict=True) if isinstance(rows, Sifted) else enumerate(rows)


Shape: TypeAlias = Leaf | Each | TableRows | Table

ANYTHING: Final = Leaf("anything")
TEXT: Final = Leaf("text", frozenset({str}))
TRUTH: Final = Leaf("true or false", frozenset({bool}))
WHOLE: Final = Leaf("a whole number", frozenset({int}))
MAPPING: Final = Leaf("a mapping", frozenset({dict}))
LIST: Final = Leaf("a list", frozenset({list}))

RETRIES = Leaf("a whole number from -1 on", frozenset({int}), minimum=-1)
SECONDS = Leaf("a number of seconds from 0 on", frozenset({int, float}), minimum=0)

PROPERTY = Table(
    "a property",
    {
        "type": TableKey(TEXT, refers="data_types"),
        "default": TableKey(ANYTHING),
        "description": TableKey(TEXT),
        "required": TableKey(TRUTH, since=2),
        "display_label": TableKey(TEXT, since=3),
        "hidden": TableKey(TRUTH, since=3),
    },
    likely="default",
)
CONSTRAINTS = TableRows(MAPPING)
PARAMETER = Table(
    "a parameter",
    {**PROPERTY.keys, "item_type": TableKey(TEXT, since=4), "constraints": TableKey(CONSTRAINTS)},
    likely="default",
)
INPUT = Table(
    "an input", {**PARAMETER.keys, "display": TableKey(Table("display", {"rows": TableKey(WHOLE)}))}, likely="default"
)
OPERATION_INPUT = Table("an input of an operation", PROPERTY.keys, likely="default")

_OPERATION = {
    "implementation": TableKey(TEXT, refers="implementation"),
    "executor": TableKey(TEXT),
    "max_retries": TableKey(RETRIES, since=1),
    "retry_interval": TableKey(SECONDS, since=1),
    "timeout": TableKey(SECONDS),
    "timeout_recoverable": TableKey(TRUTH),
}
TYPE_OPERATION = Table(
    "an operation", {**_OPERATION, "inputs": TableKey(Each(OPERATION_INPUT))}, short="implementation"
)
TEMPLATE_OPERATION = Table("an operation", {**_OPERATION, "inputs": TableKey(MAPPING)}, short="implementation")
TYPE_INTERFACES = Each(Each(TYPE_OPERATION))
TEMPLATE_INTERFACES = Each(Each(TEMPLATE_OPERATION))

NODE_TYPE = Table(
    "a node type",
    {
        "derived_from": TableKey(TEXT, refers="node_types"),
        "properties": TableKey(Each(PROPERTY)),
        "interfaces": TableKey(TYPE_INTERFACES),
        "runtime_properties": TableKey(ANYTHING),
        "resource_type": TableKey(TEXT, since=PHASELINE),
        "target_state": TableKey(TEXT, since=PHASELINE),
    },
)
RELATIONSHIP_TYPE = Table(
    "a relationship type",
    {
        "derived_from": TableKey(TEXT, refers="relationships"),
        "properties": TableKey(Each(PROPERTY)),
        "source_interfaces": TableKey(TYPE_INTERFACES),
        "target_interfaces": TableKey(TYPE_INTERFACES),
    },
)
DATA_TYPE = Table(
    "a data type",
    {
        "derived_from": TableKey(TEXT, refers="data_types"),
        "properties": TableKey(Each(PROPERTY)),
        "description": TableKey(TEXT),
        "version": TableKey(ANYTHING),
    },
)
SCALABLE = Table("scalable", {"properties": TableKey(MAPPING)})
NODE_TEMPLATE = Table(
    "a node template",
    {
        "type": TableKey(TEXT, is_required=True, refers="node_types"),
        "properties": TableKey(MAPPING),
        "interfaces": TableKey(TEMPLATE_INTERFACES),
        "relationships": TableKey(
            TableRows(
                Table(
                    "a relationship",
                    {
                        "type": TableKey(TEXT, is_required=True, refers="relationships"),
                        "target": TableKey(TEXT, is_required=True, refers="node_templates"),
                        "properties": TableKey(MAPPING),
                        "source_interfaces": TableKey(TEMPLATE_INTERFACES),
                        "target_interfaces": TableKey(TEMPLATE_INTERFACES),
                    },
                )
            )
        ),
        "instances": TableKey(Table("instances", {"deploy": TableKey(ANYTHING, is_required=True)}, likely="deploy")),
        "capabilities": TableKey(Table("capabilities of a node template", {"scalable": TableKey(SCALABLE)}), since=3),
        "restricted_actions": TableKey(TableRows(TEXT), since=PHASELINE),
    },
    fragment="relationships",
)
PLUGIN_PROPERTY = Table(
    "a property of a plugin",
    {
        "description": TableKey(TEXT),
        "type": TableKey(TEXT),
        "display_label": TableKey(TEXT),
        "value": TableKey(
            Leaf("text, a number, true or false, a list or a mapping", frozenset({str, int, float, bool, list, dict}))
        ),
    },
)
PLUGIN = Table(
    "a plugin",
    {
        "executor": TableKey(TEXT, is_required=True),
        "source": TableKey(TEXT),
        "install": TableKey(TRUTH),
        "install_arguments": TableKey(TEXT, since=1),
        "package_name": TableKey(TEXT, since=2),
        "package_version": TableKey(TEXT, since=2),
        "supported_platform": TableKey(ANYTHING, since=2),
        "distribution": TableKey(TEXT, since=2),
        "distribution_version": TableKey(TEXT, since=2),
        "distribution_release": TableKey(TEXT, since=2),
        "properties": TableKey(Each(PLUGIN_PROPERTY), since=5),
        "properties_description": TableKey(TEXT, since=5),
    },
)
WORKFLOW = Table(
    "a workflow",
    {
        "mapping": TableKey(TEXT, is_required=True, refers="implementation"),
        "parameters": TableKey(Each(PARAMETER)),
        "is_cascading": TableKey(TRUTH),
        "availability_rules": TableKey(
            Table(
                "availability rules",
                {
                    "available": TableKey(TRUTH),
                    "node_instances_active": TableKey(TableRows(TEXT)),
                    "node_types_required": TableKey(TableRows(TEXT), refers="node_types"),
                },
            ),
            since=4,
        ),
    },
    short="mapping",
)
OUTPUT = Table(
    "an output", {"description": TableKey(TEXT), "value": TableKey(ANYTHING, is_required=True)}, likely="value"
)
CAPABILITY = Table("a capability", OUTPUT.keys, likely="value")
LABEL = Table("a label", {"values": TableKey(LIST, is_required=True)}, likely="values")
POLICY_TYPE = Table(
    "a policy type", {"source": TableKey(TEXT, is_required=True), "properties": TableKey(Each(PROPERTY))}
)
POLICY_TRIGGER = Table(
    "a policy trigger", {"source": TableKey(TEXT, is_required=True), "parameters": TableKey(Each(PARAMETER))}
)
_TRIGGER = Table(
    "a trigger", {"type": TableKey(TEXT, is_required=True, refers="policy_triggers"), "parameters": TableKey(MAPPING)}
)
_GROUP_POLICY = Table(
    "a policy of a group",
    {
        "type": TableKey(TEXT, is_required=True, refers="policy_types"),
        "properties": TableKey(MAPPING),
        "triggers": TableKey(Each(_TRIGGER)),
    },
)
GROUP = Table(
    "a group",
    {
        "members": TableKey(TableRows(TEXT), is_required=True, refers="node_templates"),
        "policies": TableKey(Each(_GROUP_POLICY)),
    },
)
POLICY = Table(
    "a policy",
    {
        "type": TableKey(TEXT, is_required=True, refers="policy_types"),
        "targets": TableKey(TableRows(TEXT), is_required=True, refers="groups"),
        "properties": TableKey(MAPPING),
    },
)
SCHEDULE = Table(
    "a schedule",
    {
        "workflow": TableKey(TEXT, is_required=True),
        "since": TableKey(TEXT, is_required=True),
        "until": TableKey(TEXT),
        "recurrence": TableKey(TEXT),
        "timezone": TableKey(TEXT),
        "weekdays": TableKey(TableRows(TEXT)),
        "count": TableKey(WHOLE),
        "rrule": TableKey(TEXT, since=PHASELINE),
        "cron": TableKey(TEXT, since=PHASELINE),
        "default_enabled": TableKey(TRUTH),
        "stop_after_fail": TableKey(TRUTH),
        "slip": TableKey(WHOLE),
        "execution_arguments": TableKey(
            Table(
                "execution_arguments",
                {
                    "force": TableKey(TRUTH),
                    "is_dry_run": TableKey(TRUTH),
                    "wait_after_fail": TableKey(WHOLE),
                    "allow_custom_parameters": TableKey(TRUTH),
                },
            )
        ),
        "workflow_parameters": TableKey(MAPPING),
    },
)
DEPLOYMENT_SETTINGS = Table(
    "deployment settings",
    {
        "default_schedules": TableKey(Each(SCHEDULE)),
        "default_groups": TableKey(
            LIST, support="no effect", note="add the deployment to its groups: phaseline groups extend"
        ),
        "id_template": TableKey(
            TEXT,
            support="no effect",
            note="it names new members of deployment groups only; give the name of any other deployment with -d",
        ),
        "display_name": TableKey(ANYTHING),
    },
)
UPLOAD_RESOURCES = Table(
    "upload_resources",
    {
        "plugin_resources": TableKey(TableRows(TEXT)),
        "dsl_resources": TableKey(
            TableRows(
                Table(
                    "a resource",
                    {
                        "source_path": TableKey(TEXT, is_required=True),
                        "destination_path": TableKey(TEXT, is_required=True),
                    },
                )
            )
        ),
        "parameters": TableKey(Table("parameters of upload_resources", {"fetch_timeout": TableKey(WHOLE)})),
    },
)

BLUEPRINT = Table(
    "a blueprint",
    {
        "tosca_definitions_version": TableKey(ANYTHING),
        "description": TableKey(TEXT, since=2),
        "imports": TableKey(LIST),
        "dsl_definitions": TableKey(ANYTHING, since=2),
        "metadata": TableKey(MAPPING),
        "inputs": TableKey(Each(INPUT)),
        "plugins": TableKey(Each(PLUGIN)),
        "node_types": TableKey(Each(NODE_TYPE)),
        "relationships": TableKey(Each(RELATIONSHIP_TYPE)),
        "node_templates": TableKey(Each(NODE_TEMPLATE)),
        "data_types": TableKey(Each(DATA_TYPE), since=2),
        "workflows": TableKey(Each(WORKFLOW)),
        "outputs": TableKey(Each(OUTPUT)),
        "capabilities": TableKey(Each(CAPABILITY)),
        "groups": TableKey(Each(GROUP)),
        "policies": TableKey(Each(POLICY), since=3),
        "policy_types": TableKey(Each(POLICY_TYPE)),
        "policy_triggers": TableKey(Each(POLICY_TRIGGER)),
        "labels": TableKey(Each(LABEL)),
        "blueprint_labels": TableKey(Each(LABEL)),
        "deployment_settings": TableKey(DEPLOYMENT_SETTINGS),
        "resource_tags": TableKey(Each(ANYTHING), since=3),
        "state_paths": TableKey(Each(Each(TableRows(TEXT))), since=PHASELINE),
        "upload_resources": TableKey(
            UPLOAD_RESOURCES, support="no effect", note="it has a server fetch resources; Phaseline has no server"
        ),
    },
)
"""The shape of a whole blueprint file (B10)."""

MERGED = frozenset(
    ["node_types", "plugins", "workflows", "relationships", "policy_types", "groups", "policy_triggers", "data_types"]
) | {"state_paths"}
"""Sections that may occur in several files in every version of the language (B7)."""
MERGED_SINCE_3 = frozenset(
    ["inputs", "outputs", "node_templates", "capabilities", "labels", "blueprint_labels", "resource_tags"]
)
"""Sections that may occur in several files from version 1_3 on."""
FIRST_WINS = frozenset({"labels", "blueprint_labels", "resource_tags"})
"""Sections whose keys may occur in several files: the value in the first file is used, without a message."""
OWN = frozenset({"tosca_definitions_version", "imports", "dsl_definitions"})
"""Sections that apply only to the file in which they are written, and that are not merged."""
FROM_MAIN = frozenset({"description", "metadata", "upload_resources"})
"""Sections that are taken from the first file that has them."""
NAMED = frozenset(
    [
        "inputs",
        "plugins",
        "node_types",
        "relationships",
        "node_templates",
        "data_types",
        "workflows",
        "outputs",
        "capabilities",
        "groups",
        "policies",
        "policy_types",
        "policy_triggers",
    ]
)
"""Sections whose keys are names of elements, which get the namespace of an import as prefix (B8)."""
