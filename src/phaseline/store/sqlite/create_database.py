"""Create a new store: fill it under another name and move it into place, which waits for the disk once instead of nine times.

In place, SQLite would wait at each step for its journal and for the folder. Nothing depends on a file that is not in
its place yet. SQLite waits for the folder before the first commit returns, because it then creates the log of the
store.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from phaseline.store.codec.limits import IDENTITY_BYTES, PAGE_BYTES
from phaseline.store.sql import schema
from phaseline.store.sqlite.file_identity import remember, spot_of

UNIQUE_BYTES = 4


def put(path: str, now: int) -> None:
    """A store where there is no file. Raises: OSError, also where files cannot have two names; ``FileExistsError``."""
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
    """Set the options that an empty file needs before anything is written to it."""
    db.execute(f"pragma page_size = {PAGE_BYTES}")
    db.execute("pragma auto_vacuum = incremental")


def fill(db: sqlite3.Connection, now: int) -> None:
    """All tables, in a transaction of the caller."""
    for statement in schema.TABLES:
        db.execute(statement)
    db.execute("insert into alembic_version values (?)", (schema.REVISION,))
    db.execute(
        "insert into store (identity, created_at, epoch) values (?, ?, 0)", (os.urandom(IDENTITY_BYTES).hex(), now)
    )
    db.execute(f"pragma application_id = {schema.APPLICATION_ID}")
    db.execute(f"pragma user_version = {schema.SCHEMA_VERSION}")
