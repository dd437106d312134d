"""Turns a plan into records, on which expressions are evaluated: one for the whole plan, and one for each planned
instance.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from phaseline import Expression, ProblemsError, Record, thaw

CHANGING = (
    "CREATE", "DELETE", "UPDATE", "SCALE", "HEAL", "REINSTALL", "START", "STOP", "RESTART", "PULL", "SUSPEND", "RESUME",
    "RESTORE", "ADOPT", "ABANDON", "EXECUTE_OPERATION", "INSTALL_NEW_AGENTS", "RELABEL", "WORKFLOW",
)  # fmt: skip
"""Actions that change something: policies apply to these unless their options name others (decision 41).

Checks and snapshots are not included, because they only read. Rollbacks of failures are not included, because nothing
should delay them.
"""
GOING = frozenset({"DELETE", "ABANDON"})
"""Actions after which a deployment has no instances."""
COMING = frozenset({"CREATE", "ADOPT"})
"""Actions before which a deployment has no instances yet."""
OF_INSTANCE: Mapping[str, Callable[[Any, Any], Any]] = {
    "Name": lambda one, _: one.name,
    "Node": lambda one, _: one.node,
    "Type": lambda one, _: one.node_type,
    "Types": lambda one, _: list(one.type_hierarchy),
    "State": lambda one, _: one.state,
    "Runtime": lambda one, _: thaw(one.runtime_properties),
    "Targets": lambda one, _: [tie.target for tie in one.relationships],
    "TargetTypes": lambda one, all_: sorted(
        {kind for tie in one.relationships for kind in all_[tie.target].type_hierarchy}
    ),
}
"""Attributes of an instance's record, in addition to its node's properties: {attribute: function of (instance, all
instances)}.
"""


def plan_record(cnxt: Any, stack: Any, target: Any, wanted: Collection[str] = (), type_name: str = "") -> Record:
    """Return the record of the whole plan. ``wanted``: the attributes to include, in lower case; empty for all.

    The attributes are ``InstanceCount`` (of ``type_name`` only, if given), ``Before`` (the current number of
    instances), ``Deployment``, ``Action``, ``Workflow``, ``User``, ``Labels``, ``Inputs`` and ``Parameters``.
    """
    will_be = target or stack
    attributes: Mapping[str, Callable[[], Any]] = {
        "InstanceCount": lambda: count(will_be, type_name),
        "Before": lambda: count(stack, type_name),
        "Deployment": lambda: stack.name,
        "Action": lambda: cnxt.action,
        "Workflow": lambda: cnxt.workflow,
        "User": lambda: cnxt.user,
        "Labels": lambda: thaw(will_be.labels),
        "Inputs": lambda: thaw(will_be.inputs),
        "Parameters": lambda: thaw(cnxt.parameters),
    }
    return Record({name: give() for name, give in attributes.items() if _is_wanted(name, wanted)})


def instance_records(
    whole: Record, will_be: Any, wanted: Collection[str] = (), type_name: str = ""
) -> Iterator[tuple[str, Record]]:
    """Yield (name, record) of each planned instance; attributes that the record lacks are looked up in ``whole``.

    A record has ``Name``, ``Node``, ``Type``, ``Types`` (also the types from which it derives), ``State``,
    ``Runtime`` (its runtime properties), ``Targets`` and ``TargetTypes`` (names and types of the targets of its
    relationships), and the node's properties.
    """
    resources = will_be.resources
    for name, one in resources.items():
        if type_name and not one.is_a(type_name):
            continue
        own = {key: thaw(value) for key, value in one.properties.items() if key and _is_wanted(key, wanted)}
        own.update({key: give(one, resources) for key, give in OF_INSTANCE.items() if _is_wanted(key, wanted)})
        made = Record(own)
        made.owner = whole
        yield name, made


def names_of(option: str, text: str) -> tuple[Expression, frozenset[str]]:
    """Return (the parsed expression of an option, the attributes that it reads).

    Raises ``ValueError`` for an invalid expression.
    """
    try:
        expression = Expression(text)
    except ProblemsError as error:
        told = "; ".join(f"{one.code} {one.message}; {one.mend}" for one in error.problems)
        raise ValueError(f"'{option}: {text}' cannot be read: {told}") from error
    return expression, expression.names()


def is_so(expression: Expression, record: Record, about: str) -> bool:
    """Return True if the expression is true for the record, and False if it is false.

    Raises ``ValueError`` if the result is an error value or no truth value, because a rule that cannot be evaluated
    must not allow the action.
    """
    found = expression.judge(record)
    if isinstance(found, bool):
        return found
    raise ValueError(f"the rule '{expression.text}' makes no sense for {about}: {found.reason}")


def count(stack: Any, type_name: str = "") -> int:
    """Return the number of instances of a type, or of all types."""
    if not type_name:
        return len(stack.resources)
    return sum(one.is_a(type_name) for one in stack.resources.values())


def _is_wanted(name: str, wanted: Collection[str]) -> bool:
    return not wanted or name.lower() in wanted
