"""Check nodes that stand for deployments and passwords before anything is stored: what their functions would refuse (CO18, CO19)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.problems.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from phaseline.model.blueprint.blueprint import Blueprint, Node

COMPONENT = "cloudify.nodes.Component"
PASSWORD = "cloudify.nodes.PasswordSecret"  # noqa: S105 - the name of a type
WITH_CLIENT = frozenset({COMPONENT, "cloudify.nodes.SharedResource", "cloudify.nodes.Blueprint"})
CODE = "PL-C114"
"""Code of a node that cannot be used as it is configured."""


def composition_flaws(blueprint: Blueprint) -> list[Problem]:
    """Return what is certainly wrong in such nodes, as far as their properties are not functions."""
    found: list[Problem] = []
    for node in blueprint.nodes.values():
        if node.type.startswith("cloudify.nodes.Root"):
            continue
        kinds = set(node.type_hierarchy)
        if kinds & WITH_CLIENT:
            found.extend(Problem(CODE, text, mend, node.place) for text, mend in _of_client(node))
        if COMPONENT in kinds:
            found.extend(Problem(CODE, text, mend, node.place) for text, mend in _of_component(node))
        if PASSWORD in kinds:
            from phaseline.compat.cloudify.types import password_rules

            flaws = password_rules.flaws(node.properties)
            found.extend(Problem(CODE, f"node '{node.name}': {text}", mend, node.place) for text, mend in flaws)
    return found


def _of_client(node: Node) -> Iterator[tuple[str, str]]:
    from phaseline.compat.cloudify.types.configuration import LOCAL

    client = node.properties.get("client")
    host = client.get("host") if isinstance(client, dict) else None
    if isinstance(host, str) and host not in LOCAL:
        mend = "leave 'client' out: the deployment is always in the same store"
        yield f"the node '{node.name}' is to use another manager, '{host}'", mend


def _of_component(node: Node) -> Iterator[tuple[str, str]]:
    if node.properties.get("plugins"):
        mend = "leave 'plugins' out, and install them: phaseline plugins install"
        yield f"the component '{node.name}' is to install plugins, which components do not do yet", mend
    if any("resource_config" in operation.inputs for operation in node.operations.values()):
        return  # operations of a type of the user's own give it
    config = node.properties.get("resource_config") or {}
    parts = [config.get(name) or {} for name in ("blueprint", "deployment")] if isinstance(config, dict) else [{}, {}]
    blueprint, deployment = (part if isinstance(part, dict) else {} for part in parts)
    if not (blueprint.get("id") or blueprint.get("blueprint_archive") or deployment.get("external_resource")):
        mend = "name one below 'resource_config.blueprint': 'blueprint_archive' of a folder, or 'id' of a stored one"
        yield f"the component '{node.name}' names no blueprint", mend
