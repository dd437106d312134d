"""Connections of SQLite that have what the statements of ``store.sql`` use."""

from __future__ import annotations

import sqlite3


class FileConnection(sqlite3.Connection):
    """A connection to a file, with the form of ``store.database.connection.Connection``."""

    def last_number(self, table: str) -> int:
        """Return the highest number that was ever given to a row of a table; 0 if there was none."""
        found = self.execute("select seq from sqlite_sequence where name = ?", (table,)).fetchone()
        return int(found[0]) if found else 0


def connect(path: str, *, timeout_s: float = 5.0, is_uri: bool = False) -> FileConnection:
    """Open a connection that any thread may use and whose transactions the caller begins and ends.

    ``timeout_s``: how long, in seconds, a statement waits for another program that has locked the file.
    """
    db = sqlite3.connect(
        path, uri=is_uri, timeout=timeout_s, isolation_level=None, check_same_thread=False, factory=FileConnection
    )
    db.create_function("folded_text", 1, str.casefold, deterministic=True)
    return db
