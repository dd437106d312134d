"""A connection to PostgreSQL in the form that the statements of ``store.sql`` use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.types.string import StrDumperUnknown, TextLoader

from phaseline.store.postgres import bulk_insert
from phaseline.store.postgres.dialect import translate

UNLESS_GIVEN: Mapping[str, str | int] = {
    "connect_timeout": 10,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 5,
    "keepalives_interval": 1,
    "fallback_application_name": "phaseline",
}
"""Parameters of a connection that the URL does not set.

Ten seconds is how long to try to reach the server, and after how long without an answer of the network a connection
counts as lost, also while it waits for the result of a statement (keepalives). The name is shown to the administrator.
"""
COMMITTED = "COMMIT"
"""What the server answers to a commit; a transaction that has failed is rolled back instead, without an error."""
ESCAPE, FOR_NUL = "\ufdd1", "\ufdd0"
"""PostgreSQL cannot store the character NUL: it is stored as these two, which no language uses, and ESCAPE as two of it."""


class TextDumper(StrDumperUnknown):
    """Sends a text, with NUL in its stored form."""

    def dump(self, obj: str) -> Any:
        """Return the text as bytes."""
        if "\x00" in obj or ESCAPE in obj:
            obj = obj.replace(ESCAPE, ESCAPE * 2).replace("\x00", ESCAPE + FOR_NUL)
        return super().dump(obj)


class StoredTextLoader(TextLoader):
    """Receives a text, with NUL in its stored form."""

    def load(self, data: Any) -> Any:
        """Return the text."""
        text = super().load(data)
        if ESCAPE not in text:
            return text
        return ESCAPE.join(part.replace(ESCAPE + FOR_NUL, "\x00") for part in str(text).split(ESCAPE * 2))


class LaterRows:
    """The result of a statement of a turn, which is sent when its result is needed, or with the commit."""

    __slots__ = ("_db", "_sent", "_statement", "_values")

    def __init__(self, db: PostgresConnection, statement: str, values: Any) -> None:
        """``values``: the values of the statement; a list of them if it is executed once for each."""
        self._db, self._statement, self._values = db, statement, values
        self._sent: psycopg.Cursor[tuple[Any, ...]] | None = None

    def send(self, db: psycopg.Connection[tuple[Any, ...]]) -> None:
        """Send the statement."""
        told = translate(self._statement)
        if isinstance(self._values, list):
            self._sent = db.cursor()
            self._sent.executemany(told.text, map(told.values, self._values))
        else:
            self._sent = db.execute(told.text, told.values(self._values))

    def _result(self) -> psycopg.Cursor[tuple[Any, ...]]:
        if self._sent is None:
            self._db.send_all()
        assert self._sent is not None
        return self._sent

    @property
    def rowcount(self) -> int:
        """Number of rows that the statement has inserted, changed or deleted."""
        return self._result().rowcount

    @property
    def statusmessage(self) -> str | None:
        """What the server answered, such as ``COMMIT``."""
        return self._result().statusmessage

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row as a tuple, or None."""
        return self._result().fetchone()

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows that are left."""
        return self._result().fetchall()

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows that are left."""
        return iter(self._result())


class CopiedRows:
    """The result of an insert of many rows."""

    __slots__ = ("rowcount",)

    def __init__(self, rowcount: int) -> None:
        self.rowcount = rowcount
        """Number of rows that were inserted or changed."""

    def fetchone(self) -> None:
        """Return None: an insert of many rows returns no row."""

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return no rows."""
        return []

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over no rows."""
        return iter(())


Result = psycopg.Cursor[tuple[Any, ...]] | LaterRows | CopiedRows


