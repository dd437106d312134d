"""The file of a store: creation with mode 0600, recognition, upgrade to the present tables, connections."""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.database import compatibility, schema
from phaseline.store.relational import incarnations
from phaseline.store.sql import errors as failures
from phaseline.store.sqlite import errors as sqlite_errors
from phaseline.store.sqlite import file_identity as whereabouts
from phaseline.store.sqlite.file_identity import FileIdentity
from phaseline.store.sqlite.owner_lock import Memory, OwnerLock

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

T = TypeVar("T")

BUSY_TIMEOUT_S = 5.0
"""How long, in seconds, a statement waits for another program that has locked the file."""
TURN_PATIENCE_S = 30.0
"""How long, in seconds, a writer waits for other writers, all of which use short transactions."""
TRY_EVERY_S = 0.001
"""Seconds between two attempts to begin writing.

SQLite's own waiting sleeps up to 100 ms, so it may miss every gap that a busy owner leaves between two turns.
"""
LONGEST_TRY_S = 1.0
"""Most seconds counted for one attempt: if one takes longer, the whole machine was paused."""
CHECKPOINT_PAGES = 4_000
"""Number of pages in the write-ahead log from which on they are copied into the file."""
CHECKPOINT_PAGES_OFTEN = 500
"""The same number for the slices of a purge, so that copying takes only a part of a slice."""
LOG_BYTES_KEPT = 64 * 1024 * 1024
"""Size in bytes to which the write-ahead log is cut back after a large transaction."""
CACHE_KIB = 16 * 1024
"""Memory for cached pages of each connection, in KiB."""
ONE_NAME = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.ENAMETOOLONG)
"""Error codes of file systems that cannot give a file a second name (hard link)."""
UPGRADE = "upgrade of the store"
"""Command that the lock file names while a store is upgraded."""
UPGRADE_PATIENCE_S = 600.0
"""How long, in seconds, other processes wait for an upgrade that is under way."""
COPIES_KEPT = 100
"""Largest number of copies kept of upgraded stores of one name; then upgrades are refused until some are moved."""


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


class Readiness(NamedTuple):
    """Notices for the user, and the version of the tables if they are newer and this version may only read them, else 0.

    ``is_upgraded``: the first notice is that of an upgrade by this process.
    """

    notices: tuple[str, ...] = ()
    read_only_version: int = 0
    is_upgraded: bool = False


def make_ready(path: str, now: int) -> Readiness:
    """Make sure that the file exists, is a store and has the present tables.

    Raises: ``ProblemsError`` (PL-S...).
    """
    try:
        _make_file(path, now)
        with closing(_connect(path)) as db:
            found = version_of(db, path)
            if found == 0:
                _create(db, path, now)
            else:
                _keep_log(db)
            if found > schema.SCHEMA_VERSION:
                return Readiness(read_only_version=found)
            if found in (0, schema.SCHEMA_VERSION):
                return Readiness(_recognise(db, path, now))
        notices = _migrate(path, now)
        with closing(_connect(path)) as db:
            return Readiness(notices + _recognise(db, path, now), is_upgraded=bool(notices))
    except sqlite3.Error as error:
        if sqlite_errors.needs_log(error) and os.access(path, os.R_OK):
            _raise_if_unreadable(path)
            return Readiness()
        raise sqlite_errors.as_problem(error, path) from error


def _raise_if_unreadable(path: str) -> None:
    """Raise a problem if this user may only read the store and cannot read it; PL-S005 if its tables are of an older version."""
    try:
        with closing(open_looker(path)) as db:
            found = version_of(db, path)
    except sqlite3.Error as error:
        raise sqlite_errors.as_problem(error, path) from error
    if found < schema.SCHEMA_VERSION:
        raise failures.older_read_only(path, found, schema.SCHEMA_VERSION)


def _recognise(db: FileConnection, path: str, now: int) -> tuple[str, ...]:
    """Detect a copied store and return notices for the user.

    A read-only copy is not marked, because it cannot create anything.
    """
    memory = OwnerLock(path + ".lock").memory()
    try:
        if not _look(db, path, memory)[0]:
            return ()
        db.execute("pragma synchronous = full")
        begin_writing(db, TURN_PATIENCE_S)
        _, cause, spot, epoch = _look(db, path, memory)
        waiting = incarnations.begin_another(db, cause, now, epoch) if cause else 0
        whereabouts.remember(db, spot)
        db.execute("commit")
    except sqlite3.Error as error:
        if sqlite_errors.is_read_only(error) or sqlite_errors.is_damage(error):
            return ()  # damage is reported when it is read
        raise sqlite_errors.as_problem(error, path) from error
    except OSError as error:
        raise failures.cannot_open(path, error.strerror or str(error)) from error
    return (failures.copy_notice(path, cause, waiting),) if cause else ()


