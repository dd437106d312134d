"""Restore of a store from a backup: all of it or nothing, with a new incarnation (rule BK4).

The new file is completed beside the present store, which is not touched until then. Then the present store is copied
aside, and the last step is a single rename. No other process may have the old file open meanwhile, because a log of the
old store beside the new file would destroy the new one.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.maintenance import RestoredStore
from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.relational import incarnations
from phaseline.store.sql import errors as failures
from phaseline.store.sqlite import database_file as file
from phaseline.store.sqlite import errors as sqlite_errors
from phaseline.store.sqlite import file_identity as whereabouts
from phaseline.store.sqlite.backup import fill, make_private, to_disk
from phaseline.store.sqlite.database_file import connect
from phaseline.store.sqlite.owner_lock import OwnerLock

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = "phaseline store restore"
PATIENCE_S = 5.0
"""How long, in seconds, to wait for other processes to close the store; commands that only read end earlier."""
TRY_EVERY_S = 0.05
TAILS = ("", "-wal", "-shm")
"""Endings of the names of SQLite's files for one database."""


def restore(source: str, path: str, now: int) -> RestoredStore:
    """Replace the store at ``path`` by the one in ``source``. An old store is kept beside it.

    If ``source`` is ``path``, such as after the whole file system was reset, the store only gets a new incarnation.
    Raises: PL-S014 if ``source`` is not a backup, PL-S002 if a newer version wrote it, PL-S004 while an engine runs,
    PL-S005 while other processes have the store open. After each of these problems, nothing has changed.
    """
    raise_if_missing(source)
    lock = OwnerLock(path + ".lock")
    try:
        file.make_folder(Path(path).parent)
        lock.take(COMMAND, now)
        memory = lock.memory()
        if Path(path).exists() and Path(source).samefile(path):
            return RestoredStore(path, "", _again(path, now, memory.epoch if memory else 0))
        part = f"{path}.restoring"
        try:
            remove(part, TAILS)
            waiting = _make(source, part, path, now)
            with _aside(path) as kept:
                Path(part).replace(path)
                to_disk(str(Path(path).parent))
            return RestoredStore(path, kept, waiting)
        finally:
            remove(part, (*TAILS, "-journal"))
    except sqlite3.Error as error:
        raise sqlite_errors.as_problem(error, path) from error
    except OSError as error:
        raise failures.cannot_restore(source, error.strerror or str(error)) from error
    finally:
        lock.release()


def raise_if_missing(source: str) -> None:
    """Raise PL-S014 if there is no file, or an empty one."""
    try:
        if Path(source).stat().st_size and Path(source).is_file():
            return
        reason = "it is empty, or no file"
    except OSError as error:
        reason = error.strerror or str(error)
    raise failures.cannot_restore(source, reason)


def _again(path: str, now: int, epoch: int) -> int:
    """Begin a new incarnation of the store without replacing it; return how many executions wait."""
    file.require_our_schema(path)
    with closing(file.open_writer(path)) as db:
        file.begin_writing(db, file.TURN_PATIENCE_S)
        waiting = incarnations.begin_another(db, "restored in place", now, epoch)
        whereabouts.remember(db, whereabouts.spot_of(path))
        db.execute("commit")
    return waiting


def _make(source: str, part: str, path: str, now: int) -> int:
    """Write the complete new store for ``path`` to the disk; return how many of its executions wait."""
    make_private(part)
    try:
        with closing(file.open_looker(source, leaves_nothing=True)) as found:
            fill(found, part)
        if file.require_our_schema(part) < SCHEMA_VERSION:
            from phaseline.store.migrations import upgrade

            upgrade(part)
    except sqlite3.Error as error:
        raise failures.cannot_restore(source, str(error)) from error
    except ProblemsError as error:
        if error.problems[0].code == "PL-S002":
            raise
        raise failures.cannot_restore(source, error.problems[0].message) from error
    return settle(part, path, f"restored from {source}", now)


def settle(part: str, path: str, cause: str, now: int) -> int:
    """Begin a new incarnation in the file ``part``, which will be moved to ``path``; return how many executions wait."""
    memory = OwnerLock(path + ".lock").memory()
    with closing(connect(part)) as db:
        db.execute("begin immediate")
        is_known = memory is not None and memory.identity == whereabouts.remembered(db)[0]
        epoch = memory.epoch if memory is not None and is_known else 0
        waiting = incarnations.begin_another(db, cause, now, epoch)
        whereabouts.remember(db, whereabouts.spot_of(part, path))
        db.execute("commit")
        db.execute("pragma journal_mode = wal")
    to_disk(part)
    return waiting


@contextmanager
def _aside(path: str) -> Iterator[str]:
    """Copy the store at ``path`` to a file beside it, and keep other processes out of the store meanwhile.

    Yield the path of the copy; empty if there was no store.
    """
    if not os.path.lexists(path):
        remove(path, TAILS[1:])
        yield ""
        return
    kept = _free_name(path)
    db = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        try:
            alone(db, path)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and not sqlite_errors.is_damage(error):
                raise
            db.close()  # it cannot be read as a store: it is kept to the byte
            _keep(path, kept, TAILS[:2])
            remove(path, TAILS[1:])
            yield kept
            return
        _keep(path, kept, TAILS[:1])
        with closing(sqlite3.connect(kept, isolation_level=None)) as copy:
            copy.execute("pragma journal_mode = wal")
        is_replaced = False
        try:
            yield kept
            is_replaced = True
        finally:
            db.rollback()
            if not is_replaced:
                db.execute("pragma journal_mode = wal")
                remove(kept, TAILS)
    finally:
        db.close()


def alone(db: sqlite3.Connection, path: str) -> None:
    """Move the write-ahead log into the store's file and lock the file. Raises PL-S005 if a process has it open."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            if db.execute("pragma journal_mode = delete").fetchone()[0] == "delete":
                db.execute("begin exclusive")
                return
        except sqlite3.OperationalError as error:
            if not sqlite_errors.is_busy(error):
                raise
        if time.monotonic() > end:
            raise failures.in_use(path)
        time.sleep(TRY_EVERY_S)


def _keep(path: str, kept: str, tails: tuple[str, ...]) -> None:
    for tail in tails:
        if os.path.lexists(path + tail):
            os.close(os.open(kept + tail, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            shutil.copyfile(path + tail, kept + tail)
            to_disk(kept + tail)


def _free_name(path: str) -> str:
    number = 1
    while os.path.lexists(name := f"{path}.before-restore{f'-{number}' * (number > 1)}.db"):
        number += 1
    return name


def remove(path: str, tails: tuple[str, ...]) -> None:
    """Remove the files whose names are ``path`` and one of ``tails``, as far as they exist."""
    for tail in tails:
        with suppress(FileNotFoundError):
            Path(path + tail).unlink()
