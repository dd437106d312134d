"""Stores in PostgreSQL are upgraded by the same migrations as files, from schema 5 on (rules ST11, UP1)."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from tests.store import builders as a
from tests.store.old_stores import unpack
from tests.store.postgres_server import new_schema
from tests.store.unfilled import moved

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.postgres import schema
from phaseline.store.postgres.connections import WRITER, PostgresConnections
from phaseline.store.postgres.store import PostgresStore
from phaseline.store.sqlite.store import SqliteStore


def rows_of(columns: Iterator[tuple[object, ...]]) -> list[str]:
    return sorted(map(str, columns))


@pytest.mark.parametrize("version", [5, 6, 7])
def test_st11_a_store_of_an_older_schema_becomes_what_a_file_becomes(tmp_path: Path, version: int) -> None:
    file, url, clock = tmp_path / "store.db", new_schema(), a.FakeClock()
    unpack(version, file)
    moved(file, url)
    with closing(PostgresStore.open(url, clock)) as store:
        assert store.notices == (f"The store was brought from schema {version} to {SCHEMA_VERSION}",)
        assert store.check() == []
        assert store.executions()
    SqliteStore.open(file, clock).close()
    with closing(sqlite3.connect(file)) as ours, psycopg.connect(url) as theirs:
        tables = [
            name
            for (name,) in ours.execute(
                "select name from sqlite_master where type = 'table' and name not like 'sqlite%'"
            )
        ]
        for table in set(tables) - {"store", "incarnation"}:  # they hold the place of the file
            columns = [row[1] for row in ours.execute(f"pragma table_info({table})")]
            chosen = ", ".join(columns)
            assert rows_of(ours.execute(f"select {chosen} from {table}")) == rows_of(
                theirs.execute(f"select {chosen} from {table}")
            ), table
    with closing(PostgresStore.open(url, clock)) as store:
        assert store.notices == ()


def test_up1_an_older_store_is_not_upgraded_while_an_engine_owns_it(tmp_path: Path) -> None:
    url, clock = new_schema(), a.FakeClock()
    with closing(PostgresStore.open(url, clock)) as store, store.own("an older engine"):
        with psycopg.connect(url) as db:
            db.execute("update alembic_version set version_num = '0007'")
        with pytest.raises(ProblemsError) as caught:
            PostgresStore.open(url, clock)
    assert caught.value.problems[0].code == "PL-S005"


@pytest.mark.parametrize(("min_writer", "may_write"), [(SCHEMA_VERSION, True), (SCHEMA_VERSION + 1, False)])
def test_up1_a_newer_store_is_used_as_far_as_it_allows(min_writer: int, *, may_write: bool) -> None:
    url, clock = new_schema(), a.FakeClock()
    with closing(PostgresStore.open(url, clock)) as store:
        a.installed(store)
    with psycopg.connect(url) as db:
        newer = SCHEMA_VERSION + 1
        db.execute("update alembic_version set version_num = %s", (f"{newer:04}",))
        db.execute(
            "update store_schema set version = %s, min_reader = %s, min_writer = %s",
            (newer, SCHEMA_VERSION, min_writer),
        )
    with closing(PostgresStore.open(url, clock)) as store:
        assert store.deployment("shop") is not None
        if may_write:
            a.installed(store, "other")
            return
        with pytest.raises(ProblemsError) as caught:
            a.installed(store, "other")
        assert caught.value.problems[0].code == "PL-S002"


def test_the_present_tables_are_found_as_they_are() -> None:
    url = new_schema()
    PostgresStore.open(url, a.FakeClock()).close()
    with closing(PostgresConnections(url, "shown", lambda: None).connect(WRITER)) as db:
        assert schema.version_of(db, "shown") == SCHEMA_VERSION
