"""A connection to PostgreSQL in the form that the statements of ``store.sql`` use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.types.string import StrDumperUnknown, TextLoader

from phaseline.store.postgres.dialect import translate

CONNECT_TIMEOUT_S = 10
"""How long, in seconds, to try to reach the server."""
UNHEARD_MS = 10_000
"""After so many milliseconds without an answer of the network, a connection counts as lost."""
APPLICATION = "phaseline"
"""Name under which the server's administrator sees the connections."""


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


class PostgresConnection:
    """A connection whose transactions the store begins and ends."""

    __slots__ = ("_db", "transaction")

    def __init__(self, db: psycopg.Connection[tuple[Any, ...]]) -> None:
        self._db = db
        self.transaction = ""
        """Id of the transaction that writes, or that wrote last, as PostgreSQL numbers transactions."""

    @classmethod
    def open(cls, url: str, settings: str) -> PostgresConnection:
        """Connect to the server. ``settings``: statement with the settings of the session. Raises: psycopg.Error."""
        db = psycopg.connect(
            url,
            autocommit=True,
            connect_timeout=CONNECT_TIMEOUT_S,
            tcp_user_timeout=UNHEARD_MS,
            fallback_application_name=APPLICATION,
        )
        try:
            db.adapters.register_dumper(str, TextDumper)
            db.adapters.register_loader("text", StoredTextLoader)
            db.execute(settings)
        except BaseException:
            db.close()
            raise
        return cls(db)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> psycopg.Cursor[tuple[Any, ...]]:
        """Execute a statement with its values."""
        told = translate(statement)
        return self._db.execute(told.text, told.values(values))

    def executemany(self, statement: str, values: Iterable[Sequence[Any]]) -> psycopg.Cursor[tuple[Any, ...]]:
        """Execute a statement once for each sequence of values, without waiting between them."""
        told = translate(statement)
        rows = values if isinstance(values, list) else list(values)
        cursor = self._db.cursor()
        if rows:
            cursor.executemany(told.text, map(told.values, rows))
        return cursor

    def script(self, statements: str) -> tuple[Any, ...] | None:
        """Execute several statements, written for PostgreSQL and without values; return the first row of the last."""
        cursor = self._db.execute(statements)
        while cursor.nextset():
            pass
        return cursor.fetchone() if cursor.description else None

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
    def in_transaction(self) -> bool:
        """True between the beginning of a transaction and its end."""
        return self._db.info.transaction_status in {TransactionStatus.INTRANS, TransactionStatus.INERROR}

    @property
    def is_lost(self) -> bool:
        """True if the connection is closed or broken."""
        return self._db.closed or self._db.info.transaction_status is TransactionStatus.UNKNOWN

    def rollback(self) -> None:
        """Undo the transaction, if there is one."""
        if self.in_transaction:
            self._db.execute("rollback")

    def close(self) -> None:
        """Close the connection."""
        self._db.close()
