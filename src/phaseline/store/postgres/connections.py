"""The connections to the database of a store: one writes and one reads, so that readers never wait for a commit.

All transactions that write take one lock of the store, so they come one after another as in SQLite, and a check at the
beginning of a transaction holds until its end. A lost connection is made again before a transaction begins. Whether a
commit succeeded whose answer was lost is asked of the server, by the number of the transaction or of the turn (ST9).
"""

from __future__ import annotations

import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, cast

import psycopg

from phaseline.lang.fast_dataclasses import mutable
from phaseline.model.problems.problem import ProblemsError
from phaseline.store.postgres import errors
from phaseline.store.postgres.connection import PostgresConnection
from phaseline.store.postgres.url import schema_in
from phaseline.store.relational.connections import Connections, Problems, Transaction
from phaseline.store.sql import errors as failures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from phaseline.store.database.connection import DatabaseConnection


_BUGS = frozenset(("21", "22", "23", "26", "2B", "34", "42"))
"""Classes of SQLSTATEs that only a wrong statement causes, except for missing rights (42501)."""
_PASSING = frozenset(("PL-S030", "PL-S035", "PL-S036"))
"""Codes of problems that may end by themselves."""
NO_RIGHT, LOCK_TIMEOUT, UNKNOWN_TRANSACTION = "42501", "55P03", "22023"
"""SQLSTATEs: the user lacks a right, a lock was not released in time, the server has not begun such a transaction yet."""
OTHER_EPOCH, OTHER_TURN = "PL004", "PL035"
"""SQLSTATEs with which the function ``begin_turn`` refuses a turn: the store has another epoch, or another last turn."""
FENCED = (OTHER_EPOCH, OTHER_TURN)
LOST = "PL-S035"
"""Code of the problem of a lost connection."""

LEASE_S = 4
"""How long, in seconds, an owner stays the owner without renewing its lease; nothing that it does may wait longer."""
LOCK_PATIENCE_S = 30
"""How long, in seconds, a transaction waits for the other transactions that write."""
STATEMENT_S = 300
"""How long, in seconds, a statement may take."""
IDLE_READER_S = 60
"""How long, in seconds, a reader may do nothing within a transaction, which keeps the server from removing old rows."""
STALLED_S = 2
"""Seconds for which a client must have sent nothing in a transaction before a process that waits for it ends its session."""
TRY_EVERY_S = 0.05
"""Seconds between two attempts to connect again."""
SHARD = 0
"""Number of the one shard that all deployments belong to (HA1)."""
CHANNEL = f"'phaseline_{SHARD}_' || to_hex(hashtext(current_schema()::text))"
"""SQL for the name of the channel on which the owner of the store gets notices: each schema has its own (ST8)."""
LOCK = 0x5048_4C4E
"""First half of the number of the store's lock ("PHLN"); the second half is made of the schema's name."""

TAKE_LOCK = f"select pg_advisory_xact_lock({LOCK}, hashtext(current_schema()::text))"
"""Statement that waits until no other transaction writes, and keeps others from writing until its own ends."""
_COUNT = """update write_count set number = number + 1
    returning number, pg_current_xact_id()::text, (select epoch from store)"""
_WRITING = "begin isolation level read committed"
_BEGIN = f"{_WRITING}; {TAKE_LOCK}; {_COUNT}"
_BEGIN_FAST = f"{_WRITING}; set local synchronous_commit = off; {TAKE_LOCK}; {_COUNT}"
_BEGIN_READING = "begin isolation level repeatable read read only"
_NOTIFY = f"select pg_notify({CHANNEL}, '')"
_TRANSACTION = "select pg_xact_status(cast(? as xid8)) = 'committed'"
_TURN = "select turn = ? and (select epoch from store) = ? from write_count"
_END_STALLED = f"""select count(pg_terminate_backend(pid)) from pg_stat_activity join pg_locks using (pid)
    where locktype = 'advisory' and classid = {LOCK} and granted
    and objid = hashtext(current_schema()::text)::oid
    and database = (select oid from pg_database where datname = current_database())
    and wait_event = 'ClientRead' and state_change < clock_timestamp() - interval '{STALLED_S} seconds'"""
