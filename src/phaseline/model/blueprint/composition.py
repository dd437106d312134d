"""Nodes that stand for deployments and passwords: what is wrong in them can be found before anything is stored (CO18, CO19)."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from phaseline.model.blueprint.blueprint import Blueprint, Node, Value

LEAST_CHARACTERS = 6
"""The shortest password."""
MOST_CHARACTERS = 1024
CHARACTER_GROUPS: Mapping[str, str] = {
    "uppercase": string.ascii_uppercase,
    "lowercase": string.ascii_lowercase,
    "digits": string.digits,
    "symbols": string.punctuation + " ",
}
"""{property: characters of the group}."""


def password_flaws(properties: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    """Yield (what is wrong, how to mend it) of a node's properties; values that are functions are not looked at."""
    numbers = {name: properties.get(name, 8 if name == "length" else 0) for name in ("length", *CHARACTER_GROUPS)}
    for name, value in numbers.items():
        if isinstance(value, dict):
            return
        least = LEAST_CHARACTERS if name == "length" else -1
        if isinstance(value, bool) or not isinstance(value, int) or value < least or value > MOST_CHARACTERS:
            yield f"'{name}' of a password is {value!r}", f"give a whole number from {least} to {MOST_CHARACTERS}"
            return
    counts = {name: int(str(value)) for name, value in numbers.items()}
    length = counts.pop("length")
    if all(count < 0 for count in counts.values()):
        yield "a password has no kind of characters", "give one of the kinds another number than -1"
    needed = sum(count for count in counts.values() if count > 0)
    if needed > length:
        yield f"a password of {length} characters cannot have {needed}", f"make it at least {needed} characters long"


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
            wrong = password_flaws(node.properties)
            found.extend(Problem(CODE, f"node '{node.name}': {text}", mend, node.place) for text, mend in wrong)
    return found


WHAT_IT_MAKES = ("resource_config", "secrets")
"""Properties of a Component that describe the deployment and the secrets that it makes."""


def changed_components(before: Iterable[Node], after: Iterable[Node]) -> list[Problem]:
    """Return PL-C114 for each Component that stays in an update and would make something else (CO16)."""
    former = {node.name: node for node in before}
    found: list[Problem] = []
    for node in after:
        known = former.get(node.name)
        if known is None or COMPONENT not in node.type_hierarchy:
            continue
        changed = [name for name in WHAT_IT_MAKES if _said(known, name) != _said(node, name)]
        if changed:
            message = (
                f"the component '{node.name}' would get another '{changed[0]}', and no update changes what it has made"
            )
            mend = "update its deployment: phaseline deployments update NAME FILE; or reinstall it: --force-reinstall"
            found.append(Problem(CODE, message, mend, node.place))
    return found


def _said(node: Node, name: str) -> list[Value]:
    """Return the values of a property, and of the inputs of this name, which operations of the user's own types may have."""
    return [node.properties.get(name), *(each.inputs.get(name) for each in node.operations.values())]


LOCAL = frozenset({"", "127.0.0.1", "localhost", "::1"})
"""Names of this manager in ``client.host``."""


def _of_client(node: Node) -> Iterator[tuple[str, str]]:
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
