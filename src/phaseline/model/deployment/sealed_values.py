"""Secret values: their stored form and the text shown in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.model.blueprint.blueprint import Blueprint, PropertySchema, Value

SEAL = "phaseline-sealed:1:"
"""Prefix of stored texts that are encrypted because they contain a secret."""
HIDDEN = "(hidden)"
"""Text that is shown instead of a secret."""


def veiled_properties(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the properties for a user to see: in each value, the text ``(hidden)`` is in the place of secrets."""
    return {name: veiled(value) for name, value in values.items()}


def veiled(value: Value) -> Value:
    """Return the value with ``HIDDEN`` instead of its encrypted parts.

    >>> veiled({"ip": "10.0.0.1", "keys": ["phaseline-sealed:1:AbCd"]})
    {'ip': '10.0.0.1', 'keys': ['(hidden)']}
    """
    if isinstance(value, dict):
        return {name: veiled(item) for name, item in value.items()}
    if isinstance(value, list):
        return [veiled(item) for item in value]
    return HIDDEN if isinstance(value, str) and value.startswith(SEAL) else value


def is_hidden(schema: PropertySchema) -> bool:
    """Return True if the values of an input are secrets (decision 30)."""
    return schema.hidden or schema.type == "secret_key"


def hidden_inputs(blueprint: Blueprint) -> frozenset[str]:
    """Return the inputs whose values are secrets."""
    return frozenset(name for name, schema in blueprint.inputs.items() if is_hidden(schema))


CANNOT_OPEN = frozenset({"PL-S020", "PL-S023"})
"""Codes of the vault's problems for a value that was encrypted by another store."""
