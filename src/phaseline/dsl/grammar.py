"""The language as tables: which keys each element has, of what shape, since which version (B4, B10-B31).

A new element is a new row. ``Key(shape, since)``: ``since`` is the minor version of ``cloudify_dsl_1_…``.
"""

from __future__ import annotations

from phaseline.dsl.shapes import ANYTHING, LIST, MAPPING, TEXT, TRUTH, WHOLE, Each, Key, Leaf, Rows, Table
from phaseline.dsl.versions import PHASELINE

RETRIES = Leaf("a whole number from -1 on", frozenset({int}), minimum=-1)
SECONDS = Leaf("a number of seconds from 0 on", frozenset({int, float}), minimum=0)
LATER = "A later version of Phaseline will read it; leave it out for now."

PROPERTY = Table(
    "a property",
    {
        "type": Key(TEXT, refers="data_types"),
        "default": Key(ANYTHING),
        "description": Key(TEXT),
        "required": Key(TRUTH, since=2),
        "display_label": Key(TEXT, since=3),
        "hidden": Key(TRUTH, since=3),
        "constraints": Key(LIST, since=2, support="later", note=LATER),
        "item_type": Key(TEXT, since=4, support="later", note=LATER),
    },
)
INPUT = Table("an input", {**PROPERTY.keys, "display": Key(MAPPING)})
PARAMETER = Table("a parameter", PROPERTY.keys)
OPERATION_INPUT = Table("an input of an operation", PROPERTY.keys)

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
        "runtime_properties": Key(ANYTHING, since=5),
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
        "instances": Key(Table("instances", {"deploy": Key(ANYTHING, is_required=True)})),
        "capabilities": Key(Table("capabilities of a node template", {"scalable": Key(SCALABLE)}), since=3),
    },
    fragment="relationships",
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
        "properties": Key(MAPPING, since=5, support="later", note=LATER),
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
OUTPUT = Table("an output", {"description": Key(TEXT), "value": Key(ANYTHING, is_required=True)})
CAPABILITY = Table("a capability", OUTPUT.keys)
LABEL = Table("a label", {"values": Key(LIST, is_required=True)})
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
        "groups": Key(MAPPING, support="later", note=LATER),
        "policies": Key(MAPPING, since=3, support="later", note=LATER),
        "policy_types": Key(MAPPING, support="no effect"),
        "policy_triggers": Key(MAPPING, support="no effect"),
        "labels": Key(Each(LABEL), support="no effect"),
        "blueprint_labels": Key(Each(LABEL), support="no effect"),
        "deployment_settings": Key(MAPPING, support="later", note=LATER),
        "resource_tags": Key(MAPPING, since=3, support="later", note=LATER),
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
