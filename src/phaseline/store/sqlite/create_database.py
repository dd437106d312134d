"""Creation of a new store: fill a file under another name, then move it to its path.

This way SQLite waits for the disk once. At the final path it would wait nine times: at each step for its journal and
for the folder. Losing an unfinished file does no harm. The folder's entry for the moved file is on the disk before the
first commit returns, because SQLite waits for the folder when it creates the store's log.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from phaseline.store.codec.limits import IDENTITY_BYTES, PAGE_BYTES
from phaseline.store.database import schema
from phaseline.store.sqlite.file_identity import remember, spot_of

UNIQUE_BYTES = 4


def put(path: str, now: int) -> None:
    """Create a store at a path without a file.

    Raises: ``FileExistsError``; OSError, also if hard links are impossible.
    """
    beside = f"{path}.new-{os.getpid()}-{os.urandom(UNIQUE_BYTES).hex()}"
    handle = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        try:
            with closing(sqlite3.connect(beside, isolation_level=None)) as db:
                db.execute("pragma synchronous = off")
                db.execute("pragma journal_mode = memory")
                shape(db)
                db.execute("begin")
                fill(db, now)
                remember(db, spot_of(beside, path))
                db.execute("commit")
                db.execute("pragma journal_mode = wal")
            os.fsync(handle)
        finally:
            os.close(handle)
        os.link(beside, path)  # unlike a renaming, this refuses to replace what another process has put there
    finally:
        Path(beside).unlink()


def shape(db: sqlite3.Connection) -> None:
    """Set the options of an empty file that must be set before anything is written to it."""
    db.execute(f"pragma page_size = {PAGE_BYTES}")
    db.execute("pragma auto_vacuum = incremental")


def fill(db: sqlite3.Connection, now: int) -> None:
    """Create all tables and mark the file as a store, in the caller's transaction."""
    make_tables(db, now)
    mark_as_store(db)


def make_tables(db: sqlite3.Connection, now: int) -> None:
    """Create all tables, in the caller's transaction."""
    for statement in schema.TABLES:
        db.execute(statement)
    db.execute("insert into alembic_version values (?)", (schema.REVISION,))
    db.execute(
        "insert into store_schema values (?, ?, ?)", (schema.SCHEMA_VERSION, schema.MIN_READER, schema.MIN_WRITER)
    )
    db.execute(
        "insert into store (identity, created_at, epoch) values (?, ?, 0)", (os.urandom(IDENTITY_BYTES).hex(), now)
    )


def mark_as_store(db: sqlite3.Connection) -> None:
    """Write into the header of the file that it is a store, and the version of its tables."""
    db.execute(f"pragma application_id = {schema.APPLICATION_ID}")
    db.execute(f"pragma user_version = {schema.SCHEMA_VERSION}")