"""Ends sessions that hold the store's lock while their client sends nothing: the server itself does not end a session
whose client was stopped after it had sent a part of a pipeline."""
WRITER = (
    f"set lock_timeout = '{LOCK_PATIENCE_S}s'; set idle_in_transaction_session_timeout = '{LEASE_S}s'; "
    f"set statement_timeout = '{STATEMENT_S}s'; set client_min_messages = warning"
)
"""Settings of the sessions of connections that write."""
_WRITER = f"{WRITER}; set lock_timeout = '{LEASE_S}s'"
"""A transaction that has waited for ``LEASE_S`` ends stalled ones, then waits again."""
_READER = (
    f"set statement_timeout = '{STATEMENT_S}s'; set idle_in_transaction_session_timeout = '{IDLE_READER_S}s'; "
    "set client_min_messages = warning"
)


@mutable
class Fence:
    """What the store must be like when the owner writes a turn: the epoch, and the number of its last turn."""

    epoch: int
    turn: int = 0


class TurnTransaction(Transaction):
    """The transaction of a turn: its statements are sent together with the commit, after the fence."""

    __slots__ = ("_fence", "_links")

    def __init__(
        self, links: PostgresConnections, fence: Fence, check: Callable[[DatabaseConnection], None] | None
    ) -> None:
        """``check`` refuses the turn if it is a part of another transaction."""
        super().__init__(links, check)
        self._links, self._fence = links, fence

    def begin(self) -> DatabaseConnection:
        """Begin the transaction; nothing is sent yet."""
        return self._links.begin_turn(self._fence)

    def commit(self, db: DatabaseConnection) -> None:
        """Commit the transaction; when this returns, it is on the server's disk."""
        self._links.commit_turn(cast("PostgresConnection", db), self._fence)


