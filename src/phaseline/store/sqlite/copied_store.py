"""A new file of a store that is filled with rows: a backup of a database, or the target of a copy (ST12, BK2).

The rows are written into a file with another name, which gets the name of the store when it is whole and on the disk.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.relational.copying import UncopiedRowsError, is_unused, raise_if_newer
from phaseline.store.sql import errors as failures
from phaseline.store.sqlite import create_database
from phaseline.store.sqlite import database_file as file
from phaseline.store.sqlite import errors as sqlite_errors
from phaseline.store.sqlite import file_identity as whereabouts
from phaseline.store.sqlite.backup import make_private, raise_if_damaged, to_disk
from phaseline.store.sqlite.database_file import FileConnection, connect
from phaseline.store.sqlite.owner_lock import OwnerLock
from phaseline.store.sqlite.restore import TAILS, alone, remove, settle

COMMAND = "phaseline store copy"
"""Command that the lock file names meanwhile."""
Fill = Callable[[FileConnection], object]
"""Writes the rows into the tables of a connection, within a transaction."""


def fill_part(part: str, fill: Fill) -> None:
    """Make the tables of a store in the empty file ``part``, fill them, mark the file as a copy and check its pages.

    Raises: ``sqlite3.Error``, and what ``fill`` raises.
    """
    with closing(connect(part)) as db:
        db.execute("pragma synchronous = off")  # the caller waits for the disk when the file is whole
        db.execute("pragma journal_mode = memory")
        create_database.shape(db)
        db.execute("begin")
        create_database.make_tables(db, 0)
        db.execute("commit")
        db.execute("begin")
        fill(db)
        whereabouts.mark_as_copy(db)
        db.execute("commit")
        create_database.mark_as_store(
            db
        )  # last: tables without this mark, as a killed process leaves them, are no store
        db.execute("pragma journal_mode = wal")
        raise_if_damaged(db)


def receive(path: str, identity: str, fill: Fill, cause: str, now: int) -> int:
    """Make the store at ``path``, where none is yet, and begin a new incarnation; return how many executions wait.

    ``identity``: that of the store whose rows ``fill`` writes. If anything fails, nothing is at ``path``.
    Raises: PL-S001, PL-S002 or PL-S017 if something is there already, PL-S004, PL-S005, UncopiedRowsError.
    """
    part, lock = f"{path}.copying", OwnerLock(f"{path}.lock")
    try:
        _raise_if_taken(path, identity)
        file.make_folder(Path(path).parent)
        lock.take(COMMAND, now)
        try:
            remove(part, TAILS)
            make_private(part)
            _fill(part, fill)
            waiting = settle(part, path, cause, now)
            _put(part, path, identity)
        finally:
            remove(part, (*TAILS, "-journal"))
    except sqlite3.Error as error:
        raise sqlite_errors.as_problem(error, path) from error
    except OSError as error:
        raise failures.cannot_open(path, error.strerror or str(error)) from error
    finally:
        lock.release()
    return waiting


def _fill(part: str, fill: Fill) -> None:
    try:
        fill_part(part, fill)
    except sqlite3.IntegrityError as error:
        raise UncopiedRowsError(str(error)) from error


def _raise_if_taken(path: str, identity: str) -> None:
    """Raise a problem if there is a file, other than an empty one and a store in which nothing was stored yet."""
    if Path(path).is_dir():
        raise failures.cannot_open(path, "it is a folder")
    if file.size_of(Path(path)):
        found = file.require_our_schema(path)
        with closing(file.open_looker(path, leaves_nothing=True)) as db:
            _raise_if_used(db, path, identity, found)


def _raise_if_used(db: FileConnection, path: str, identity: str, version: int) -> None:
    if whereabouts.remembered(db)[0] == identity:
        raise failures.same_store(path)
    if version != SCHEMA_VERSION or not is_unused(db):
        raise failures.occupied(path)
    raise_if_newer(db, path)


def _put(part: str, path: str, identity: str) -> None:
    """Give the file ``part`` its name ``path``."""
    if os.path.lexists(path):
        with _nobody_in(path, identity):
            Path(part).replace(path)
    else:
        remove(path, TAILS[1:])
        _give_name(part, path)
    to_disk(str(Path(path).parent))


def _give_name(part: str, path: str) -> None:
    try:
        os.link(part, path)  # unlike a renaming, this never replaces a file
    except FileExistsError:
        raise failures.occupied(path) from None
    except OSError as error:
        if error.errno not in file.ONE_NAME:
            raise
        Path(part).rename(path)


@contextmanager
def _nobody_in(path: str, identity: str) -> Iterator[None]:
    """Keep other processes out of an unused store that is about to be replaced."""
    with closing(connect(path, timeout_s=0)) as db:
        alone(db, path)
        try:
            if db.execute("select 1 from sqlite_master limit 1").fetchone():
                _raise_if_used(db, path, identity, SCHEMA_VERSION)
            yield
        finally:
            db.rollback()
