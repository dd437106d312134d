"""Everything that a deployment is made of as text, for golden files: what the plan for people shortens or leaves out."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from phaseline.lang.fast_dataclasses import as_dict, field_defaults
from phaseline.model.blueprint.blueprint import BUILT_IN_PLUGIN, Blueprint, Node, Operation, Value


def merged_text(blueprint: Blueprint, inputs: Mapping[str, Value]) -> str:
    """Everything that a deployment is made of, merged and evaluated, as YAML: what ``plan.txt`` shortens or leaves out.

    What is as it would be without saying is left out, and so are the built-in workflows.
    """
    nodes = {name: {**_said(node, _NOT_OF_NODES), **_of_node(node)} for name, node in blueprint.nodes.items()}
    own = {name: _said(one) for name, one in blueprint.workflows.items() if one.plugin != BUILT_IN_PLUGIN}
    whole = {
        "inputs": dict(inputs),
        "nodes": nodes,
        "workflows": own,
        "plugins": {name: _said(one) for name, one in blueprint.plugins.items() if name != BUILT_IN_PLUGIN},
        **{
            section: {name: _said(one) for name, one in getattr(blueprint, section).items()}
            for section in ("outputs", "capabilities", "groups", "policies", "scaling_groups")
        },
        **{
            section: getattr(blueprint, section)
            for section in ("labels", "blueprint_labels", "deployment_settings", "resource_tags")
        },
    }
    kept = {section: value for section, value in whole.items() if value}
    return yaml.safe_dump(json.loads(json.dumps(kept, default=_said)), sort_keys=False, width=120, allow_unicode=True)


_NOT_OF_NODES = ("name", "type_hierarchy", "operations", "relationships", "place")


def _of_node(node: Node) -> dict[str, object]:
    relationships = [
        {
            **_said(one, ("type_hierarchy", "source_operations", "target_operations")),
            **_mapped("source_operations", one.source_operations),
            **_mapped("target_operations", one.target_operations),
        }
        for one in node.relationships
    ]
    return {
        **_mapped("operations", node.operations),
        **({"relationships": relationships} if relationships else {}),
    }


def _mapped(key: str, operations: Mapping[str, Operation]) -> dict[str, object]:
    """Operations that something is mapped to."""
    mapped = {name: _said(one, ("name",)) for name, one in operations.items() if one.is_implemented}
    return {key: mapped} if mapped else {}


def _said(one: Any, without: Sequence[str] = ("place",)) -> dict[str, object]:
    defaults = field_defaults(type(one))
    return {
        name: value
        for name, value in as_dict(one).items()
        if name not in without and value != defaults[name] and value not in ({}, (), [])
    }
