"""What statements of lists are made of: conditions, and several selects as one statement.

One statement costs one round trip, however many tables a list needs.

The statement is a ``union all`` of its parts. Its columns are first integers, then texts, then bytes, so many of each as
some part needs; a part fills those that it does not need with 0, an empty text and empty bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import frozen
from phaseline.store.database.schema import IS_OPEN

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection
    from phaseline.store.database.tenant_rows import TenantRows

OTHERS = ""
"""Name of a node in the row of a deployment with ids that do not begin with the name of a node."""
CHOSEN = "in (select value from json_each(?))"
COUNTED = """not exists (select 1 from filling where filling.name = 'executions'
    and execution.number > filling.position and execution.number <= filling.last)"""
"""SQL condition for an execution that the table ``tenant`` counts: not one that an upgrade has left to be counted."""
LAST = "\U0010ffff"
"""Largest character. For any beginning B, all texts that begin with B sort before B + LAST."""
LATEST = "(select max(number) from execution as other where other.deployment = deployment.number)"
"""SQL expression for the latest execution of a row of the table ``deployment``."""
OUT_OF_DATE, UNREADABLE_ROW = "", "unreadable"
"""Statuses in rows that are not read."""
IS_COMPUTED = f"""(coalesce((select 1 from execution as begun where begun.deployment = deployment.number
    and begun.{IS_OPEN} limit 1), 0) = 1 or coalesce((select kept.status from deployment_summary as kept
    where kept.deployment = deployment.number), '{OUT_OF_DATE}') in ('{OUT_OF_DATE}', '{UNREADABLE_ROW}'))"""
"""SQL condition for a row of ``deployment`` whose summary is not read but computed.

With ``exists`` PostgreSQL would read all open executions to find those of fifty deployments.
"""
UNFILLED = """select deployment.number from filling join deployment on deployment.number > filling.position
    and deployment.number <= filling.last where filling.name = 'deployments' and deployment.deleted_at = 0"""
"""SQL query of the deployments of which an upgrade has left the summaries and nodes to be filled; usually none."""
KINDS = "itb"
"""Kinds of columns: integer, text, bytes."""
_FILLER = {"i": "0", "t": "''", "b": "x''"}

Row = tuple[Any, ...]


@frozen
class Part:
    """One select of a statement, with its values. ``columns``: the kind of each column, as letters of ``KINDS``."""

    select: str
    columns: str
    values: Sequence[object] = ()


def select_together(db: Connection, parts: Sequence[Part]) -> list[list[Row]]:
    """Execute the parts as one statement; return the rows of each part. The order within a part is unspecified."""
    if not parts:
        return []
    if len(parts) == 1:
        return [db.execute(parts[0].select, parts[0].values).fetchall()]
    width = {kind: max(part.columns.count(kind) for part in parts) for kind in KINDS}
    names = [", ".join(f"c{place}" for place in range(len(part.columns))) for part in parts]
    named = ", ".join(f"part{at}({names[at]}) as ({part.select})" for at, part in enumerate(parts))
    united = " union all ".join(
        f"select {at}, {', '.join(_filled(part.columns, width))} from part{at}" for at, part in enumerate(parts)
    )
    found: list[list[Row]] = [[] for _ in parts]
    keep: list[tuple[Callable[[Row], None], Callable[[Row], Row]]] = [
        (rows.append, _own_columns(part.columns, width)) for rows, part in zip(found, parts, strict=True)
    ]
    for row in db.execute(f"with {named} {united}", [value for part in parts for value in part.values]):
        add, own = keep[row[0]]
        add(own(row))
    return found


def _filled(columns: str, width: dict[str, int]) -> Iterator[str]:
    """Yield what a part selects for each column of the statement."""
    for kind in KINDS:
        mine = [f"c{place}" for place, one in enumerate(columns) if one == kind]
        yield from mine
        yield from [_FILLER[kind]] * (width[kind] - len(mine))


def _own_columns(columns: str, width: dict[str, int]) -> Callable[[Row], Row]:
    """Return a function that takes a row of the statement and returns the columns of a part, in the part's order."""
    first = {"i": 1, "t": 1 + width["i"], "b": 1 + width["i"] + width["t"]}
    places = [first[kind] + columns[:place].count(kind) for place, kind in enumerate(columns)]
    if len(places) == 1:
        only = places[0]
        return lambda row: (row[only],)
    return itemgetter(*places)


class WhereClause:
    """The conditions of a statement, with their values."""

    def __init__(self, *always: str) -> None:
        """``always``: conditions without values, which the statement has in any case."""
        self._texts = list(always)
        self.values: list[object] = []

    def add(self, text: str, *values: object) -> None:
        """Add one condition, which must hold too."""
        self._texts.append(text)
        self.values.extend(values)

    def add_beginning(self, column: str, text: str) -> None:
        """Require that a column begins with the text. Two bounds express this, so that SQLite can search an index."""
        self.add(
            f"{column} >= ? and {column} < cast(? as text) || '{LAST}' and substr({column}, 1, ?) = ?",
            text,
            text,
            len(text),
            text,
        )

    def add_tenant(self, own: TenantRows, column: str) -> None:
        """Require that rows are the tenant's, which the column has."""
        if own.tenant is not None:
            self.add(f"{column} = ?", own.tenant)

    def copy(self) -> WhereClause:
        """Return conditions to which others can be added without changing these."""
        found = WhereClause(*self._texts)
        found.values = list(self.values)
        return found

    def __str__(self) -> str:
        """Return the ``where`` clause of the statement; empty if there is no condition."""
        return f" where {' and '.join(self._texts)}" if self._texts else ""
