"""The language as tables: which keys each element has, of what shape, since which version (B4, B5, B10-B31).

A new element is a new row. ``Key(shape, since)``: ``since`` is the minor version of ``cloudify_dsl_1_…``. Shapes are
values; ``shape_check`` looks whether something has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

from phaseline.dsl.text.dsl_versions import PHASELINE
from phaseline.lang.fast_dataclasses import frozen


@frozen
class Leaf:
    """A value of one of some types. ``minimum`` for numbers; ``choices`` for texts."""

    word: str
    types: frozenset[type] | None = None
    minimum: float | None = None


@frozen
class Each:
    """A mapping from free names to values of one shape."""

    of: Shape


@frozen
class Rows:
    """A list of values of one shape."""

    of: Shape


@frozen
class Key:
    """A key of a table: its shape, the minor version that brought it, and how far it is supported.

    ``no effect``: accepted with a warning. ``refers``: the section whose element the text (or each text of a list)
    names, ``implementation`` for what an operation is mapped to.
    """

    shape: Shape
    since: int = 0
    is_required: bool = False
    support: Literal["now", "no effect"] = "now"
    note: str = ""
    refers: str = ""


class Table:
    """A mapping with fixed keys. ``short``: the key that a text in place of the mapping stands for.

    ``likely``: the key that a plain value in its place was probably meant for.

    ``fragment``: with just this key it adds to another file's element, so nothing else is required (B7).
    """

    __slots__ = ("fragment", "keys", "likely", "required", "short", "title")

    def __init__(
        self,
        title: str,
        keys: Mapping[str, Key],
        *,
        short: str = "",
        fragment: str | None = None,
        likely: str = "",
    ) -> None:
        """``required``: the keys that it cannot be without."""
        self.title = title
        self.keys = keys
        self.short = short
        self.fragment = fragment
        self.likely = likely
        self.required = tuple(name for name, key in keys.items() if key.is_required)


class Sifted(list[object]):
    """A list without what was wrong in it. ``places``: where the rest stood, so that what is said of it points there."""

    def __init__(self, items: list[object], places: list[int]) -> None:
        """``items`` as they remain."""
        super().__init__(items)
        self.places = places


def numbered(rows: list[Any]) -> Iterator[tuple[int, Any]]:
    """(place in the text, item) of a list that was checked."""
    return zip(rows.places, rows, strict=True) if isinstance(rows, Sifted) else enumerate(rows)


Shape: TypeAlias = Leaf | Each | Rows | Table

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
        "type": Key(TEXT, refers="data_types"),
        "default": Key(ANYTHING),
        "description": Key(TEXT),
        "required": Key(TRUTH, since=2),
        "display_label": Key(TEXT, since=3),
        "hidden": Key(TRUTH, since=3),
    },
    likely="default",
)
CONSTRAINTS = Rows(MAPPING)
PARAMETER = Table(
    "a parameter",
    {**PROPERTY.keys, "item_type": Key(TEXT, since=4), "constraints": Key(CONSTRAINTS)},
    likely="default",
)
INPUT = Table("an input", {**PARAMETER.keys, "display": Key(Table("display", {"rows": Key(WHOLE)}))}, likely="default")
OPERATION_INPUT = Table("an input of an operation", PROPERTY.keys, likely="default")

_OPERATION = {
    "implementation": Key(TEXT, refers="implementation"),
    "executor": Key(TEXT),
    "max_retries": Key(RETRIES, since=1),
    "retry_interval": Key(SECONDS, since=1),
    "timeout": Key(SECONDS),
    "timeout_recoverable": Key(TRUTH),
}
TYPE_OPERATION = Table("an operation", {**_OPERATION, "inputs": Key(Each(OPERATION_INPUT))}, short="implementation")
TEMPLATE_OPERATION = Table("an operation", {**_OPERATION, "inputs": Key(MAPPING)}, short="implementation")
TYPE_INTERFACES = Each(Each(TYPE_OPERATION))
TEMPLATE_INTERFACES = Each(Each(TEMPLATE_OPERATION))

NODE_TYPE = Table(
    "a node type",
    {
        "derived_from": Key(TEXT, refers="node_types"),
        "properties": Key(Each(PROPERTY)),
        "interfaces": Key(TYPE_INTERFACES),
        "runtime_properties": Key(ANYTHING),
        "resource_type": Key(TEXT, since=PHASELINE),
        "target_state": Key(TEXT, since=PHASELINE),
    },
)
RELATIONSHIP_TYPE = Table(
    "a relationship type",
    {
        "derived_from": Key(TEXT, refers="relationships"),
        "properties": Key(Each(PROPERTY)),
        "source_interfaces": Key(TYPE_INTERFACES),
        "target_interfaces": Key(TYPE_INTERFACES),
    },
)
DATA_TYPE = Table(
    "a data type",
    {
        "derived_from": Key(TEXT, refers="data_types"),
        "properties": Key(Each(PROPERTY)),
        "description": Key(TEXT),
        "version": Key(ANYTHING),
    },
)
SCALABLE = Table("scalable", {"properties": Key(MAPPING)})
NODE_TEMPLATE = Table(
    "a node template",
    {
        "type": Key(TEXT, is_required=True, refers="node_types"),
        "properties": Key(MAPPING),
        "interfaces": Key(TEMPLATE_INTERFACES),
        "relationships": Key(
            Rows(
                Table(
                    "a relationship",
                    {
                        "type": Key(TEXT, is_required=True, refers="relationships"),
                        "target": Key(TEXT, is_required=True, refers="node_templates"),
                        "properties": Key(MAPPING),
                        "source_interfaces": Key(TEMPLATE_INTERFACES),
                        "target_interfaces": Key(TEMPLATE_INTERFACES),
                    },
                )
            )
        ),
        "instances": Key(Table("instances", {"deploy": Key(ANYTHING, is_required=True)}, likely="deploy")),
        "capabilities": Key(Table("capabilities of a node template", {"scalable": Key(SCALABLE)}), since=3),
        "restricted_actions": Key(Rows(TEXT), since=PHASELINE),
    },
    fragment="relationships",
)
PLUGIN_PROPERTY = Table(
    "a property of a plugin",
    {
        "description": Key(TEXT),
        "type": Key(TEXT),
        "display_label": Key(TEXT),
        "value": Key(
            Leaf("text, a number, true or false, a list or a mapping", frozenset({str, int, float, bool, list, dict}))
        ),
    },
)
PLUGIN = Table(
    "a plugin",
    {
        "executor": Key(TEXT, is_required=True),
        "source": Key(TEXT),
        "install": Key(TRUTH),
        "install_arguments": Key(TEXT, since=1),
        "package_name": Key(TEXT, since=2),
        "package_version": Key(TEXT, since=2),
        "supported_platform": Key(ANYTHING, since=2),
        "distribution": Key(TEXT, since=2),
        "distribution_version": Key(TEXT, since=2),
        "distribution_release": Key(TEXT, since=2),
        "properties": Key(Each(PLUGIN_PROPERTY), since=5),
        "properties_description": Key(TEXT, since=5),
    },
)
WORKFLOW = Table(
    "a workflow",
    {
        "mapping": Key(TEXT, is_required=True, refers="implementation"),
        "parameters": Key(Each(PARAMETER)),
        "is_cascading": Key(TRUTH),
        "availability_rules": Key(
            Table(
                "availability rules",
                {
                    "available": Key(TRUTH),
                    "node_instances_active": Key(Rows(TEXT)),
                    "node_types_required": Key(Rows(TEXT), refers="node_types"),
                },
            ),
            since=4,
        ),
    },
    short="mapping",
)
OUTPUT = Table("an output", {"description": Key(TEXT), "value": Key(ANYTHING, is_required=True)}, likely="value")
CAPABILITY = Table("a capability", OUTPUT.keys, likely="value")
LABEL = Table("a label", {"values": Key(LIST, is_required=True)}, likely="values")
POLICY_TYPE = Table("a policy type", {"source": Key(TEXT, is_required=True), "properties": Key(Each(PROPERTY))})
POLICY_TRIGGER = Table("a policy trigger", {"source": Key(TEXT, is_required=True), "parameters": Key(Each(PARAMETER))})
_TRIGGER = Table(
    "a trigger", {"type": Key(TEXT, is_required=True, refers="policy_triggers"), "parameters": Key(MAPPING)}
)
_GROUP_POLICY = Table(
    "a policy of a group",
    {
        "type": Key(TEXT, is_required=True, refers="policy_types"),
        "properties": Key(MAPPING),
        "triggers": Key(Each(_TRIGGER)),
    },
)
GROUP = Table(
    "a group",
    {"members": Key(Rows(TEXT), is_required=True, refers="node_templates"), "policies": Key(Each(_GROUP_POLICY))},
)
POLICY = Table(
    "a policy",
    {
        "type": Key(TEXT, is_required=True, refers="policy_types"),
        "targets": Key(Rows(TEXT), is_required=True, refers="groups"),
        "properties": Key(MAPPING),
    },
)
SCHEDULE = Table(
    "a schedule",
    {
        "workflow": Key(TEXT, is_required=True),
        "since": Key(TEXT, is_required=True),
        "until": Key(TEXT),
        "recurrence": Key(TEXT),
        "timezone": Key(TEXT),
        "weekdays": Key(Rows(TEXT)),
        "count": Key(WHOLE),
        "default_enabled": Key(TRUTH),
        "stop_after_fail": Key(TRUTH),
        "slip": Key(WHOLE),
        "execution_arguments": Key(
            Table(
                "execution_arguments",
                {
                    "force": Key(TRUTH),
                    "is_dry_run": Key(TRUTH),
                    "wait_after_fail": Key(WHOLE),
                    "allow_custom_parameters": Key(TRUTH),
                },
            )
        ),
        "workflow_parameters": Key(MAPPING),
    },
)
NO_SCHEDULES = "Start the workflow yourself, or by the timer of your system; Phaseline has no clock of its own yet."
DEPLOYMENT_SETTINGS = Table(
    "deployment settings",
    {
        "default_schedules": Key(Each(SCHEDULE), support="no effect", note=NO_SCHEDULES),
        "default_groups": Key(LIST, support="no effect", note="There are no groups of deployments yet."),
        "id_template": Key(TEXT, support="no effect", note="Give the deployment's name with -d."),
        "display_name": Key(ANYTHING),
    },
)
UPLOAD_RESOURCES = Table(
    "upload_resources",
    {
        "plugin_resources": Key(Rows(TEXT)),
        "dsl_resources": Key(
            Rows(
                Table(
                    "a resource",
                    {"source_path": Key(TEXT, is_required=True), "destination_path": Key(TEXT, is_required=True)},
                )
            )
        ),
        "parameters": Key(Table("parameters of upload_resources", {"fetch_timeout": Key(WHOLE)})),
    },
)

BLUEPRINT = Table(
    "a blueprint",
    {
        "tosca_definitions_version": Key(ANYTHING),
        "description": Key(TEXT, since=2),
        "imports": Key(LIST),
        "dsl_definitions": Key(ANYTHING, since=2),
        "metadata": Key(MAPPING),
        "inputs": Key(Each(INPUT)),
        "plugins": Key(Each(PLUGIN)),
        "node_types": Key(Each(NODE_TYPE)),
        "relationships": Key(Each(RELATIONSHIP_TYPE)),
        "node_templates": Key(Each(NODE_TEMPLATE)),
        "data_types": Key(Each(DATA_TYPE), since=2),
        "workflows": Key(Each(WORKFLOW)),
        "outputs": Key(Each(OUTPUT)),
        "capabilities": Key(Each(CAPABILITY)),
        "groups": Key(Each(GROUP)),
        "policies": Key(Each(POLICY), since=3),
        "policy_types": Key(Each(POLICY_TYPE)),
        "policy_triggers": Key(Each(POLICY_TRIGGER)),
        "labels": Key(Each(LABEL)),
        "blueprint_labels": Key(Each(LABEL)),
        "deployment_settings": Key(DEPLOYMENT_SETTINGS),
        "resource_tags": Key(Each(ANYTHING), since=3),
        "state_paths": Key(Each(Each(Rows(TEXT))), since=PHASELINE),
        "upload_resources": Key(
            UPLOAD_RESOURCES, support="no effect", note="It tells a server what to fetch; there is none."
        ),
    },
)
"""The whole file (B10)."""

MERGED = frozenset(
    ["node_types", "plugins", "workflows", "relationships", "policy_types", "groups", "policy_triggers", "data_types"]
) | {"state_paths"}
"""Sections that several files may have, in every version (B7)."""
MERGED_SINCE_3 = frozenset(
    ["inputs", "outputs", "node_templates", "capabilities", "labels", "blueprint_labels", "resource_tags"]
)
"""Sections that several files may have from 1_3 on."""
FIRST_WINS = frozenset({"labels", "blueprint_labels", "resource_tags"})
"""Sections in which an equal key of a later file is read over."""
OWN = frozenset({"tosca_definitions_version", "imports", "dsl_definitions"})
"""What each file has for itself."""
FROM_MAIN = frozenset({"description", "metadata", "upload_resources"})
"""Of these the first file that has one wins."""
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
"""Sections whose elements have names of the blueprint: a namespace comes before each (B8)."""
