"""Find stored objects that inputs and parameters may name: deployments, blueprints, secrets, nodes … (B14)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from phaseline.dsl.functions.registry import contains_functions
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.rows import row_queries
from phaseline.records.filters import row_condition, rule_expressions
from phaseline.records.filters import rules as filter_rules
from phaseline.use_cases.lookup.estate import row_filters

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.records.filters.row_attributes import FilteredKind
    from phaseline.records.filters.rules import FilterRule

    Rules = list[FilterRule]

NARROWING = ("tenants", "name_pattern", "labels")
"""The constraints that are rules on the object of a name."""


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
        """Return True if an object of this name fits all filters (LB6). Raises: PL-C152 for an unknown ``filter_id``."""
        if not isinstance(value, str):
            return False
        names = filters.get("valid_values")
        if isinstance(names, list) and value not in names:
            return False
        if kind == "capability_value":
            return self._fits({}, _rules(filters, "tenants")) and self._is_capability(value, filters)
        return self._is_there(kind, value, filters)

    def _is_there(self, kind: str, value: str, filters: Mapping[str, Value]) -> bool:
        noun: FilteredKind = "blueprints" if kind == "blueprint_id" else "deployments"
        rules = _rules(filters, "tenants", "name_pattern", "labels")
        if rules is not None and (saved := filters.get("filter_id")) is not None:
            rules += row_filters.rules_of(self.store, noun, str(saved))
        if kind == "deployment_id":
            return self._is_deployment(value, rules)
        if not self._fits({"id": value}, rules):
            return False
        if kind == "secret_key":
            return self.store.secrets.find(value) is not None
        if kind == "blueprint_id":
            stored = self.store.stored_blueprints.find(value)
            return stored is not None and self._fits({"id": value, "created_by": stored.created_by}, rules)
        row = self._deployment(filters)
        return row is not None and value in self._names(kind, row)

    def _is_deployment(self, name: str, rules: Rules | None) -> bool:
        row = self.store.deployment(name)
        if row is None or not rules:
            return row is not None and rules is not None
        checks = row_condition.RowCondition(rule_expressions.expression_of(rules), "deployments").checks
        return self.store.listings.count(row_queries.DeploymentQuery(numbers=(row.number,), checks=checks)) == 1

    def _fits(self, known: Mapping[str, str], rules: Rules | None) -> bool:
        """Return whether an object with these attributes, which has no labels, fits the rules."""
        if not rules:
            return rules is not None
        values = {"tenant_name": self.store.tenant, **known}
        checks = row_condition.RowCondition(rule_expressions.expression_of(rules), "deployments").checks
        return all(
            row_queries.verdict_of(
                check, lambda test: () if test.is_label or test.name not in values else (values[test.name],)
            )
            for check in checks
        )

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

    def _is_capability(self, value: str, filters: Mapping[str, Value]) -> bool:
        """Return True if the deployment has a capability with this value and a matching name.

        Capabilities with functions, whose values are known only at run time, do not count.
        """
        row = self._deployment(filters)
        found = self.store.blueprint(row.number).capabilities if row is not None else {}
        rules = _rules(filters, "name_pattern")
        return any(
            not contains_functions(item.value) and str(item.value) == value and self._fits({"id": name}, rules)
            for name, item in found.items()
        )


_PATTERNS = {
    "contains": "contains",
    "not_contains": "not_contains",
    "starts_with": "starts_with",
    "ends_with": "ends_with",
    "equals_to": "any_of",
}
"""{operator of ``name_pattern``: operator of a rule}"""


def _rules(filters: Mapping[str, Value], *names: str) -> Rules | None:
    """Return the constraints with these names as rules, or None if nothing can fit them.

    >>> _rules({"name_pattern": {"starts_with": ["db", "web"]}}, "name_pattern")
    [FilterRule(key='id', operator='starts_with', values=('db', 'web'), type='attribute')]
    """
    if not any(name in filters for name in names):
        return []
    found: Rules = []
    tenants, pattern, labels = (filters.get(name) if name in names else None for name in NARROWING)
    if isinstance(tenants, list):
        found.append(filter_rules.FilterRule("tenant_name", "any_of", tuple(map(str, tenants)), "attribute"))
    for operator, words in pattern.items() if isinstance(pattern, dict) else ():
        if operator not in _PATTERNS:
            return None
        texts = tuple(map(str, words if isinstance(words, list) else [words]))
        found.append(filter_rules.FilterRule("id", _PATTERNS[operator], texts, "attribute"))
    pairs = (
        [pair for item in labels if isinstance(item, dict) for pair in item.items()] if isinstance(labels, list) else ()
    )
    found += [filter_rules.FilterRule(key.lower(), "any_of", (str(value),)) for key, value in pairs]
    return None if any(not rule.values for rule in found) else found
