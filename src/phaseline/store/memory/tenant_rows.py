"""Which rows an object of the store in memory finds: those of one tenant, or all (ADR 0050)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.rows.rows import DEFAULT_TENANT, Actor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from phaseline.model.rows.rows import BatchRow
    from phaseline.store.memory.tables import MemoryTables


class MemoryTenantRows:
    """The rows of a tenant; of all tenants if ``tenant`` is None, which only the engine's store uses."""

    def __init__(self, held: MemoryTables, tenant: str | None = None) -> None:
        self._held = held
        self.tenant = tenant
        self.named = DEFAULT_TENANT if tenant is None else tenant
        """Tenant in which names are looked up: the default one if all rows are found, because two tenants may have a name."""

    def has(self, tenant: str) -> bool:
        """Return True if rows of this tenant may be found."""
        return self.tenant in {None, tenant}

    def by(self, actor: Actor) -> Actor:
        """Return the user as one of this tenant: nothing is written for another tenant, whatever a caller claims."""
        return actor if self.has(actor.tenant) else Actor(actor.name, self.named)

    def deployment(self, number: int) -> int:
        """Return the number if the deployment may be found, else one that no deployment has."""
        known = self._held.deployments.get(number)
        return number if self.tenant is None or (known is not None and self.has(known.row.tenant)) else -abs(number)

    def execution(self, number: int) -> int:
        """Return the number if the execution may be found, else one that no execution has. 0 means none, and stays."""
        known = self._held.executions.get(number)
        return number if self.tenant is None or (known is not None and self.has(known.row.tenant)) else -abs(number)

    def graph(self, number: int) -> int:
        """Return the number if the graph may be found, else one that no graph has."""
        known = self._held.graphs.get(number)
        return number if known is not None and self.execution(known.row.execution) > 0 else -abs(number)

    def strange(self, kind: str, numbers: Iterable[int]) -> set[int]:
        """Return those of the numbers of deployments, executions or graphs whose rows may not be found."""
        if self.tenant is None:
            return set()
        find = {"deployment": self.deployment, "execution": self.execution, "graph": self.graph}[kind]
        return {number for number in numbers if find(number) != number}

    def require(self, number: int, what: str) -> int:
        """Return a number that one of the other methods has returned. Raises: ``LookupError`` if the row is not found."""
        if number < 0 and self.tenant is not None:
            raise LookupError(f"no {what} {-number}")
        return number

    def without_others(self, row: BatchRow) -> BatchRow | None:
        """Return a batch without the members of other tenants; None if none are left."""
        if self.tenant is None:
            return row
        from phaseline.store.sql.queries import without

        return without(row, {graph for graph in row.places.graphs if self.graph(graph) < 0})
