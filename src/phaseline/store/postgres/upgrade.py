"""Upgrade of a store in PostgreSQL to the present tables, while other processes may use the store (ST11, UP3).

Each migration is a short transaction under the store's lock. Indexes of large tables are made before it by ``create index
concurrently``, during which others may write. If a process dies at any moment, the next one continues: a migration is
stored whole or not at all, a whole index is kept, and an unfinished one is made again.
"""

from __future__ import annotations

import re
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import psycopg

from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.database.table_shapes import converted
from phaseline.store.postgres import lease, schema
from phaseline.store.postgres.connection import PostgresConnection
from phaseline.store.postgres.connections import LOCK, LOCK_PATIENCE_S, TAKE_LOCK, TRY_EVERY_S, WRITER
from phaseline.store.sql import errors as failures

if TYPE_CHECKING:
    from phaseline.store.migrations import DueMigration
    from phaseline.store.postgres.connections import PostgresConnections

UPGRADE_PATIENCE_S = 600.0
"""How long, in seconds, a process waits for an upgrade by another process."""
INDEX_PATIENCE_S = 120
"""How long, in seconds, the making of an index waits for a transaction that was begun before it."""
TABLE_PATIENCE_MS = 500
"""How long, in ms, a migration waits for those that read a table which it changes: others queue behind it meanwhile."""
UPGRADE_LOCK = f"{LOCK + 1}, hashtext(current_schema()::text)"
"""Key of the lock of the process that upgrades the store; it holds the lock with its session."""

_SETTINGS = f"{WRITER}; set statement_timeout = 0; set lock_timeout = '{INDEX_PATIENCE_S}s'"
_IS_WHOLE = """select case when indisvalid then 1 else 0 end from pg_index join pg_class on pg_class.oid = indexrelid
    where relname = ? and relnamespace = cast(current_schema()::text as regnamespace)"""
_INDEX = re.compile(r"create (unique )?index (\w+) (.*)", re.DOTALL)
_PROGRESS = """select relname, blocks_done, blocks_total from pg_stat_progress_create_index
    join pg_class on pg_class.oid = index_relid
    where relnamespace = cast(current_schema()::text as regnamespace) and blocks_total > 0"""


def upgrade(connections: PostgresConnections, url: str) -> str:
    """Bring the tables of an older version to the present version; return a notice for the user.

    The notice is empty if another process has done it. Raises: PL-S005 while an engine of the older version owns the
    store, or if another process upgrades it for too long.
    """
    from phaseline.store.migrations import due  # alembic takes half a second to import

    with closing(connections.connect(_SETTINGS)) as db:
        found = _wait_for_turn(connections, db)
        if found >= SCHEMA_VERSION:
            return ""
        for revision in due(found):
            for index in revision.indexes:
                _make_index(db, converted(index))
            _migrate(connections, url, revision)
    return f"The store was brought from schema {found} to {SCHEMA_VERSION}"


def _wait_for_turn(connections: PostgresConnections, db: PostgresConnection) -> int:
    """Wait until no other process upgrades the store, and keep others from it; return the version of the tables then.

    The lock is tried again and again: a session that waits for it would keep an index from being finished.
    """
    end = time.monotonic() + UPGRADE_PATIENCE_S
    while True:
        owner = lease.holder(db)
        found = schema.version_of(db, connections.path)  # read second: an upgraded store may have an owner
        if found >= SCHEMA_VERSION:
            return found
        if owner is not None:
            raise failures.older(connections.path, found, SCHEMA_VERSION)
        if db.script(f"select pg_try_advisory_lock({UPGRADE_LOCK})") == (True,):
            return schema.version_of(db, connections.path)
        if time.monotonic() > end:
            raise failures.older(connections.path, found, SCHEMA_VERSION)
        time.sleep(TRY_EVERY_S)


def _make_index(db: PostgresConnection, statement: str) -> None:
    """Make an index without keeping others from writing. One that a killed process has left unfinished is made again."""
    told = _INDEX.fullmatch(statement)
    assert told is not None, statement
    unique, name, rest = told.groups("")
    row = db.execute(_IS_WHOLE, (name,)).fetchone()
    if row is not None and row[0]:
        return
    if row is not None:
        db.script(f"drop index concurrently {name}")
    db.script(f"create {unique}index concurrently {name} {rest}")


def _migrate(connections: PostgresConnections, url: str, revision: DueMigration) -> None:
    """Do one migration, as soon as no other process writes or reads a table that it changes for a long time."""
    from phaseline.store.migrations import upgrade_database

    def connect() -> psycopg.Connection[Any]:
        return psycopg.connect(url)

    def check(db: psycopg.Connection[Any]) -> None:
        if lease.holder(PostgresConnection.of(db)) is not None:
            raise failures.older(connections.path, int(revision.name) - 1, SCHEMA_VERSION)

    begin = (
        f"set local lock_timeout = '{LOCK_PATIENCE_S}s'",
        TAKE_LOCK,
        f"set local lock_timeout = {TABLE_PATIENCE_MS}",
    )
    end = time.monotonic() + LOCK_PATIENCE_S
    while True:
        try:
            return upgrade_database(connect, begin, revision.name, check)
        except psycopg.errors.LockNotAvailable:
            if time.monotonic() > end:
                raise
        time.sleep(TRY_EVERY_S)


def indexes_under_way(db: PostgresConnection) -> list[tuple[str, int, int]]:
    """Return (name, blocks done, blocks in total) of the indexes of the store that are being made."""
    return db.execute(_PROGRESS).fetchall()
