"""Rows of every table go from one database to another and back, and none changes on the way (ST12)."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.store import builders as a
from tests.store.files import refusal
from tests.store.postgres_server import new_schema

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.database.schema import TABLES
from phaseline.store.postgres.connection import PostgresConnection
from phaseline.store.postgres.store import PostgresStore
from phaseline.store.relational import copying
from phaseline.store.relational.copying import (
    UncopiedRowsError,
    all_columns,
    copy_all,
    is_unused,
    numbered,
    raise_if_newer,
)
from phaseline.store.sqlite.database_file import FileConnection, connect
from phaseline.store.sqlite.store import SqliteStore

TEXTS = (
    "",
    "plain",
    "a\x00b",
    "\ufdd1\ufdd0\x00",
    "äöü 中 🚂",
    "tab\tline\nback\\slash \\N \\.",
    "%s ? {x}",
    "x" * 5_000,
)
BLOBS = (b"", b"\x00\xff\\x", bytes(range(256)) * 40)
NUMBERS = (0, -1, 7, (1 << 62) + 1)


@pytest.fixture
def file(path: Path, clock: a.FakeClock) -> Iterator[FileConnection]:
    """A file with rows in every table."""
    SqliteStore.open(path, clock).close()
    with closing(connect(str(path))) as db:
        fill(db)
        yield db


@pytest.fixture
def database(clock: a.FakeClock) -> Iterator[PostgresConnection]:
    url = new_schema()
    with closing(PostgresStore.open(url, clock)) as store, closing(store.connections.connect()) as db:
        yield db


def fill(db: sqlite3.Connection) -> None:
    """Insert three rows into each table, with values of which some are hard to carry."""
    for at, table in enumerate(all_columns()):
        kinds = [row[2].lower() for row in db.execute(f"pragma table_info({table})")]
        if table in copying.OF_THE_DATABASE:
            continue
        for number in range(3):
            row = [value(kind, at + column, number) for column, kind in enumerate(kinds)]
            db.execute(f"insert into {table} values ({', '.join('?' * len(row))})", row)
    db.execute("update store set epoch = 12, purged_graph = 3, held = 2, place = '/here', inode = 5, device = 6")
    db.execute("delete from deployment where number = (select max(number) from deployment)")


def value(kind: str, column: int, row: int) -> object:
    """A value for a column of this kind; those of the rows of one column differ."""
    if kind == "blob":
        return bytes([row]) + BLOBS[column % len(BLOBS)]
    if kind == "text":
        return TEXTS[(column + row) % len(TEXTS)] + str(row)
    return row + 1 + (NUMBERS[column % len(NUMBERS)] if column else 0)


def rows(db: copying.CopySource, table: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    return sorted(db.stream(f"select {', '.join(columns)} from {table}"))


def test_st12_the_tables_and_columns_are_those_of_both_databases(
    file: FileConnection, database: PostgresConnection
) -> None:
    tables = {name for (name,) in file.execute("select name from sqlite_master where type = 'table'")}
    assert all_columns().keys() == tables - {"sqlite_sequence"}
    assert len(all_columns()) == sum(text.startswith("create table") for text in TABLES)
    there = (
        "select column_name from information_schema.columns where table_schema = current_schema() and table_name = ?"
    )
    for table, columns in all_columns().items():
        assert list(columns) == [row[1] for row in file.execute(f"pragma table_info({table})")]
        assert set(columns) == {name for (name,) in database.execute(there, (table,))}
    assert set(numbered()) == {"deployment", "execution", "request", "stored_blueprint", "plan", "package", "schedule"}


def test_st12_rows_of_all_tables_are_equal_there_and_back(
    file: FileConnection, database: PostgresConnection, tmp_path: Path, clock: a.FakeClock
) -> None:
    counts = copy_all(file, database)
    assert counts.keys() == all_columns().keys() - copying.OF_THE_DATABASE
    assert set(counts.values()) == {2, 3}
    SqliteStore.open(tmp_path / "back.db", clock).close()
    with closing(connect(str(tmp_path / "back.db"))) as back:
        assert copy_all(database, back) == counts
        for table, columns in all_columns().items():
            same = [name for name in columns if table != "store" or name not in copying.OF_THE_FILE]
            assert rows(file, table, same) == rows(database, table, same) == rows(back, table, same), table
        assert back.execute("select place, inode, device from store").fetchone() == ("", 0, 0)


def test_st12_new_rows_get_numbers_that_follow(file: FileConnection, database: PostgresConnection) -> None:
    copy_all(file, database)
    for table in numbered():
        assert database.last_number(table) == file.last_number(table), table
    last = file.last_number("deployment")
    columns = ", ".join(name for name in all_columns()["deployment"] if name not in {"number", "name"})
    some = f"select 'new', {columns} from deployment limit 1"
    row = database.execute(f"insert into deployment (name, {columns}) {some} returning number").fetchone()
    assert row == (last + 1,), "the last one was deleted, and its number is not given again"


def test_st12_what_the_target_had_of_an_idle_engine_is_replaced(
    file: FileConnection, database: PostgresConnection
) -> None:
    database.execute("insert into known_phase values ('old', '{}')")
    assert is_unused(database)
    copy_all(file, database)
    assert ("old",) not in database.execute("select name from known_phase").fetchall()
    assert not is_unused(database)


class Lossy(FileConnection):
    """A database that forgets the last row of the table ``blueprint``, or changes a value of it."""

    changes = False

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        kept = list(rows)
        if table == "blueprint":
            last = kept.pop()
            kept += [(*last[:-1], "changed")] * self.changes
        super().load(table, columns, kept)


@pytest.mark.parametrize(("changes", "words"), [(False, "number (2 instead of 3)"), (True, "content")])
def test_st12_a_row_that_is_lost_or_changed_is_noticed(
    file: FileConnection, tmp_path: Path, clock: a.FakeClock, *, changes: bool, words: str
) -> None:
    SqliteStore.open(tmp_path / "lossy.db", clock).close()
    with closing(sqlite3.connect(tmp_path / "lossy.db", isolation_level=None, factory=Lossy)) as lossy:
        lossy.changes = changes
        with pytest.raises(UncopiedRowsError, match="the rows of the table blueprint differ") as caught:
            copy_all(file, lossy)
    assert words in str(caught.value)


def test_st12_a_store_of_a_newer_version_is_not_copied(file: FileConnection) -> None:
    raise_if_newer(file, "here")
    file.execute("update store_schema set version = version + 1")
    with pytest.raises(ProblemsError) as caught:
        raise_if_newer(file, "here")
    assert refusal(caught)[0] == "PL-S002"
