"""Connections of SQLite that have what the statements of ``store.sql`` use."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any


class FileConnection(sqlite3.Connection):
    """A connection to a file, with the form of ``store.database.connection.Connection``."""

    def last_number(self, table: str) -> int:
        """Return the highest number that was ever given to a row of a table; 0 if there was none."""
        found = self.execute("select seq from sqlite_sequence where name = ?", (table,)).fetchone()
        return int(found[0]) if found else 0

    def set_last_number(self, table: str, number: int) -> None:
        """Let the numbers of new rows of a table follow after ``number``, if it is above 0."""
        if number:
            self.execute("delete from sqlite_sequence where name = ?", (table,))
            self.execute("insert into sqlite_sequence (name, seq) values (?, ?)", (table, number))

    def stream(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows of a statement without values, of which only one is in memory at a time."""
        return self.execute(statement)

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows into a table as they come, of which only one is in memory at a time."""
        places = ", ".join("?" * len(columns))
        self.executemany(f"insert into {table} ({', '.join(columns)}) values ({places})", rows)


def connect(path: str, *, timeout_s: float = 5.0, is_uri: bool = False) -> FileConnection:
    """Open a connection that any thread may use and whose transactions the caller begins and ends.

    ``timeout_s``: how long, in seconds, a statement waits for another program that has locked the file.
    """
    db = sqlite3.connect(
        path, uri=is_uri, timeout=timeout_s, isolation_level=None, check_same_thread=False, factory=FileConnection
    )
    db.create_function("folded_text", 1, str.casefold, deterministic=True)
    return db
