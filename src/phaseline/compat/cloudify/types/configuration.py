"""The properties of a Component or Blueprint node, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.composition import LOCAL
from phaseline.model.problems.problem import problem_error

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from phaseline.compat.cloudify.types.members import Member
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.problems.problem import ProblemsError

    Section = Literal["blueprint", "deployment"]

WRONG = "PL-C114"
RESERVED = "csys-"
PARENT = "csys-obj-parent"
STARTING = frozenset({"allow_custom_parameters", "force", "dry_run", "queue", "parameters", "wait_after_fail"})
"""Keys of ``executions_start_args`` that are used or have no effect here."""


@frozen
class StartArguments:
    """How a Component starts a workflow."""

    parameters: Mapping[str, Value]
    allow_custom: bool
    force: bool
    dry_run: bool


def wrong(message: str, mend: str) -> ProblemsError:
    """Return the error of a node that is configured wrongly."""
    return problem_error(WRONG, message, mend)


def raise_if_elsewhere(member: Member) -> None:
    """Raise PL-C114 for a client of another manager or another tenant (CO18)."""
    client = member.value("client")
    if not isinstance(client, dict):
        return
    host, tenant = client.get("host") or "", client.get("tenant") or ""
    if host not in LOCAL or tenant not in {"", member.entry.actor.tenant}:
        place = f"the tenant '{tenant}'" if host in LOCAL else f"'{host}'"
        raise wrong(
            f"the node '{member.item.node_id}' is to make its deployment in another manager, {place}",
            "leave 'client' out: a component's deployment is always in the same store",
        )


def configuration(member: Member) -> Mapping[str, Value]:
    """Return ``resource_config``. Raises: PL-C114 if it is missing or is no mapping."""
    found = member.value("resource_config")
    if not isinstance(found, dict):
        raise wrong(f"the node '{member.item.node_id}' has no 'resource_config'", "give it one, a mapping")
    return found


def section(config: Mapping[str, Value], name: Section) -> Mapping[str, Value]:
    """Return a part of ``resource_config``; empty if it is not given. Raises: PL-C114."""
    found = config.get(name) or {}
    if not isinstance(found, dict):
        raise wrong(f"'{name}' is not a mapping", f"write a mapping below 'resource_config.{name}'")
    return found


def named(part: Mapping[str, Value], default: str) -> str:
    """Return ``id``, or the default if it is not given. Raises: PL-C114 if it is given and is not a text."""
    if "id" not in part:
        return default
    found = part["id"]
    if not isinstance(found, str) or not found:
        raise wrong(f"'id' is {found!r}, not a text", "give a name, or a function whose value is a text")
    return found


def mapping_of(part: Mapping[str, Value], key: str) -> dict[str, Value]:
    """Return a mapping below a key; empty if it is not given. Raises: PL-C114."""
    found = part.get(key)
    if found is None or found == "":
        return {}
    if not isinstance(found, dict):
        raise wrong(f"'{key}' is not a mapping", f"write '{key}' as a mapping of names to values")
    return dict(found)


def labels_of_part(part: Mapping[str, Value]) -> list[tuple[str, str]]:
    """Return labels, which are a list of mappings with one entry. Raises: PL-C114 for another form or a reserved key."""
    found = part.get("labels") or []
    pairs: list[tuple[str, Value]] = []
    for each in found if isinstance(found, list) else [None]:
        if not isinstance(each, dict) or len(each) != 1:
            raise wrong("'labels' is not a list of mappings with one entry", "write: labels: [{team: web}]")
        pairs.extend(each.items())
    for key, value in pairs:
        if key.startswith(RESERVED):
            raise wrong(f"the label '{key}' is reserved", f"choose a key that does not begin with '{RESERVED}'")
        if not isinstance(value, str):
            raise wrong(f"the value of the label '{key}' is not a text", "give it a text")
    return cast("list[tuple[str, str]]", pairs)


def timeout_of(member: Member) -> int:
    """Return the time-out in seconds, -1 for none. Raises: PL-C114."""
    found = member.value("timeout")
    found = int(found) if isinstance(found, str) and found.lstrip("-").isdigit() else found
    if found is None:
        return -1
    if isinstance(found, bool) or not isinstance(found, int | float) or (found < 0 and found != -1):
        raise wrong(f"'timeout' is {found!r}", "give whole seconds, or -1 for none")
    return int(found)


def start_arguments(member: Member) -> StartArguments:
    """Return ``executions_start_args``, of the operation or of ``resource_config``. Raises: PL-C114 for other keys."""
    found = member.item.inputs.get("executions_start_args") or configuration(member).get("executions_start_args") or {}
    if not isinstance(found, dict):
        raise wrong("'executions_start_args' is not a mapping", f"use of these: {', '.join(sorted(STARTING))}")
    unknown = sorted(set(found) - STARTING)
    if unknown:
        raise wrong(f"'executions_start_args' cannot have '{unknown[0]}'", f"use only {', '.join(sorted(STARTING))}")
    return StartArguments(
        mapping_of(found, "parameters"),
        bool(found.get("allow_custom_parameters")),
        bool(found.get("force")),
        bool(found.get("dry_run")),
    )
