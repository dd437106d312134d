"""Transactions of a store on a database: snapshots for reading, transactions that write, and joined transactions.

A store has a connection that reads and one that writes, so that readers never wait for a commit. Each is guarded by a
lock and may be used from any thread. The contexts are classes instead of generators, because generators took a tenth of
the time of a small turn.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from phaseline.store.sql import errors as failures

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.model.rows.orders import NewOrder
    from phaseline.store.database.connection import DatabaseConnection
    from phaseline.store.wake_ups import WakeUps


class Connections(ABC):
    """The two connections of a store to its database, which are opened when first needed."""

    brief_s = float("inf")
    """How long, in seconds, a slice of a purge may take, beside the limit of its work."""

    def __init__(self, path: str, on_undone: Callable[[], None]) -> None:
        """``path`` names the store in problems; ``on_undone`` is called when a transaction was not committed."""
        self.path = path
        self.on_undone = on_undone
        self.read_guard = threading.RLock()
        self.write_guard = threading.RLock()
        self.one: One | None = None
        """The enclosing ``as_one`` transaction of the thread that holds ``write_guard``, or None."""
        self._looks = 0
        """Nesting depth of reads (``look``), which share one snapshot."""
        self._listeners: WakeUps | None = None

    @abstractmethod
    def reader(self) -> DatabaseConnection:
        """Return the read-only connection. The caller must hold ``read_guard``."""

    @abstractmethod
    def writer(self) -> DatabaseConnection:
        """Return the writing connection. The caller must hold ``write_guard``."""

    @abstractmethod
    def begin_reading(self) -> DatabaseConnection:
        """Begin a transaction in which all reads see the same state of the store; return its connection."""

    def end_reading(self) -> None:
        """End the transaction that ``begin_reading`` has begun."""
        self.reader().rollback()

    @abstractmethod
    def begin(self) -> DatabaseConnection:
        """Begin a transaction that writes, as soon as no other process writes; return its connection."""

    @abstractmethod
    def not_waiting(self) -> AbstractContextManager[None]:
        """Return a context whose transactions do not wait until they are on the disk.

        Use it for data that is useless after a crash of the machine. Other connections see the data at once.
        """

    @abstractmethod
    def problem_of(self, error: BaseException | None) -> Exception | None:
        """Return the problem for an error of the database; None for other errors and for misuse, which is a bug."""

    @abstractmethod
    def damaged(self, reason: str) -> ProblemsError:
        """Return PL-S003 for a stored value that cannot be decoded."""

    @abstractmethod
    def close(self) -> None:
        """Close the connections. Safe to call twice."""

    def commit(self, db: DatabaseConnection, *, asks: bool = False) -> None:  # noqa: ARG002 - a server needs it
        """Commit the transaction; when this returns, it is on the disk. ``asks``: it stores a request."""
        db.execute("commit")

    def brief(self) -> AbstractContextManager[None]:
        """Return a context for a slice of a purge, whose commit must not take long."""
        return nullcontext()

    # -- wake-ups: a process that only reads or only writes needs none of them (RF6)

    def listeners(self) -> WakeUps:
        """Return the listeners in this process, which are made when first needed."""
        from phaseline.store.wake_ups import WakeUps

        with self.write_guard:
            if self._listeners is None:
                self._listeners = WakeUps()
            return self._listeners

    def tell_owner(self) -> bool:
        """Wake the owner after a transaction with requests. Return True if the owner is in this process."""
        return self._listeners is not None and self._listeners.asked()

    def tell_askers(self) -> None:
        """Wake the threads of this process that wait for answers, after a turn with answers."""
        if self._listeners is not None:
            self._listeners.answered()

    def look(self) -> DatabaseConnection:
        """Begin to read: until the matching call of ``looked``, all reads see the same state of the store."""
        self.read_guard.acquire()
        try:
            db = self.reader() if self._looks else self.begin_reading()
        except BaseException as error:
            self.read_guard.release()
            problem = self.problem_of(error)
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
                with Problems(self):
                    self.end_reading()
        finally:
            self.read_guard.release()


class Problems:
    """A context that raises errors of the database as problems."""

    __slots__ = ("_connections",)

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise the problem in place of an error of the database."""
        problem = self._connections.problem_of(error)
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

    def __enter__(self) -> DatabaseConnection:
        """Return the connection to read with."""
        return self._connections.look()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the read; raise the problem in place of an error of the database or of decoding."""
        ours = self._connections
        ours.looked()
        if error is None:
            return
        problem = ours.problem_of(error)
        if isinstance(error, UnicodeEncodeError):
            problem = failures.unknown_text(error)
        elif isinstance(error, ValueError):
            problem = ours.damaged(str(error))
        if problem is not None:
            raise problem from error


class Transaction:
    """A transaction that writes: all or nothing, and on the disk when the context ends."""

    __slots__ = ("_asks", "_check", "_connections", "_db")

    def __init__(
        self,
        connections: Connections,
        check: Callable[[DatabaseConnection], None] | None = None,
        *,
        asks: bool = False,
    ) -> None:
        """``check`` is called when the transaction has begun; if it raises, the transaction is rolled back.

        ``asks``: the transaction stores a request, so that the owner is woken after the commit.
        """
        self._connections = connections
        self._check = check
        self._asks = asks
        self._db: DatabaseConnection | None = None

    def __enter__(self) -> DatabaseConnection:
        """Begin as soon as no other process writes, and return the writing connection."""
        ours = self._connections
        ours.write_guard.acquire()
        try:
            self._db = self.begin() if ours.one is None else ours.one.begin_part()
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
                    self.commit(self._db)
                else:
                    one.end_part(self._db)
                    one.asks |= self._asks
            except BaseException as raised:
                self._undo(raised)
                raise
            ours.write_guard.release()
            if self._asks and one is None:
                ours.tell_owner()
        else:
            self._undo(error)

    def begin(self) -> DatabaseConnection:
        """Begin the transaction as soon as no other process writes; return its connection."""
        return self._connections.begin()

    def commit(self, db: DatabaseConnection) -> None:
        """Commit the transaction."""
        self._connections.commit(db, asks=self._asks)

    def _undo(self, error: BaseException) -> None:
        """Roll back, and raise the problem for the user if there is one for the error."""
        ours = self._connections
        try:
            ours.on_undone()  # also where the database has rolled back by itself, as SQLite on a full disk
            with Problems(ours):
                if ours.one is not None:
                    ours.one.undo_part()
                elif self._db is not None and self._db.in_transaction:
                    self._db.rollback()
        finally:
            ours.write_guard.release()
        problem = ours.problem_of(error)
        if problem is not None:
            raise problem from error


class One:
    """Joins several transactions of one thread into one that is stored as a whole or not at all.

    The first transaction begins it; later ones are savepoints in it.
    """

    __slots__ = (
        "_before", "_connections", "_db", "_is_lost", "_is_nested", "_is_saved", "_on_undone", "_order", "_outer", "answer",
        "asks",
    )  # fmt: skip

    def __init__(self, connections: Connections, order: NewOrder | None, on_undone: Callable[[], None]) -> None:
        """``order``: an order to store in the same transaction. ``on_undone`` is called if nothing was committed."""
        self.answer: dict[str, Value] = {} if order is None else dict(order.answer)
        self._connections = connections
        self._order = order
        self._on_undone = on_undone
        self._before = (0, 0)
        self._db: DatabaseConnection | None = None
        self._is_saved = self._is_lost = False
        self.asks = False
        """True if one of the joined transactions has stored a request."""
        self._outer: One | None = None
        self._is_nested = False
        """True if this one is a savepoint in the outer one, which had begun."""

    def __enter__(self) -> dict[str, Value]:
        """Begin to join transactions; return the order's answer, to be filled. A nested ``One`` is a part of the outer one."""
        ours = self._connections
        ours.write_guard.acquire()
        self._outer = ours.one
        if self._outer is not None:
            assert self._order is None, "an order is not part of another one"
            try:
                with Problems(ours):
                    self._is_nested = self._outer.begin_nested()
            except BaseException:
                ours.write_guard.release()
                raise
            return self.answer
        ours.one = self
        if self._order is not None:
            try:
                from phaseline.store.sql import orders

                with Problems(ours):
                    self._db = ours.begin()
                    self._before = orders.begin(self._db, self._order)
            except BaseException:
                self._undo()
                raise
        return self.answer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit, or roll back if something was raised."""
        if self._outer is not None:
            try:
                with Problems(self._connections):
                    self._outer.end_nested(is_saved=self._is_nested, is_kept=error is None)
            finally:
                self._connections.write_guard.release()
        elif error is not None:
            self._undo()
        else:
            try:
                with Problems(self._connections):
                    self._commit()
            except BaseException:
                self._undo()
                raise
            self._end()
            if self.asks:
                self._connections.tell_owner()

    def begin_nested(self) -> bool:
        """Begin a nested ``One``. Return True if it is a savepoint; False if nothing was written before it."""
        if self._db is None:
            return False
        self._db.execute("savepoint nested")
        return True

    def end_nested(self, *, is_saved: bool, is_kept: bool) -> None:
        """Keep what a nested ``One`` has written, or undo it; what was written before stays."""
        db = self._db
        if db is None:
            return
        if not is_kept:
            self._connections.on_undone()
            self._on_undone()
            if not is_saved:
                self._roll_back()
                return
            if not db.in_transaction:
                self._is_lost = True
                return
            db.execute("rollback to nested")
        if is_saved:
            db.execute("release nested")

    def begin_part(self) -> DatabaseConnection:
        """Begin a part, which is the joined transaction itself or a savepoint in it; return its connection."""
        if self._is_lost:
            raise RuntimeError("what was written before was rolled back: nothing may follow it")
        self._is_saved = self._db is not None
        if self._db is None:
            self._db = self._connections.begin()
        else:
            self._db.execute("savepoint part")
        return self._db

    def end_part(self, db: DatabaseConnection) -> None:
        """Keep the changes of one of the joined transactions. They are still undone if the whole is rolled back."""
        if self._is_saved:
            db.execute("release part")

    def undo_part(self) -> None:
        """Undo the changes of a part. If the database has rolled back everything, as on a full disk, forbid further parts."""
        db, is_saved = self._db, self._is_saved
        if db is not None and is_saved and db.in_transaction:
            db.execute("rollback to part")
            db.execute("release part")
        else:
            self._is_lost |= is_saved
            self._roll_back()

    def _commit(self) -> None:
        if self._is_lost:
            raise RuntimeError("what was written before was rolled back: nothing of it is stored")
        if self._db is None:
            return
        if self._order is not None:
            from phaseline.store.sql import orders

            self._order.answer = self.answer
            orders.add(self._db, self._order, self._before)
        self._connections.commit(self._db, asks=self.asks)
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
            with Problems(self._connections):
                self._roll_back()
        finally:
            self._end()

    def _end(self) -> None:
        self._connections.one = None
        self._connections.write_guard.release()
