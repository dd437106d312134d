"""Which rows the statements of a store may find: those of one tenant, or all (ADR 0050).

Lists are restricted in SQL. Numbers, by which most other reads find their rows, are checked before the read: a number
of another tenant is replaced by one that was never given, or raises ``LookupError`` like an unknown one. A number that
was found to be the tenant's is remembered, because it stays the tenant's for ever. When a transaction is undone, all
are forgotten, because a database may give its numbers again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from phaseline.model.rows.rows import DEFAULT_TENANT, Actor

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

Table = Literal["deployment", "execution", "graph", "package", "stored_blueprint"]
"""A table whose rows are found by numbers from outside."""

UNINDEXED = "coalesce({}, '')"
"""A column of text, written so that a database does not look for rows by its index."""
MOST_REMEMBERED = 100_000
"""Most numbers of a table that are remembered as the tenant's; all are forgotten when there would be more."""
_CHOSEN = "in (select value from json_each(?))"
_OWN = "select number from {0} where tenant = ? and number " + _CHOSEN
_OWN_GRAPHS = f"""select graph.id from graph join execution on execution.number = graph.execution
    where execution.tenant = ? and graph.id {_CHOSEN}"""


class TenantRows:
    """The rows of a tenant; of all tenants if ``tenant`` is None, which only the engine's store uses."""

    def __init__(self, tenant: str | None = None) -> None:
        self.tenant = tenant
        self.named = DEFAULT_TENANT if tenant is None else tenant
        """Tenant in which names are looked up: the default one if all rows are found, because two tenants may have a name."""
        self.is_alone = False
        """True if this process has asked for no other tenant; then it does not look for a tenant's rows by an index."""
        self._known: dict[Table, set[int]] = {}

    def where(self, condition: str, *values: Any, column: str = "tenant") -> tuple[str, tuple[Any, ...]]:
        """Return an SQL condition with its values, restricted to the tenant. ``column`` has the tenant of a row."""
        if self.tenant is None:
            return condition, values
        return f"{condition} and {column} = ?", (*values, self.tenant)

    def column(self, name: str) -> str:
        """Return the SQL column with the tenant of a row; a constant if it is known, because that is faster."""
        return name if self.tenant is None else "''"

    def execution_column(self, *, is_searched: bool, is_page: bool = False) -> str:
        """Return the column with the tenant of an execution for a condition.

        ``is_searched``: other conditions are more selective. A list of all executions is slower by the index of tenants in
        a store of one tenant; ``is_page``: a list of few, for which the index finds them among many of other tenants.
        """
        is_unindexed = is_searched or (self.is_alone and not is_page)
        return UNINDEXED.format("execution.tenant") if is_unindexed else "execution.tenant"

    def of_names(self) -> TenantRows:
        """Return the rows that a name may find: those of one tenant in any case."""
        return TenantRows(self.named) if self.tenant is None else self

    def by(self, actor: Actor) -> Actor:
        """Return the user as one of this tenant: nothing is written for another tenant, whatever a caller claims."""
        return actor if self.tenant in {None, actor.tenant} else Actor(actor.name, self.named)

    def remember(self, table: Table, numbers: Iterable[int]) -> None:
        """Note the numbers of rows of the tenant, so that they need not be checked."""
        if self.tenant is None:
            return
        known = self._known.setdefault(table, set())
        known.update(numbers)
        if len(known) > MOST_REMEMBERED:
            known.clear()

    def forget(self) -> None:
        """Forget all numbers, because a transaction was undone that may have given some of them."""
        self._known.clear()

    def own(self, db: Connection, table: Table, number: int) -> int:
        """Return the number if the row is the tenant's, else one that no row has. 0, which means none, stays."""
        if self.tenant is None or number <= 0 or number in self._known.get(table, ()):
            return number
        return number if self._found(db, table, (number,)) else -number

    def own_all(self, db: Connection, table: Table, numbers: Sequence[int]) -> Sequence[int]:
        """Return the numbers in their order, each as ``own`` returns it."""
        if self.tenant is None:
            return numbers
        known = self._known.get(table, set())
        unknown = [number for number in numbers if number not in known]
        if not unknown:
            return numbers
        strange = set(unknown) - self._found(db, table, unknown)
        return [-abs(number) if number in strange else number for number in numbers]

    def strange(self, db: Connection, table: Table, numbers: Iterable[int]) -> set[int]:
        """Return those of the numbers whose rows are not the tenant's."""
        known = self._known.get(table, set())
        unknown = [] if self.tenant is None else [number for number in numbers if number > 0 and number not in known]
        return set(unknown) - self._found(db, table, unknown) if unknown else set()

    def require(self, db: Connection, table: Table, number: int) -> int:
        """Return the number of a row of the tenant. Raises: ``LookupError`` for any other number."""
        found = self.own(db, table, number)
        if found != number:
            raise LookupError(f"no {table} {number}")
        return number

    def _found(self, db: Connection, table: Table, numbers: Sequence[int]) -> set[int]:
        statement = _OWN_GRAPHS if table == "graph" else _OWN.format(table)
        found = {number for (number,) in db.execute(statement, (self.tenant, f"[{','.join(map(str, numbers))}]"))}
        self.remember(table, found)
        return found


ALL = TenantRows()
"""The rows of all tenants."""
