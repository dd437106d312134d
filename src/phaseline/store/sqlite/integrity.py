"""Integrity check of a store in a file, which changes nothing.

First SQLite checks the pages of the file, then the stored rows are checked. All checks use one snapshot, so an engine may
work meanwhile.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

from phaseline.model.rows.maintenance import StoreFinding
from phaseline.store.relational.integrity import inconsistencies
from phaseline.store.sqlite.database_file import FileConnection

DAMAGES_TOLD = 20
"""Largest number of damages of the file that are listed."""


def check(db: FileConnection) -> list[StoreFinding]:
    """Return all inconsistencies of the store, from the file's pages to the last value."""
    db.create_function("can_be_read", 1, _can_be_read, deterministic=True)
    db.execute("begin")
    try:
        return [*_damages(db), *inconsistencies(db, sqlite3.DatabaseError)]
    finally:
        db.rollback()


def _can_be_read(text: object) -> bool:
    """Return True if Python can read a value that SQLite rejects as JSON.

    Earlier versions stored NaN and infinity, which SQLite rejects.
    """
    try:
        json.loads(text)  # type: ignore[arg-type]  # if it is no text, that is what is to be found out
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _damages(db: sqlite3.Connection) -> Iterator[StoreFinding]:
    try:
        for (text,) in db.execute(f"pragma integrity_check({DAMAGES_TOLD})"):
            if text != "ok":
                yield StoreFinding("file", str(text))
    except sqlite3.DatabaseError as error:
        yield StoreFinding("file", str(error))