def _look(db: sqlite3.Connection, path: str, memory: Memory | None) -> tuple[bool, str, FileIdentity, int]:
    """Return (True if the store must record its path again, why the file is a copy, file identity now, least epoch).

    The second part is empty for the original file. A copy must raise the store's epoch to at least the last part, which
    is the epoch in the lock file, or the store's own without it. ``memory``: the lock file's data, or None.
    """
    identity, epoch, known = whereabouts.remembered(db)
    spot = whereabouts.spot_of(path)
    if memory is not None and memory.identity != identity:
        memory = None  # of the store that was here before
    cause = whereabouts.copied(known, spot, epoch, memory)
    is_same = (known.place, known.inode) == (spot.place, spot.inode)
    return bool(cause) or not is_same, cause, spot, epoch if memory is None else memory.epoch


def raise_if_missing(path: str) -> None:
    """Raise PL-S007 if there is no file: a reading command must not create a store at a mistyped path."""
    try:
        Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        raise failures.nowhere(path) from None
    except OSError as error:
        raise failures.cannot_open(path, error.strerror or str(error)) from error


def open_writer(path: str) -> FileConnection:
    """Open a connection whose commits are on the disk when they return. Begin transactions with ``begin_writing``.

    SQLite itself never waits here: once a transaction has begun, no other process can make it wait. Readers may find
    the file locked for a short time, while its log is restarted or recovered.
    """
    return _connect(
        path,
        "pragma synchronous = full",
        f"pragma wal_autocheckpoint = {CHECKPOINT_PAGES}",
        f"pragma journal_size_limit = {LOG_BYTES_KEPT}",
        f"pragma cache_size = -{CACHE_KIB}",
        "pragma busy_timeout = 0",
    )


def open_reader(path: str) -> FileConnection:
    """Open a read-only connection, also to a read-only file."""
    pragmas = ("pragma query_only = on", f"pragma cache_size = -{CACHE_KIB}")
    try:
        return _connect(path, *pragmas, "pragma schema_version")
    except sqlite3.OperationalError as error:
        if not sqlite_errors.needs_log(error):
            raise
    db = open_looker(path)
    for pragma in pragmas:
        db.execute(pragma)
    return db


