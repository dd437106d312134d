"""Under which id the thing behind an instance is known outside, as far as plugins have told."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

NAMES = ("resource_id", "external_id", "aws_resource_id", "id")
"""Runtime properties that plugins keep it in, the first one that is there counts."""
EXTERNAL = "use_external_resource"
"""The property of a node that was there before: its property ``resource_id`` names it."""
NO_PROPERTIES: Mapping[str, Value] = MappingProxyType({})


def physical_id(runtime: Mapping[str, Value], properties: Mapping[str, Value] = NO_PROPERTIES) -> str | None:
    """The id by the runtime properties of an instance, or by those of its node where that is an external resource.

    >>> physical_id({"id": 4711, "external_id": "vm-7"}), physical_id({})
    ('vm-7', None)
    >>> physical_id({}, {"use_external_resource": True, "resource_id": "net-1"})
    'net-1'
    """
    for name in NAMES:
        value = runtime.get(name)
        if value is not None and _is_id(value):
            return str(value)
    value = properties.get(NAMES[0]) if properties.get(EXTERNAL) is True else None
    return str(value) if _is_id(value) else None


def _is_id(value: Value) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""