class PostgresConnections(Connections):
    """The connections to the database that ``url`` names; ``path`` is the URL without its password."""

    brief_s = 0.02
    """How long, in seconds, a slice of a purge may take: each of its statements is a round trip."""

    def __init__(self, url: str, path: str, on_undone: Callable[[], None]) -> None:
        """``on_undone`` is called when a transaction was not committed."""
        super().__init__(path, on_undone)
        self._url = url
        self._schema = schema_in(url)
        self._reader: PostgresConnection | None = None
        self._writer: PostgresConnection | None = None
        self._was_connected = False
        """True after the first successful connection: from then on a server that is away may come back."""
        self._is_fast = False
        """True while transactions do not wait until they are on the disk."""
        self._is_single = False
        """True while each read is one statement, which needs no transaction."""

    def reader(self) -> PostgresConnection:
        """Return the read-only connection. The caller must hold ``read_guard``."""
        if self._reader is None or (self._reader.is_lost and not self._looks):
            self._reader = self.connect(_READER)
        return self._reader

    def writer(self) -> PostgresConnection:
        """Return the writing connection. The caller must hold ``write_guard``."""
        if self._writer is None or self._writer.is_lost:
            self._writer = self.connect(_WRITER)
        return self._writer

    def connect(self, settings: str = "") -> PostgresConnection:
        """Open another connection. Raises: PL-S030 to PL-S038."""
        try:
            db = PostgresConnection.open(self._url, settings or _READER)
        except psycopg.Error as error:
            raise errors.cannot_connect(error, self.path) from error
        self._was_connected = True
        return db

    def begin_reading(self) -> PostgresConnection:
        """Begin a transaction in which all reads see the same state of the store; return its connection."""
        if self._is_single:
            return self.reader()
        db, _ = self._repeated(self.reader, _BEGIN_READING)
        return db

    def end_reading(self) -> None:
        """End the transaction that reads. A lost connection has ended it already."""
        db = self._reader
        if db is None:
            return
        try:
            db.rollback()
        except psycopg.Error:
            if not db.is_lost:
                raise

    def begin(self) -> PostgresConnection:
        """Begin a transaction that writes, as soon as no other process writes; return its connection."""
        end = time.monotonic() + LOCK_PATIENCE_S
        while True:
            try:
                db, row = self._repeated(self.writer, _BEGIN_FAST if self._is_fast else _BEGIN)
            except psycopg.Error as error:
                if not self._is_lock_free(error, end):
                    raise
            else:
                _, db.transaction, db.epoch = row
                return db

    def begin_turn(self, fence: Fence) -> PostgresConnection:
        """Begin the transaction of a turn on a connection that seems to work; nothing is sent yet."""
        db, _ = self._repeated(self.writer)
        db.begin_turn(fence.epoch, fence.turn)
        return db

    def _is_lock_free(self, error: psycopg.Error, end: float) -> bool:
        """After a timeout of the store's lock, end stalled transactions; return True if this one may try again."""
        db = self._writer
        if error.sqlstate != LOCK_TIMEOUT or db is None or time.monotonic() > end:
            return False
        self.end_stalled(db)
        return True

    def end_stalled(self, db: PostgresConnection) -> None:
        """End sessions that hold the store's lock while their client sends nothing."""
        try:
            db.script(_END_STALLED)
        except psycopg.Error as error:
            if error.sqlstate != NO_RIGHT:  # they are of another user: wait until the server ends them
                raise

    def version(self) -> int:
        """Return a number above 0 that changes with each transaction that writes."""
        with self.read_guard, Problems(self):
            _, row = self._repeated(self.reader, "select number from write_count")
        return int(row[0])

    def _repeated(
        self, find: Callable[[], PostgresConnection], script: str = ""
    ) -> tuple[PostgresConnection, tuple[Any, ...]]:
        """Execute statements that change nothing; on a new connection if the former one is lost.

        Return (the connection, first row of the last statement).
        """
        end = time.monotonic() + LEASE_S
        tried: PostgresConnection | None = None
        while True:
            db = None
            try:
                db = find()
                return db, (db.script(script) if script else None) or ()
            except (psycopg.Error, ProblemsError) as error:
                if db is not None and not db.is_lost:
                    db.rollback()  # what it has begun, such as before a timeout of the lock
                is_replaced = db is None or (db.is_lost and db is not tried)
                if not (is_replaced and self._was_connected and may_come_back(error)) or time.monotonic() > end:
                    raise
                tried = db
            if tried is None:
                time.sleep(TRY_EVERY_S)

    def commit(self, db: DatabaseConnection, *, asks: bool = False) -> None:
        """Commit the transaction; when this returns, it is on the server's disk.

        ``asks``: it stores a request, so notify the owner if it is in another process.
        """
        ours = cast("PostgresConnection", db)
        is_heard = self._listeners is not None and self._listeners.has_owner
        try:
            ours.commit(_NOTIFY if asks and not is_heard else "")
        except psycopg.Error:
            if not ours.is_lost or not self._was_stored(_TRANSACTION, (ours.transaction,)):
                raise

    def commit_turn(self, db: PostgresConnection, fence: Fence) -> None:
        """Commit the transaction of a turn; when this returns, it is on the server's disk."""
        try:
            db.end_turn()
        except psycopg.Error:
            if not db.is_lost or not self._was_stored(_TURN, (fence.turn + 1, fence.epoch)):
                raise
        fence.turn += 1

    def may_repeat(self, problem: ProblemsError, begun: float) -> bool:
        """Return True if the turn that failed was not stored, and storing it again may succeed.

        ``begun``: the monotonic time in seconds of the first attempt.
        """
        error, waited_s = problem.__cause__, time.monotonic() - begun
        if not isinstance(error, psycopg.Error):
            return False
        if error.sqlstate == LOCK_TIMEOUT:
            self.end_stalled(self.writer())
            return waited_s < LOCK_PATIENCE_S
        return problem.problems[0].code == LOST and error.sqlstate not in FENCED and waited_s < LEASE_S

    def was_late(self, problem: ProblemsError, fence: Fence) -> bool:
        """Return True if a repeated turn was refused because its first attempt was stored in the meantime.

        What was still on its way when the connection was lost may arrive after the server was asked about it.
        """
        error = problem.__cause__
        if not isinstance(error, psycopg.Error) or error.sqlstate != OTHER_TURN:
            return False
        return (error.diag.message_primary or "").split() == [str(fence.turn), str(fence.turn + 1)]

    def _was_stored(self, question: str, values: tuple[Any, ...]) -> bool:
        """Ask the server whether a transaction was stored whose connection was lost.

        The lock is taken first, so that the answer is not given before that transaction has ended.
        Raises: PL-S030 and others if the server cannot be asked: then it is not known whether it was stored.
        """
        end = time.monotonic() + LEASE_S
        while True:
            try:
                return self._answer(question, values)
            except (psycopg.Error, ProblemsError) as error:
                if time.monotonic() > end or not may_come_back(error):
                    raise errors.unheard(self.path, errors.text_of(error)) from error
            time.sleep(TRY_EVERY_S)

    def _answer(self, question: str, values: tuple[Any, ...]) -> bool:
        with closing(self.connect(WRITER)) as db:
            db.script(_WRITING)
            try:
                db.script(TAKE_LOCK)
            except psycopg.Error as error:
                if error.sqlstate != LOCK_TIMEOUT:
                    raise
                db.rollback()
                self.end_stalled(db)
                raise psycopg.OperationalError("the former connection is still open") from error
            try:
                row = db.execute(question, values).fetchone()
            except psycopg.Error as error:
                if error.sqlstate != UNKNOWN_TRANSACTION:
                    raise
                return False  # another server has replaced the one that had begun it
            db.rollback()
            return bool(row and row[0])

    def problem_of(self, error: BaseException | None) -> Exception | None:
        """Return the problem for an error of PostgreSQL; None for other errors and for misuse, which is a bug."""
        if not isinstance(error, psycopg.Error):
            return None
        if error.sqlstate in FENCED:
            return self._refused(error)
        if (error.sqlstate or "")[:2] in _BUGS and error.sqlstate != "42501":
            return None
        return errors.as_problem(error, self.path, is_lost=error.sqlstate is None, schema=self._schema)

    def _refused(self, error: psycopg.Error) -> ProblemsError:
        expected, found = (error.diag.message_primary or "").split()
        if error.sqlstate == OTHER_EPOCH:
            return failures.taken_over(self.path, expected, found)
        return errors.went_back(self.path, expected, found)

    def damaged(self, reason: str) -> ProblemsError:
        """Return PL-S003 for a stored value that cannot be decoded."""
        return errors.damaged(self.path, reason)

    def close(self) -> None:
        """Close the connections. Safe to call twice."""
        for db in (self._reader, self._writer):
            if db is not None:
                db.close()
        self._reader = self._writer = None

    @contextmanager
    def single(self) -> Iterator[None]:
        """Return a context in which a read is one statement and one round trip, which is not repeated if it fails."""
        with self.read_guard:
            former, self._is_single = self._is_single, True
            try:
                yield
            finally:
                self._is_single = former

    @contextmanager
    def not_waiting(self) -> Iterator[None]:
        """Return a context whose transactions do not wait until they are on the disk."""
        former, self._is_fast = self._is_fast, True
        try:
            yield
        finally:
            self._is_fast = former


def may_come_back(error: BaseException) -> bool:
    """Return True if the server may accept a connection again soon."""
    if isinstance(error, ProblemsError):
        return error.problems[0].code in _PASSING
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
