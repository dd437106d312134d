"""The tables of a store that are filled with rows of another database: the target of a copy or a restore (ST12, BK5).

All is one transaction: if the process ends before its commit, the server has what it had before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import psycopg

from phaseline.model.rows.maintenance import RestoredStore
from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.postgres import errors, lease, schema
from phaseline.store.postgres.connections import LOCK_PATIENCE_S, PostgresConnections
from phaseline.store.postgres.url import shown
from phaseline.store.relational import incarnations
from phaseline.store.relational.connections import Problems
from phaseline.store.relational.copying import UncopiedRowsError, all_columns, is_unused, raise_if_newer
from phaseline.store.sql import deployments as writes
from phaseline.store.sql import errors as failures
from phaseline.store.sql import queries as reads

if TYPE_CHECKING:
    from phaseline.store.postgres.connection import PostgresConnection

IDLE_S = 60
"""The server ends the session if it receives no statement for so many seconds within the transaction."""
_SETTINGS = (
    f"set statement_timeout = 0; set lock_timeout = '{LOCK_PATIENCE_S}s'; "
    f"set idle_in_transaction_session_timeout = '{IDLE_S}s'; set client_min_messages = warning"
)
EPOCHS_SKIPPED = 1_000_000
"""By how much a restore raises the epoch: owners whose turns the backup does not know had at most so many."""
NAME_LENGTH = 63
"""Largest number of bytes of a name in PostgreSQL."""
Fill = Callable[["PostgresConnection"], object]
"""Writes the rows into the tables of a connection, within a transaction."""


def receive(url: str, identity: str, fill: Fill, cause: str, now: int) -> int:
    """Make a store in a database that has none yet, and begin a new incarnation; return how many executions wait.

    ``identity``: that of the store whose rows ``fill`` writes. If anything fails, the database is unchanged.
    Raises: PL-S001, PL-S002 or PL-S017 if something is there already, PL-S004, PL-S030 to PL-S038, UncopiedRowsError.
    """
    with _alone(url) as (db, path):
        version = schema.version_of(db, path)
        if version:
            if reads.identity(db) == identity:
                raise failures.same_store(path)
            _raise_if_owned(db, path)
            if version < SCHEMA_VERSION or not is_unused(db):
                raise failures.occupied(path)
            raise_if_newer(db, path)
        else:
            schema.create(db, identity, now)
        fill(db)
        waiting = incarnations.begin_another(db, cause, now)
        _analyze(db)
    return waiting


def restore(url: str, fill: Fill, cause: str, now: int) -> RestoredStore:
    """Replace the store in a database, and begin a new incarnation. The present tables are moved to another schema.

    Raises: PL-S001 if the database has other tables, PL-S002, PL-S004 while an engine runs, PL-S005 while other
    processes use the tables, PL-S030 to PL-S038. After each of these problems, nothing has changed.
    """
    with _alone(url) as (db, path):
        kept, epoch, count = "", 0, 0
        version = schema.version_of(db, path)
        if version:
            _raise_if_owned(db, path)
            if version >= SCHEMA_VERSION:
                raise_if_newer(db, path)
            epoch = writes.epoch(db) + EPOCHS_SKIPPED
            count = _one(db, "select number from write_count")
            kept = _move_aside(db, path)
        schema.create(db, "", now)
        fill(db)
        waiting = incarnations.begin_another(db, cause, now, epoch)
        db.execute("update write_count set number = number + ?", (count,))  # other processes see a change
        _analyze(db)
    return RestoredStore(path, kept, waiting)


def restore_in_place(url: str, now: int) -> RestoredStore:
    """Begin a new incarnation of a store whose database was set back by the tools of the server.

    Raises: PL-S004 while an engine runs, PL-S007, PL-S030 to PL-S038.
    """
    with _alone(url) as (db, path):
        if not schema.version_of(db, path):
            raise failures.nowhere(path)
        _raise_if_owned(db, path)
        epoch = writes.epoch(db) + EPOCHS_SKIPPED
        waiting = incarnations.begin_another(db, "restored in place", now, epoch)
        db.execute("update write_count set number = number + 1")
    return RestoredStore(path, "", waiting)


@contextmanager
def _alone(url: str) -> Iterator[tuple[PostgresConnection, str]]:
    """Begin a transaction that keeps all others from writing, and commit it at the end; yield (connection, shown URL)."""
    connections = PostgresConnections(url, shown(url), lambda: None)
    path = connections.path
    with Problems(connections), closing(connections.connect(_SETTINGS)) as db:
        schema.raise_if_unfit(db, path)
        schema.begin_alone(db)
        db.transaction = str(_one(db, "select pg_current_xact_id()::text"))
        try:
            yield db, path
            connections.commit(db)
        except BaseException as error:
            if not db.is_lost:
                db.rollback()
            if isinstance(error, psycopg.DataError | psycopg.IntegrityError):
                raise UncopiedRowsError(" ".join(str(error).split())) from error
            raise


def _one(db: PostgresConnection, statement: str) -> int:
    """Return the only value of a statement."""
    row = db.execute(statement).fetchone()
    assert row is not None, "the statement has one row"
    return int(row[0])


def _raise_if_owned(db: PostgresConnection, path: str) -> None:
    present = lease.holder(db)
    if present is not None:
        raise failures.owned(path, str(present))


def _analyze(db: PostgresConnection) -> None:
    """Let the server count the new rows, so that its first plans of queries are good ones."""
    db.script(f"analyze {', '.join(all_columns())}")


def _move_aside(db: PostgresConnection, path: str) -> str:
    """Move the tables and functions of the store to a schema of their own; return its name."""
    name = _free_name(db)
    try:
        db.script(f"create schema {_quoted(name)}")
    except psycopg.errors.InsufficientPrivilege as error:
        raise errors.no_new_schema(path, " ".join(str(error).split())) from error
    known = {*all_columns(), *schema.OWN_TABLES}
    for (table,) in db.execute("select tablename from pg_tables where schemaname = current_schema()").fetchall():
        if table in known:  # the schema may hold other tables, and an earlier version lacks some
            db.script(f"alter table {table} set schema {_quoted(name)}")
    for function in schema.FUNCTIONS:
        db.script(f"alter function {function} set schema {_quoted(name)}")
    return name


def _free_name(db: PostgresConnection) -> str:
    row = db.execute("select current_schema()::text").fetchone()
    assert row is not None, "the store has a schema"
    number = 1
    while True:
        tail = f"_before_restore_{number}"
        name = str(row[0]).encode()[: NAME_LENGTH - len(tail)].decode("utf-8", "ignore") + tail
        if db.execute("select 1 from pg_namespace where nspname = ?", (name,)).fetchone() is None:
            return name
        number += 1


def _quoted(name: str) -> str:
    quotes = name.replace('"', '""')
    return f'"{quotes}"'
