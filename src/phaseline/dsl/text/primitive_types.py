"""The primitive types of properties and inputs, and the check of a value against each (B11)."""

from __future__ import annotations

import re
from collections.abc import Callable

from phaseline.model.blueprint.blueprint import Value

PRIMITIVES: dict[str, int] = {
    "string": 0,
    "integer": 0,
    "float": 0,
    "boolean": 0,
    "list": 0,
    "dict": 0,
    "regex": 0,
    "textarea": 0,
    "blueprint_id": 4,
    "deployment_id": 4,
    "capability_value": 4,
    "scaling_group": 4,
    "node_id": 4,
    "node_type": 4,
    "node_instance": 4,
    "secret_key": 4,
    "operation_name": 5,
}
"""{primitive type: minor version that introduced it}."""
OBJECT_TYPES = frozenset(name for name, since in PRIMITIVES.items() if since)
"""Types whose values name an object in the store; a value as written in a blueprint may be anything."""


def _is_regex(value: Value) -> bool:
    if not isinstance(value, str):
        return False
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


CHECKS: dict[str, Callable[[Value], bool]] = {
    "integer": lambda value: value.__class__ is int,
    "float": lambda value: value.__class__ is float or value.__class__ is int,
    "boolean": lambda value: value.__class__ is bool,
    "list": lambda value: value.__class__ is list,
    "dict": lambda value: value.__class__ is dict,
    "regex": _is_regex,
    "textarea": lambda value: value.__class__ is str,
}
"""{primitive type: test whether a value has this type}. ``string`` is missing because it accepts any value."""

EXAMPLES = {
    "integer": "a whole number such as 80",
    "float": "a number such as 0.5",
    "boolean": "true or false",
    "list": "a list",
    "dict": "a mapping",
    "regex": "a regular expression that compiles",
    "textarea": "text",
}
"""{primitive type: what a message proposes to write}."""
