"""The two connections to the file of a store: one writes, one reads, so that readers never wait for a commit.

Each connection is guarded by a lock and may be used from any thread. The contexts for reading and writing are classes
instead of generators, because generators took a tenth of the time of a small turn.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from phaseline.store.sql import errors as failures
from phaseline.store.sqlite import database_file as file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.orders import NewOrder


class Connections:
    """The connections to a store's file, which are opened when first needed.

    ``patience_s``: how long, in seconds, a writer waits for other writers.
    """

    def __init__(self, path: str, on_undone: Callable[[], None]) -> None:
        """``on_undone`` is called when a transaction was not committed."""
        self.path = path
        self.patience_s = file.TURN_PATIENCE_S
        self.on_undone = on_undone
        self.on_asked: Callable[[], None] = lambda: None
        """Function that is called when a transaction with requests has been committed."""
        self.read_guard = threading.RLock()
        self.write_guard = threading.RLock()
        self.one: One | None = None
        """The enclosing ``as_one`` transaction of the thread that holds ``write_guard``, or None."""
        self._looks = 0
        """Nesting depth of reads (``look``), which share one snapshot."""
        self._inode = 0
        """Inode number of the opened file; 0 if no file is open."""
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None

    def reader(self) -> sqlite3.Connection:
        """Return the read-only connection. The caller must hold ``read_guard``."""
        if self._reader is None:
            self._reader = file.open_reader(self.path)
            self._inode = self._found()
        return self._reader

    def refuse_gone(self) -> None:
        """Raise PL-S016 if the file was removed, moved or replaced since it was opened: writes to it would be lost."""
        if self._inode and self._found() != self._inode:
            from phaseline.store.sqlite.file_identity import is_fleeting

            if not self._found() or not is_fleeting(self.path):
                raise failures.gone(self.path)

    def _found(self) -> int:
        try:
            return os.stat(self.path).st_ino  # noqa: PTH116 - looked at many times a second
        except (FileNotFoundError, NotADirectoryError):
            return 0
        except OSError:
            return self._inode

    def look(self) -> sqlite3.Connection:
        """Begin to read: until the matching call of ``looked``, all reads see the same state of the store."""
        self.read_guard.acquire()
        try:
            db = self.reader()
            if not self._looks:
                db.execute("begin")
        except BaseException as error:
            self.read_guard.release()
            problem = problem_of(error, self.path)
            if problem is not None:
                raise problem from error
            raise
        self._looks += 1
        return db

    def looked(self) -> None:
        """End a read that ``look`` began. The next read may see newer data."""
        self._looks -= 1
        try:
            if not self._looks:
                with Problems(self.path):
                    self.reader().rollback()
        finally:
            self.read_guard.release()

    def writer(self) -> sqlite3.Connection:
        """Return the writing connection. The caller must hold ``write_guard``."""
        if self._writer is None:
            self._writer = file.open_writer(self.path)
        return self._writer

    def close(self) -> None:
        """Close both connections. Safe to call twice."""
        for db in (self._reader, self._writer):
            if db is not None:
                db.close()
        self._reader = self._writer = None

    @contextmanager
    def not_waiting(self) -> Iterator[None]:
        """Return a context whose transactions do not wait until they are on the disk.

        Use it for data that is useless after a crash of the machine. Other connections see the data at once. The next
        transaction outside the context also waits until this data is on the disk.
        """
        with Problems(self.path):
            self.writer().execute("pragma synchronous = normal")
            try:
                yield
            finally:
                self.writer().execute("pragma synchronous = full")

    @contextmanager
    def copying_often(self) -> Iterator[None]:
        """Return a context whose commits copy the write-ahead log into the file when it is still small.

        A commit that copies much of the log takes long.
        """
        with Problems(self.path):
            self.writer().execute(f"pragma wal_autocheckpoint = {file.CHECKPOINT_PAGES_OFTEN}")
            try:
                yield
            finally:
                self.writer().execute(f"pragma wal_autocheckpoint = {file.CHECKPOINT_PAGES}")


def problem_of(error: BaseException | None, path: str) -> Exception | None:
    """Return the problem for an error of SQLite; None for other errors and for misuse of SQLite, which is a bug."""
    if isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.ProgrammingError):
        return failures.as_problem(error, path)
    return None


class Problems:
    """A context that raises errors of SQLite as problems."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        """``path``: the file of the store."""
        self._path = path

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise the problem in place of an error of SQLite."""
        problem = problem_of(error, self._path)
        if problem is not None:
            raise problem from error


class Moment:
    """A context in which all reads see one state of the store. Unlike ``ReadSnapshot``, it does not convert errors."""

    __slots__ = ("_connections",)

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def __enter__(self) -> None:
        """Begin the snapshot, which shows the store as it is at the first read."""
        self._connections.look()

    def __exit__(self, *raised: object) -> None:
        """End the snapshot."""
        self._connections.looked()


