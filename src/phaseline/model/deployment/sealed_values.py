"""Secret values: their stored form and the text shown in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.model.blueprint.blueprint import Blueprint, PropertySchema, Value

SEAL = "phaseline-sealed:1:"
"""A stored text that begins so is encrypted."""
HIDDEN = "(hidden)"
"""What is shown in the place of a secret."""


def veiled_properties(values: Mapping[str, Value]) -> dict[str, Value]:
    """Each of the properties as ``veiled``."""
    return {name: veiled(value) for name, value in values.items()}


def veiled(value: Value) -> Value:
    """The value with ``HIDDEN`` in place of its sealed parts.

    >>> veiled({"ip": "10.0.0.1", "keys": ["phaseline-sealed:1:AbCd"]})
    {'ip': '10.0.0.1', 'keys': ['(hidden)']}
    """
    if isinstance(value, dict):
        return {name: veiled(item) for name, item in value.items()}
    if isinstance(value, list):
        return [veiled(item) for item in value]
    return HIDDEN if isinstance(value, str) and value.startswith(SEAL) else value


def is_hidden(schema: PropertySchema) -> bool:
    """True if the values of an input are secrets (decision 30)."""
    return schema.hidden or schema.type == "secret_key"


def hidden_inputs(blueprint: Blueprint) -> frozenset[str]:
    """The inputs whose values are secrets."""
    return frozenset(name for name, schema in blueprint.inputs.items() if is_hidden(schema))


CANNOT_OPEN = frozenset({"PL-S020", "PL-S023"})
"""The vault's message for a value that was sealed by another store."""
