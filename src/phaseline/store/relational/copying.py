"""Copy of all rows of a store from one database to another (ST12): the same rows, each compared after it was written.

Rows are read and written one after another, so memory holds one row however large the store is. The tables and columns
are those of ``database.schema``, so a new column is copied without a change here.
"""

from __future__ import annotations

import marshal
import re
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

from phaseline.store.database.connection import Connection
from phaseline.store.database.schema import SCHEMA_VERSION, TABLES
from phaseline.store.sql import errors as failures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

DIGEST_BYTES = 16
"""Length of the digest of a row, and of the sum of the digests of a table, in bytes."""
ROW_FORM = 2
"""Version of ``marshal`` that gives equal bytes for equal rows: later ones depend on which objects are shared."""
_LIMIT = 1 << (8 * DIGEST_BYTES)

OF_THE_DATABASE = frozenset(("alembic_version", "store_schema", "store"))
"""Tables that are not copied row by row: each database has its own version, and ``store`` is copied without ``OF_THE_FILE``."""
OF_THE_FILE = frozenset(("place", "inode", "device"))
"""Columns of ``store`` that describe the file of a store (``sqlite.file_identity``)."""
NO_CONTENT = frozenset(("known_phase", "measure", "incarnation", "filling"))
"""Tables that may have rows although no user has stored anything yet: an idle engine or an upgrade writes to them."""

_TABLE = re.compile(r"create table (\w+) \((.*)\)(?: without rowid)?$", re.DOTALL)
_CONSTRAINTS = ("primary", "unique", "constraint")


class CopySource(Protocol):
    """A database within a transaction in which all reads see one state of the store."""

    def stream(self, statement: str, /) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows of a statement without values, of which only one is in memory at a time."""
        ...

    def last_number(self, table: str, /) -> int:
        """Return the highest number that was ever given to a row of a table; 0 if there was none."""
        ...


class CopyTarget(Connection, CopySource, Protocol):
    """A database within a transaction that its owner begins and ends, with the tables of a store."""

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], /) -> None:
        """Insert rows into a table as they come, of which only one is in memory at a time."""
        ...

    def set_last_number(self, table: str, number: int, /) -> None:
        """Let the numbers of new rows of a table follow after ``number``, if it is above 0."""
        ...


class UncopiedRowsError(Exception):
    """Rows could not be written as they were read. The text gives the reason, for the user."""


class RowDigests:
    """The number of rows and the sum of their digests, which is the same in whatever order the rows come."""

    __slots__ = ("count", "total")

    def __init__(self) -> None:
        """Begin without a row."""
        self.count = self.total = 0

    def counted(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows, and add each."""
        for row in rows:
            digest = blake2b(marshal.dumps(row, ROW_FORM), digest_size=DIGEST_BYTES).digest()
            self.count += 1
            self.total = (self.total + int.from_bytes(digest, "big")) % _LIMIT
            yield row

    def add(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Add all rows."""
        for _ in self.counted(rows):
            pass


@cache
def all_columns() -> Mapping[str, tuple[str, ...]]:
    """Return {table of a store: its columns}."""
    found = (_TABLE.match(statement) for statement in TABLES)
    return {table[1]: tuple(_columns(table[2])) for table in found if table}


def _columns(body: str) -> Iterator[str]:
    """Yield the names of the columns in the parentheses of ``create table``."""
    without_lists = re.sub(r"\([^()]*\)", "", body)
    for part in without_lists.split(","):
        name, *_ = part.split()
        if name not in _CONSTRAINTS:
            yield name


def numbered() -> tuple[str, ...]:
    """Return the tables whose rows get their numbers from the database."""
    found = (_TABLE.match(statement) for statement in TABLES if "autoincrement" in statement)
    return tuple(table[1] for table in found if table)


def raise_if_newer(db: CopySource, path: str) -> None:
    """Raise PL-S002 for a store of a newer version: it may have tables and columns that this version does not know."""
    ((version,),) = db.stream("select version from store_schema")
    if version > SCHEMA_VERSION:
        raise failures.newer(path, version, SCHEMA_VERSION)


def is_unused(db: Connection) -> bool:
    """Return True if no user has stored anything in a store yet."""
    tables = all_columns().keys() - OF_THE_DATABASE - NO_CONTENT
    return not any(db.execute(f"select 1 from {table} limit 1").fetchone() for table in sorted(tables))


def copy_all(source: CopySource, target: CopyTarget) -> dict[str, int]:
    """Write all rows of ``source`` into the unused store ``target``, and compare them; return {table: number of rows}.

    The target gets the identity, the epoch and the numbers of the source. Raises: UncopiedRowsError.
    """
    copied = {}
    for table, columns in all_columns().items():
        if table not in OF_THE_DATABASE:
            copied[table] = _copy_table(source, target, table, columns)
    for table in numbered():
        target.set_last_number(table, source.last_number(table))
    _copy_table(source, target, "store", [name for name in all_columns()["store"] if name not in OF_THE_FILE])
    return copied


def _copy_table(source: CopySource, target: CopyTarget, table: str, columns: Sequence[str]) -> int:
    target.execute(f"delete from {table}")
    read, written = RowDigests(), RowDigests()
    select = f"select {', '.join(columns)} from {table}"
    target.load(table, columns, read.counted(source.stream(select)))
    written.add(target.stream(select))
    if (read.count, read.total) != (written.count, written.total):
        what = "content" if read.count == written.count else f"number ({written.count:,} instead of {read.count:,})"
        raise UncopiedRowsError(f"the rows of the table {table} differ from those of the source in their {what}")
    return read.count
