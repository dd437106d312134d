"""The form of a connection that the statements of ``store.sql`` use: a connection of SQLite or of PostgreSQL.

Statements are written once for both databases (ADR 0043), in what both understand:

- A value is ``?``. ``in (select value from json_each(?))`` selects the values of a JSON list; other uses of
  ``json_each`` are not portable.
- ``json_extract(column, '$.a.b')``, ``instr(text, part) > 0`` and ``folded_text(text)`` work in both, and for the column
  of ids ``instr(ids, ?) > 0``, which searches bytes. Empty bytes are ``x''``.
- A new number comes from ``returning``; ``on conflict`` names its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Rows(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """Number of rows that the statement has inserted, changed or deleted."""
        ...

    def fetchone(self) -> Any:
        """Return the next row as a tuple, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows that are left."""
        ...


class Connection(Protocol):
    """A connection to a database within a transaction that its owner begins and ends."""

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> Rows:
        """Execute a statement with its values."""
        ...

    def executemany(self, statement: str, values: Iterable[Sequence[Any]], /) -> Rows:
        """Execute a statement once for each sequence of values."""
        ...

    def last_number(self, table: str, /) -> int:
        """Return the highest number that was ever given to a row of a table; 0 if there was none."""
        ...


class DatabaseConnection(Connection, Protocol):
    """A connection whose transactions the store begins and ends."""

    @property
    def in_transaction(self) -> bool:
        """True between the beginning of a transaction and its end."""
        ...

    def rollback(self) -> None:
        """Undo the transaction, if there is one."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


Connect = Callable[[], AbstractContextManager[Connection]]
"""A method of a store that begins a transaction and yields its connection."""