class ReadSnapshot:
    """A context for reads that all see the same state of the store; reports undecodable values as damage."""

    __slots__ = ("_connections",)

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def __enter__(self) -> sqlite3.Connection:
        """Return the connection to read with."""
        return self._connections.look()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the read; raise the problem in place of an error of SQLite or of decoding."""
        ours = self._connections
        ours.looked()
        if error is None:
            return
        problem = problem_of(error, ours.path)
        if isinstance(error, UnicodeEncodeError):
            problem = failures.unknown_text(error)
        elif isinstance(error, ValueError):
            problem = failures.damaged(ours.path, str(error))
        if problem is not None:
            raise problem from error


class Transaction:
    """A transaction that writes: all or nothing, and on the disk when the context ends."""

    __slots__ = ("_asks", "_check", "_connections", "_db")

    def __init__(
        self, connections: Connections, check: Callable[[sqlite3.Connection], None] | None = None, *, asks: bool = False
    ) -> None:
        """``check`` is called when the transaction has begun; if it raises, the transaction is rolled back.

        ``asks``: the transaction stores a request, so that ``Connections.on_asked`` is called after the commit.
        """
        self._connections = connections
        self._check = check
        self._asks = asks
        self._db: sqlite3.Connection | None = None

    def __enter__(self) -> sqlite3.Connection:
        """Begin as soon as no other process writes, and return the writing connection."""
        ours = self._connections
        ours.write_guard.acquire()
        try:
            self._db = ours.writer()
            if ours.one is None:
                file.begin_writing(self._db, ours.patience_s)
            else:
                ours.one.begin_part(self._db)
            if self._check is not None:
                self._check(self._db)
        except BaseException as error:
            self._undo(error)
            raise
        return self._db

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit, or roll back if something was raised."""
        assert self._db is not None
        if error is None:
            ours, one = self._connections, self._connections.one
            try:
                if one is None:
                    self._db.execute("commit")
                else:
                    one.end_part(self._db)
                    one.asks |= self._asks
            except BaseException as raised:
                self._undo(raised)
                raise
            ours.write_guard.release()
            if self._asks and one is None:
                ours.on_asked()
        else:
            self._undo(error)

    def _undo(self, error: BaseException) -> None:
        """Roll back, and raise the problem for the user if there is one for the error."""
        ours = self._connections
        try:
            ours.on_undone()  # also where SQLite has rolled back by itself, as on a full disk
            with Problems(ours.path):
                if ours.one is not None:
                    ours.one.undo_part()
                elif self._db is not None and self._db.in_transaction:
                    self._db.rollback()
        finally:
            ours.write_guard.release()
        problem = problem_of(error, ours.path)
        if problem is not None:
            raise problem from error


class One:
    """Joins several transactions of one thread into one that is stored as a whole or not at all.

    The first transaction begins it; later ones are savepoints in it.
    """

    __slots__ = (
        "_before", "_connections", "_db", "_is_lost", "_is_saved", "_on_undone", "_order", "_outer", "answer", "asks",
    )  # fmt: skip

    def __init__(self, connections: Connections, order: NewOrder | None, on_undone: Callable[[], None]) -> None:
        """``order``: an order to store in the same transaction. ``on_undone`` is called if nothing was committed."""
        self.answer: dict[str, Value] = {} if order is None else dict(order.answer)
        self._connections = connections
        self._order = order
        self._on_undone = on_undone
        self._before = (0, 0)
        self._db: sqlite3.Connection | None = None
        self._is_saved = self._is_lost = False
        self.asks = False
        """True if one of the joined transactions has stored a request."""
        self._outer: One | None = None

    def __enter__(self) -> dict[str, Value]:
        """Begin to join transactions; return the order's answer, to be filled. A nested ``One`` joins the outer one."""
        ours = self._connections
        ours.write_guard.acquire()
        self._outer = ours.one
        if self._outer is not None:
            assert self._order is None, "an order is not part of another one"
            return self.answer
        ours.one = self
        if self._order is not None:
            try:
                from phaseline.store.sql import orders

                with Problems(ours.path):
                    db = ours.writer()
                    self._begin(db)
                    self._before = orders.begin(db, self._order)
            except BaseException:
                self._undo()
                raise
        return self.answer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit, or roll back if something was raised."""
        if self._outer is not None:
            self._connections.write_guard.release()
        elif error is not None:
            self._undo()
        else:
            try:
                with Problems(self._connections.path):
                    self._commit()
            except BaseException:
                self._undo()
                raise
            self._end()
            if self.asks:
                self._connections.on_asked()

    def begin_part(self, db: sqlite3.Connection) -> None:
        """Begin a part: the joined transaction itself, or a savepoint in it."""
        if self._is_lost:
            raise RuntimeError("what was written before was rolled back: nothing may follow it")
        self._is_saved = self._db is not None
        if self._is_saved:
            db.execute("savepoint part")
        else:
            self._begin(db)

    def end_part(self, db: sqlite3.Connection) -> None:
        """Keep the changes of one of the joined transactions. They are still undone if the whole is rolled back."""
        if self._is_saved:
            db.execute("release part")

    def undo_part(self) -> None:
        """Undo the changes of a part. If SQLite has rolled back everything, as on a full disk, forbid further parts."""
        db, is_saved = self._db, self._is_saved
        if db is not None and is_saved and db.in_transaction:
            db.execute("rollback to part")
            db.execute("release part")
        else:
            self._is_lost |= is_saved
            self._roll_back()

    def _begin(self, db: sqlite3.Connection) -> None:
        file.begin_writing(db, self._connections.patience_s)
        self._db = db

    def _commit(self) -> None:
        if self._is_lost:
            raise RuntimeError("what was written before was rolled back: nothing of it is stored")
        if self._db is None:
            return
        if self._order is not None:
            from phaseline.store.sql import orders

            self._order.answer = self.answer
            orders.add(self._db, self._order, self._before)
        self._db.execute("commit")
        if self._order is not None:
            self._order.is_stored = True

    def _roll_back(self) -> None:
        if self._db is not None and self._db.in_transaction:
            self._db.rollback()
        self._db = None

    def _undo(self) -> None:
        try:
            self._connections.on_undone()
            self._on_undone()
            with Problems(self._connections.path):
                self._roll_back()
        finally:
            self._end()

    def _end(self) -> None:
        self._connections.one = None
        self._connections.write_guard.release()
