"""The connections to the database of a store: one writes and one reads, so that readers never wait for a commit.

All transactions that write take one lock of the store, so they come one after another as in SQLite, and a check at the
beginning of a transaction holds until its end. A lost connection is made again before a transaction begins. Whether a
commit succeeded whose answer was lost is asked of the server by the number of the transaction (ST9).
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import psycopg

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.postgres import errors
from phaseline.store.postgres.connection import PostgresConnection
from phaseline.store.relational.connections import Connections, DatabaseConnection, Problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_BUGS = frozenset(("21", "22", "23", "26", "2B", "34", "42"))
"""Classes of SQLSTATEs that only a wrong statement causes, except for missing rights (42501)."""
_PASSING = frozenset(("PL-S030", "PL-S035", "PL-S036"))
"""Codes of problems that may end by themselves."""

LEASE_S = 4
"""How long, in seconds, an owner stays the owner without renewing its lease; nothing that it does may wait longer."""
LOCK_PATIENCE_S = 30
"""How long, in seconds, a transaction waits for the other transactions that write."""
STATEMENT_S = 300
"""How long, in seconds, a statement of a reader may take."""
TRY_EVERY_S = 0.05
"""Seconds between two attempts to connect again."""
LOCK = 0x5048_4C4E
"""First half of the number of the store's lock ("PHLN"); the second half is made of the schema's name."""

TAKE_LOCK = f"select pg_advisory_xact_lock({LOCK}, hashtext(current_schema()::text))"
"""Statement that waits until no other transaction writes, and keeps others from writing until its own ends."""
_COUNT = "update write_count set number = number + 1 returning number, pg_current_xact_id()::text"
_BEGIN = f"begin; {TAKE_LOCK}; {_COUNT}"
_BEGIN_FAST = f"begin; set local synchronous_commit = off; {TAKE_LOCK}; {_COUNT}"
BEGIN_READING = "begin isolation level repeatable read read only"
"""Begins a transaction in which all reads see the state of the first read."""
WRITER = (
    f"set lock_timeout = '{LOCK_PATIENCE_S}s'; set idle_in_transaction_session_timeout = '{LEASE_S}s'; "
    "set client_min_messages = warning"
)
"""Settings of the sessions of connections that write."""
_READER = f"set statement_timeout = '{STATEMENT_S}s'; set client_min_messages = warning"


class PostgresConnections(Connections):
    """The connections to the database that ``url`` names; ``path`` is the URL without its password."""

    def __init__(self, url: str, path: str, on_undone: Callable[[], None]) -> None:
        """``on_undone`` is called when a transaction was not committed."""
        super().__init__(path, on_undone)
        self._url = url
        self._reader: PostgresConnection | None = None
        self._writer: PostgresConnection | None = None
        self._was_connected = False
        """True after the first successful connection: from then on a server that is away may come back."""
        self._is_fast = False
        """True while transactions do not wait until they are on the disk."""

    def reader(self) -> PostgresConnection:
        """Return the read-only connection. The caller must hold ``read_guard``."""
        if self._reader is None or (self._reader.is_lost and not self._looks):
            self._reader = self.connect(_READER)
        return self._reader

    def writer(self) -> PostgresConnection:
        """Return the writing connection. The caller must hold ``write_guard``."""
        if self._writer is None or (self._writer.is_lost and self.one is None):
            self._writer = self.connect(WRITER)
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
        db, _ = self._repeated(self.reader, BEGIN_READING)
        return db

    def begin(self) -> PostgresConnection:
        """Begin a transaction that writes, as soon as no other process writes; return its connection."""
        db, row = self._repeated(self.writer, _BEGIN_FAST if self._is_fast else _BEGIN)
        db.transaction = row[1]
        return db

    def version(self) -> int:
        """Return a number above 0 that changes with each transaction that writes."""
        with self.read_guard, Problems(self):
            _, row = self._repeated(self.reader, "select number from write_count")
        return int(row[0])

    def _repeated(
        self, find: Callable[[], PostgresConnection], script: str
    ) -> tuple[PostgresConnection, tuple[Any, ...]]:
        """Execute statements that change nothing; on a new connection if the former one is lost.

        Return (the connection, first row of the last statement).
        """
        end = time.monotonic() + LEASE_S
        while True:
            db = None
            try:
                db = find()
                return db, db.script(script) or ()
            except (psycopg.Error, ProblemsError) as error:
                is_lost = db is None or db.is_lost
                if not (is_lost and self._was_connected and _may_come_back(error)) or time.monotonic() > end:
                    raise
            time.sleep(TRY_EVERY_S)

    def commit(self, db: DatabaseConnection) -> None:
        """Commit the transaction; when this returns, it is on the server's disk."""
        ours = cast("PostgresConnection", db)
        try:
            ours.script("commit")
        except psycopg.Error:
            if not ours.is_lost or not self._was_committed(ours.transaction):
                raise

    def _was_committed(self, transaction: str) -> bool:
        """Ask the server whether a transaction was committed whose answer was lost. Raises: PL-S030 and others."""
        end = time.monotonic() + LEASE_S
        while True:
            state = self._state_of(transaction, is_last=time.monotonic() > end)
            if state != "in progress" or time.monotonic() > end:
                return state == "committed"
            time.sleep(TRY_EVERY_S)

    def _state_of(self, transaction: str, *, is_last: bool) -> str:
        """Return the state of a transaction; "in progress" also if the server cannot be reached and it is not the last try."""
        try:
            other = self.connect()
            try:
                row = other.execute("select pg_xact_status(cast(? as xid8))", (transaction,)).fetchone()
            finally:
                other.close()
        except (psycopg.Error, ProblemsError) as error:
            if is_last or not _may_come_back(error):
                raise
            return "in progress"
        return str(row[0]) if row else ""

    def problem_of(self, error: BaseException | None) -> Exception | None:
        """Return the problem for an error of PostgreSQL; None for other errors and for misuse, which is a bug."""
        if not isinstance(error, psycopg.Error):
            return None
        if (error.sqlstate or "")[:2] in _BUGS and error.sqlstate != "42501":
            return None
        return errors.as_problem(error, self.path, is_lost=error.sqlstate is None)

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
    def not_waiting(self) -> Iterator[None]:
        """Return a context whose transactions do not wait until they are on the disk."""
        former, self._is_fast = self._is_fast, True
        try:
            yield
        finally:
            self._is_fast = former


def _may_come_back(error: BaseException) -> bool:
    """Return True if the server may accept a connection again soon."""
    if isinstance(error, ProblemsError):
        return error.problems[0].code in _PASSING
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