class PostgresConnection:
    """A connection whose transactions the store begins and ends."""

    __slots__ = ("_columns", "_db", "_filled", "_later", "_may_make_tables", "epoch", "transaction")

    def __init__(self, db: psycopg.Connection[tuple[Any, ...]]) -> None:
        self._db = db
        self.transaction = ""
        """Id of the transaction that writes, or that wrote last, as PostgreSQL numbers transactions."""
        self.epoch = 0
        """Epoch of the store at the beginning of the transaction that writes; it cannot change until its end."""
        self._later: list[LaterRows] | None = None
        """Statements of a turn that are not sent yet; None outside of a turn."""
        self._columns: dict[str, Sequence[str]] = {}
        """{table: its columns}, as far as they were needed."""
        self._filled: set[str] = set()
        """Temporary tables that have rows of the present transaction."""
        self._may_make_tables: bool | None = None
        """True if the user may create temporary tables; None if unknown."""

    @classmethod
    def open(cls, url: str, settings: str) -> PostgresConnection:
        """Connect to the server. ``settings``: statement with the settings of the session. Raises: psycopg.Error."""
        given = conninfo_to_dict(url)
        missing = {key: value for key, value in UNLESS_GIVEN.items() if key not in given}
        whole = make_conninfo(url, client_encoding="utf8", **missing)
        db = psycopg.connect(whole, autocommit=True)
        try:
            found = cls.of(db)
            db.execute(settings)
        except BaseException:
            db.close()
            raise
        return found

    @classmethod
    def of(cls, db: psycopg.Connection[tuple[Any, ...]]) -> PostgresConnection:
        """Return a connection of psycopg in our form."""
        db.adapters.register_dumper(str, TextDumper)
        db.adapters.register_loader("text", StoredTextLoader)
        return cls(db)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Result:
        """Execute a statement with its values; in a turn when its result is needed."""
        if self._later is not None:
            return self._added(statement, tuple(values))
        told = translate(statement)
        return self._db.execute(told.text, told.values(values))

    def executemany(self, statement: str, values: Iterable[Sequence[Any]]) -> Result:
        """Execute a statement once for each sequence of values, without waiting between them; copy many rows."""
        rows = values if isinstance(values, list) else list(values)
        if len(rows) >= bulk_insert.COPIED_FROM and bulk_insert.parts_of(statement) is not None:
            copied = self._copied(statement, rows)
            if copied is not None:
                return copied
        if self._later is not None:
            return self._added(statement, rows) if rows else self._db.cursor()
        cursor = self._db.cursor()
        if rows:
            told = translate(statement)
            cursor.executemany(told.text, map(told.values, rows))
        return cursor

    def _added(self, statement: str, values: Any) -> LaterRows:
        assert self._later is not None
        rows = LaterRows(self, statement, values)
        self._later.append(rows)
        return rows

    def _copied(self, statement: str, rows: list[Sequence[Any]]) -> CopiedRows | None:
        """Insert rows by COPY; return None if they must be inserted one by one."""
        self.send_all()
        how = bulk_insert.plan(statement, self._columns_of)
        if how is None or (how.make and not self._can_make_tables()):
            return None
        cursor = self._db.cursor()
        if how.make:
            cursor.execute(f"delete from {how.filled}" if how.filled in self._filled else how.make)
            self._filled.add(how.filled)
        chosen = how.distinct(rows)
        for first in range(0, len(chosen), bulk_insert.COPIED_AT_ONCE):
            with cursor.copy(how.copy) as copy:
                for row in chosen[first : first + bulk_insert.COPIED_AT_ONCE]:
                    copy.write_row(row)
        if how.move:
            cursor.execute(translate(how.move).text)
        return CopiedRows(len(chosen))

    def _columns_of(self, table: str) -> Sequence[str]:
        found = self._columns.get(table)
        if found is None:
            told = self._db.execute(f"select * from {table} limit 0").description
            found = self._columns[table] = [column.name for column in told or ()]
        return found

    def _can_make_tables(self) -> bool:
        if self._may_make_tables is None:
            row = self._db.execute("select has_database_privilege(current_database(), 'temporary')").fetchone()
            self._may_make_tables = bool(row and row[0])
        return self._may_make_tables

    def begin_turn(self, epoch: int, turn: int) -> None:
        """Begin the transaction of a turn of the owner: its statements are sent together.

        Until then nothing waits for this process, even if it is stopped. The server refuses the turn if the store has
        another epoch than ``epoch``, or if the owner's last turn was another one than ``turn``.
        """
        self._later = []
        self._filled.clear()
        self.execute("begin isolation level read committed")
        self.execute("select begin_turn(?, ?)", (epoch, turn))

    def end_turn(self) -> None:
        """Commit the transaction of a turn."""
        ended = self._added("commit", ())
        self.send_all()
        self._later = None
        _require_commit(ended.statusmessage)

    def send_all(self) -> None:
        """Send the statements of a turn that are waiting, in one pipeline, and receive their results."""
        if not self._later:
            return
        waiting, self._later = self._later, []
        pipeline = self._db.pipeline()
        pipeline.__enter__()
        try:
            for rows in waiting:
                rows.send(self._db)
        except psycopg.Error as error:
            with suppress(psycopg.Error):  # the same failure again
                pipeline.__exit__(None, None, None)
            raise _first(error) from None
        except BaseException:
            self._db.close()  # with statements in an unknown state nothing else can be done
            raise
        try:
            pipeline.__exit__(None, None, None)
        except psycopg.Error as error:
            raise _first(error) from None

    def script(self, statements: str) -> tuple[Any, ...] | None:
        """Execute several statements, written for PostgreSQL and without values; return the first row of the last."""
        self._filled.clear()
        cursor = self._db.execute(statements)
        while cursor.nextset():
            pass
        return cursor.fetchone() if cursor.description else None

    def commit(self, last: str = "") -> None:
        """Commit the transaction that ``script`` has begun. ``last``: a statement that is sent together with the commit."""
        cursor = self._db.execute(f"{last}; commit".encode() if last else "commit")
        while cursor.nextset():
            pass
        _require_commit(cursor.statusmessage)

    def fileno(self) -> int:
        """Return the handle of the socket, which can be read when the server has sent something."""
        return self._db.fileno()

    def has_notices(self) -> bool:
        """Receive what the server has sent without being asked. Return True if it has sent notices. Raises: psycopg.Error."""
        self._db.pgconn.consume_input()
        count = 0
        while self._db.pgconn.notifies() is not None:
            count += 1
        return count > 0

    def last_number(self, table: str) -> int:
        """Return the highest number that was ever given to a row of a table; 0 if there was none."""
        found = self.execute(
            "select pg_sequence_last_value(pg_get_serial_sequence(?, 'number')::regclass)", (table,)
        ).fetchone()
        return int(found[0]) if found and found[0] else 0

    def set_last_number(self, table: str, number: int) -> None:
        """Let the numbers of new rows of a table follow after ``number``, if it is above 0."""
        if number:
            self.execute("select setval(pg_get_serial_sequence(?, 'number')::regclass, ?)", (table, number))

    def stream(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows of a statement without values, of which only one is in memory at a time."""
        return self._db.cursor().stream(statement)

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows into a table as they come, of which only one is in memory at a time."""
        with self._db.cursor().copy(f"copy {table} ({', '.join(columns)}) from stdin") as copy:
            for row in rows:
                copy.write_row(row)

    @property
    def server_version(self) -> int:
        """Version of the server, such as 150004 for 15.4."""
        return self._db.info.server_version

    @property
    def encoding(self) -> str:
        """Encoding of the database, such as ``UTF8``."""
        return self._db.info.parameter_status("server_encoding") or ""

    @property
    def search_path(self) -> str:
        """Names of the schemas in which the tables are looked up."""
        row = self._db.execute("select current_setting('search_path')").fetchone()
        return str(row[0]) if row else ""

    @property
    def in_transaction(self) -> bool:
        """True between the beginning of a transaction and its end."""
        return self._later is not None or self._is_open

    @property
    def _is_open(self) -> bool:
        return self._db.info.transaction_status in {TransactionStatus.INTRANS, TransactionStatus.INERROR}

    @property
    def is_lost(self) -> bool:
        """True if the connection is closed or broken."""
        return self._db.closed or self._db.info.transaction_status is TransactionStatus.UNKNOWN

    def rollback(self) -> None:
        """Undo the transaction, if there is one."""
        self._later = None
        if self._is_open:
            self._db.execute("rollback")

    def close(self) -> None:
        """Close the connection."""
        self._db.close()


def _require_commit(answer: str | None) -> None:
    if answer != COMMITTED:
        raise psycopg.errors.InFailedSqlTransaction(f"the server answered the commit with {answer}")


def _first(error: psycopg.Error) -> psycopg.Error:
    """Return the error of the statement that failed; those after it in the pipeline have failed because of it."""
    before = error.__context__
    while isinstance(error, psycopg.errors.PipelineAborted) and isinstance(before, psycopg.Error):
        error, before = before, before.__context__
    return error
