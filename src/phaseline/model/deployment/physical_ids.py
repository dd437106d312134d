"""The id of the real resource behind an instance, such as the cloud's id, as reported by plugins."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

NAMES = ("resource_id", "external_id", "aws_resource_id", "id")
"""Runtime properties in which plugins store the id; the first that exists is used."""
EXTERNAL = "use_external_resource"
"""The node property that marks an existing resource; its property ``resource_id`` holds the id."""
NO_PROPERTIES: Mapping[str, Value] = MappingProxyType({})


def physical_id(runtime: Mapping[str, Value], properties: Mapping[str, Value] = NO_PROPERTIES) -> str | None:
    """Return the id of the real resource from the runtime properties, or None if there is none.

    For an existing resource that the blueprint names, the node's properties are searched, too.

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
