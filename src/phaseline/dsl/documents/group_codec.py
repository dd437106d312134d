"""Convert groups, labels, settings and tags of a blueprint to JSON values and back; empty fields are left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phaseline.lang.fast_dataclasses import as_dict
from phaseline.model.blueprint.blueprint import Blueprint
from phaseline.model.blueprint.groups import GroupPolicy, NodeGroup, ScalingGroup, ScalingPolicy, Trigger
from phaseline.model.problems.problem import Place

PLAIN = ("policy_types", "policy_triggers", "labels", "blueprint_labels", "deployment_settings", "resource_tags")
"""Fields of a blueprint whose values are JSON values already."""


def groups_to_json(blueprint: Blueprint) -> dict[str, Any]:
    """Return {field: JSON value} for the fields that are not empty."""
    written: dict[str, Any] = {name: dict(getattr(blueprint, name)) for name in PLAIN}
    written["groups"] = [[group.name, list(group.members), _policies(group)] for group in blueprint.groups.values()]
    written["policies"] = [
        {**as_dict(policy), "targets": list(policy.targets)} for policy in blueprint.policies.values()
    ]
    written["scaling_groups"] = [
        {**as_dict(group), "members": list(group.members), "place": as_dict(group.place)}
        for group in blueprint.scaling_groups.values()
    ]
    written["runtime_only"] = blueprint.runtime_only
    return {name: value for name, value in written.items() if value}


def _policies(group: NodeGroup) -> dict[str, Any]:
    return {
        name: [
            policy.type,
            dict(policy.properties),
            {key: as_dict(trigger) for key, trigger in policy.triggers.items()},
        ]
        for name, policy in group.policies.items()
    }


def groups_from_json(written: Mapping[str, Any]) -> dict[str, Any]:
    """Return {field: value} for a new blueprint, from the JSON values that ``groups_to_json`` wrote."""
    fields: dict[str, Any] = {name: written[name] for name in (*PLAIN, "runtime_only") if name in written}
    fields["groups"] = {
        name: NodeGroup(
            name,
            tuple(members),
            {
                key: GroupPolicy(kind, properties, {label: Trigger(**trigger) for label, trigger in triggers.items()})
                for key, (kind, properties, triggers) in policies.items()
            },
        )
        for name, members, policies in written.get("groups", ())
    }
    fields["policies"] = {
        policy["name"]: ScalingPolicy(**{**policy, "targets": tuple(policy["targets"])})
        for policy in written.get("policies", ())
    }
    fields["scaling_groups"] = {
        group["name"]: ScalingGroup(**{**group, "members": tuple(group["members"]), "place": Place(**group["place"])})
        for group in written.get("scaling_groups", ())
    }
    return fields