def open_looker(path: str, *, leaves_nothing: bool = False) -> FileConnection:
    """Open a connection that only reads, also on read-only media. Raises: ``sqlite3.Error``.

    ``leaves_nothing``: no process uses the store, so create no log.
    """
    has_log = Path(path + "-wal").exists()
    if leaves_nothing and not has_log:
        return _connect_to(f"{_uri(path)}?mode=ro&immutable=1")
    db = _connect_to(f"{_uri(path)}?mode=ro")
    try:
        db.execute("select 1 from sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        db.close()
        if not sqlite_errors.needs_log(error):
            raise
        # On read-only media no log can be created. Then there is only the file, and no process changes it.
        return _copy_to_look_at(path) if has_log else _connect_to(f"{_uri(path)}?mode=ro&immutable=1")
    return db


def _copy_to_look_at(path: str) -> FileConnection:
    """Open a connection to a copy in memory, for a read-only store whose log was left behind."""
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory(prefix="phaseline-") as folder:
        for tail in ("", "-wal"):
            shutil.copyfile(path + tail, f"{folder}/store{tail}")
        held = _connect_to("file::memory:")
        with closing(sqlite3.connect(f"{folder}/store")) as found:
            found.backup(held)
    return held


def size_of(file: Path) -> int:
    """Return the size of a file in bytes, or 0 if it does not exist."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def require_our_schema(path: str) -> int:
    """Return the version of the tables in the file. Raises: PL-S001 if it is no store, PL-S002 if it is newer."""
    with closing(_connect(path)) as db:
        found = version_of(db, path)
    if not found:
        raise failures.not_a_store(path)
    return found


def begin_writing(db: Connection, patience_s: float) -> None:
    """Begin a transaction on a writing connection as soon as no other process writes."""
    try:
        db.execute("begin immediate")
    except sqlite3.OperationalError as error:
        if not sqlite_errors.is_busy(error):
            raise
        in_turn(lambda: db.execute("begin immediate"), patience_s)


def in_turn(work: Callable[[], T], patience_s: float, clock: Callable[[], float] = time.monotonic) -> T:
    """Return the result of ``work``, which is retried while another process writes, until ``patience_s`` is over.

    A pause of the whole machine, such as a stopped virtual machine, counts as at most ``LONGEST_TRY_S`` of the
    patience.
    """
    left, tried_at = patience_s, clock()
    while True:
        try:
            return work()
        except sqlite3.OperationalError as error:
            if not sqlite_errors.is_busy(error) or left <= 0:
                raise
            time.sleep(TRY_EVERY_S)
        now = clock()
        left -= min(now - tried_at, LONGEST_TRY_S)
        tried_at = now


def _connect(path: str, *pragmas: str) -> FileConnection:
    db = _connect_to(f"{_uri(path)}?mode=rw")  # unlike a bare path this makes no file where the store was removed
    try:
        for pragma in pragmas:
            db.execute(pragma)
    except BaseException:
        db.close()  # the caller never received it, so it cannot close it
        raise
    return db


def _connect_to(uri: str) -> FileConnection:
    return connect(uri, timeout_s=BUSY_TIMEOUT_S, is_uri=True)


def _uri(path: str) -> str:
    return "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _make_file(path: str, now: int) -> None:
    """Create a store that only this user may read, with its folders, unless there is a file."""
    try:
        make_folder(Path(path).parent)
        if not os.path.lexists(path) and _put(path, now):
            return
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        if Path(path).is_dir():
            raise failures.cannot_open(path, "it is a folder") from None
    except OSError as error:
        raise failures.cannot_open(path, error.strerror or str(error)) from error


def _put(path: str, now: int) -> bool:
    """Move a new store to its path. Return False if the file system has no hard links; then create it in place."""
    from phaseline.store.sqlite import create_database as making

    try:
        making.put(path, now)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno in ONE_NAME:
            return False
        raise
    return True


def make_folder(folder: Path) -> None:
    """Create a folder and its parents for this user alone. ``mkdir`` alone sets the mode only on the last one."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(0o700, exist_ok=True)


def version_of(db: FileConnection, path: str) -> int:
    """Return the version of the tables in the file, 0 for an empty file. Raises PL-S001, PL-S002.

    A newer version that this program may write like the present one counts as the present one (UP1).
    """
    (version,) = db.execute("pragma user_version").fetchone()
    (application,) = db.execute("pragma application_id").fetchone()
    if application != schema.APPLICATION_ID:
        if version or application or db.execute("select 1 from sqlite_master limit 1").fetchone():
            raise failures.not_a_store(path)
        return 0
    if version > schema.SCHEMA_VERSION:
        may = compatibility.Access.NONE
        if db.execute(_HAS_LIMITS).fetchone():
            may = compatibility.access_to(db)[1]
        if may is compatibility.Access.NONE:
            raise failures.newer(path, version, schema.SCHEMA_VERSION)
        return schema.SCHEMA_VERSION if may is compatibility.Access.ALL else int(version)
    return int(version)


_HAS_LIMITS = "select 1 from sqlite_master where type = 'table' and name = 'store_schema'"


def _create(db: FileConnection, path: str, now: int) -> None:
    """Create all tables in one transaction. If the process dies before its end, the file stays empty."""
    from phaseline.store.sqlite import create_database as making

    making.shape(db)
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = full")
    db.execute("begin immediate")
    if version_of(db, path) == 0:  # otherwise another process was faster
        making.fill(db, now)
    db.execute("commit")


def _keep_log(db: sqlite3.Connection) -> None:
    """Switch write-ahead logging on again, if a process switched it off to replace the store and then died."""
    with suppress(sqlite3.DatabaseError):  # read-only, in use by others, or damaged, which is reported when it is read
        if db.execute("pragma journal_mode").fetchone()[0] == "delete":
            db.execute("pragma journal_mode = wal")


def _migrate(path: str, now: int) -> tuple[str, ...]:
    """Upgrade an older store as its owner, after copying it; return notices about the copy and the upgrade.

    alembic takes half a second to import, so it is imported only here.
    """
    from phaseline.store.migrations import upgrade

    lock = OwnerLock(path + ".lock")
    try:
        with closing(_connect(path)) as db:
            _take(lock, path, version_of(db, path), now)
            found = version_of(db, path)
            if found == schema.SCHEMA_VERSION:  # another process was faster
                return ()
            kept = _copy_before(db, path)
        try:
            upgrade(path)
        except BaseException:
            Path(kept).unlink()  # the store is as it was: the next try makes its own copy
            raise
    except sqlite3.Error as error:
        raise sqlite_errors.as_problem(error, path) from error
    finally:
        lock.release()
    known = schema.SCHEMA_VERSION
    return (f"The store was brought from schema {found} to {known}; the store as it was before is kept in {kept}",)


def _take(lock: OwnerLock, path: str, found: int, now: int) -> None:
    """Take the owner's lock, waiting for another upgrade.

    Raises PL-S005 while an engine of the older version works, or if the lock cannot be taken.
    """
    end = time.monotonic() + UPGRADE_PATIENCE_S
    while True:
        try:
            lock.take(UPGRADE, now)
        except ProblemsError as error:
            if all(
                problem.code != "PL-S004" for problem in error.problems
            ):  # no other process holds it: waiting would not help
                if os.access(Path(path).parent, os.W_OK):
                    raise
                raise failures.older_read_only(path, found, schema.SCHEMA_VERSION) from error
            holder = lock.holder()
            if time.monotonic() > end or (holder is not None and holder.command != UPGRADE):
                raise failures.older(path, found, schema.SCHEMA_VERSION) from error
        else:
            return


def _copy_before(db: sqlite3.Connection, path: str) -> str:
    """Copy the store to a free name beside it; return the path of the copy."""
    from phaseline.store.sqlite.backup import copy  # for stores of older versions alone

    first = f"{path}.before-v{schema.SCHEMA_VERSION}"
    names = (first, *(f"{first}-{number}" for number in range(2, COPIES_KEPT + 1)))
    name = next((f"{name}.db" for name in names if not os.path.lexists(f"{name}.db")), f"{names[-1]}.db")
    copy(db, name)
    return name
