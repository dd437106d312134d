"""The attributes of rows that filters can name: those of deployments, stored blueprints and executions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

FilteredKind: TypeAlias = Literal["deployments", "blueprints", "executions"]
"""The lists that have filters."""

ATTRIBUTES: Mapping[FilteredKind, tuple[str, ...]] = {
    "deployments": (
        "id",
        "name",
        "display_name",
        "blueprint_id",
        "blueprint_file",
        "description",
        "kind",
        "created_by",
        "created_at",
        "site_name",
        "tenant_name",
        "status",
        "installation_status",
        "latest_execution_status",
        "deployment_status",
        "instance_count",
        "sub_services_count",
        "sub_services_status",
        "sub_environments_count",
        "sub_environments_status",
        "drifted_instances",
        "unavailable_instances",
    ),
    "blueprints": ("id", "created_by", "created_at", "description", "tenant_name"),
    "executions": (
        "id",
        "workflow",
        "status",
        "deployment",
        "created_by",
        "created_at",
        "started_at",
        "ended_at",
        "reason",
        "attempt",
        "tenant_name",
    ),
}
"""{list: names of the attributes of its rows}; each row has ``labels``, too."""
LABELS = "labels"
"""The attribute that has the labels: a record with an attribute for each key."""
RULE_ATTRIBUTES: Mapping[FilteredKind, tuple[str, ...]] = {
    "deployments": (
        "id",
        "blueprint_id",
        "created_by",
        "site_name",
        "tenant_name",
        "display_name",
        "installation_status",
    ),
    "blueprints": ("id", "created_by", "tenant_name"),
}
"""{list: attributes that rules can name}."""
IN_STORE: Mapping[FilteredKind, frozenset[str]] = {
    "deployments": frozenset(
        [
            *("id", "name", "blueprint_id", "blueprint_file", "description", "kind", "created_by", "site_name"),
            *("tenant_name", "display_name", "status", "installation_status"),
        ]
    ),
    "blueprints": frozenset(),
    "executions": frozenset(("id", "workflow", "status", "deployment", "created_by", "reason", "tenant_name")),
}
"""{list: attributes with texts that a store can test by itself}."""
