"""Find stored objects that inputs and parameters may name: deployments, blueprints, secrets, nodes … (B14)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from phaseline.dsl.functions.registry import contains_functions
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.labels import Label

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.ports.tenant_store import TenantStore


@frozen
class KnownThings:
    """Checks values of inputs against the objects in a store (``dsl.type_system.constraints.Lookup``).

    The store is opened at the first check. ``deployment`` is the deployment to which a value is given, or None if it does
    not exist yet.
    """

    opened: Callable[[], TenantStore]
    deployment: str | None = None

    @property
    def store(self) -> TenantStore:
        """Open the store at the first use, and return it."""
        return self.opened()

    def has(self, kind: str, value: Value, filters: Mapping[str, Value]) -> bool:
        """Return True if an object of this name fits all filters. With ``filter_id`` return False: filters cannot be stored."""
        if not isinstance(value, str) or "filter_id" in filters:
            return False
        tenants, names = filters.get("tenants"), filters.get("valid_values")
        if isinstance(tenants, list) and self.store.tenant not in tenants:
            return False
        if isinstance(names, list) and value not in names:
            return False
        pattern = filters.get("name_pattern")
        if kind == "capability_value":
            return self._is_capability(value, filters, pattern)
        return fits_pattern(value, pattern) and self._is_there(kind, value, filters)

    def _is_there(self, kind: str, value: str, filters: Mapping[str, Value]) -> bool:
        if kind == "secret_key":
            return self.store.secrets.find(value) is not None
        if kind == "blueprint_id":
            stored = self.store.stored_blueprints.find(value)
            return stored is not None and "labels" not in filters
        if kind == "deployment_id":
            row = self.store.deployment(value)
            return row is not None and self._has_labels(row, filters.get("labels"))
        row = self._deployment(filters)
        return row is not None and value in self._names(kind, row)

    def _deployment(self, filters: Mapping[str, Value]) -> DeploymentRow | None:
        name = filters.get("deployment_id", self.deployment)
        return self.store.deployment(name) if isinstance(name, str) else None

    def _names(self, kind: str, row: DeploymentRow) -> set[str]:
        """Return the names of all objects of a kind in a deployment."""
        topology = self.store.topology(row.number)
        ways: dict[str, Callable[[], set[str]]] = {
            "node_id": lambda: {node.name for node in topology.nodes},
            "node_type": lambda: {node.type for node in topology.nodes},
            "node_instance": lambda: set(topology.ids),
            "scaling_group": lambda: set(topology.blueprint.scaling_groups),
            "operation_name": lambda: {
                name for node in topology.nodes for name, item in node.operations.items() if item.is_implemented
            },
        }
        return ways[kind]()

    def _is_capability(self, value: str, filters: Mapping[str, Value], pattern: Value) -> bool:
        """Return True if the deployment has a capability with this value and a matching name.

        Capabilities with functions, whose values are known only at run time, do not count.
        """
        row = self._deployment(filters)
        found = self.store.blueprint(row.number).capabilities if row is not None else {}
        return any(
            fits_pattern(name, pattern) and not contains_functions(item.value) and str(item.value) == value
            for name, item in found.items()
        )

    def _has_labels(self, row: DeploymentRow, wanted: Value) -> bool:
        if not isinstance(wanted, list):
            return True
        known = set(self.store.labels.of(row.number))
        pairs = [pair for item in wanted if isinstance(item, dict) for pair in item.items()]
        return known.issuperset(Label(key, str(value)) for key, value in pairs)


_PATTERNS: dict[str, Callable[[str, str], bool]] = {
    "contains": lambda name, part: part in name,
    "not_contains": lambda name, part: part not in name,
    "starts_with": lambda name, part: name.startswith(part),
    "ends_with": lambda name, part: name.endswith(part),
    "equals_to": lambda name, part: name == part,
}


def fits_pattern(name: str, pattern: Value) -> bool:
    """Return True if a name matches ``name_pattern``. If an operator has several texts, one match is enough.

    >>> fits_pattern("web-1", {"starts_with": ["db", "web"], "not_contains": "x"})
    True
    """
    if not isinstance(pattern, dict):
        return True
    for operator, words in pattern.items():
        fits = _PATTERNS.get(operator)
        listed = words if isinstance(words, list) else [words]
        if fits is None:
            return False
        found = [fits(name, str(word)) for word in listed]
        if not (all(found) if operator == "not_contains" else any(found)):
            return False
    return True
