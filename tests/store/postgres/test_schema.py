"""The tables of a store in PostgreSQL."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import cast

import psycopg
import pytest
from tests.store import builders as a
from tests.store.postgres_server import new_schema

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.postgres import schema
from phaseline.store.postgres.connection import PostgresConnection
from phaseline.store.postgres.store import PostgresStore


def code(url: str, *, makes: bool = True) -> str:
    with pytest.raises(ProblemsError) as caught:
        PostgresStore.open(url, a.FakeClock(), makes=makes)
    (problem,) = caught.value.problems
    assert problem.mend
    return problem.code


def test_a_command_that_only_reads_makes_no_tables() -> None:
    url = new_schema()
    assert code(url, makes=False) == "PL-S007"
    with psycopg.connect(url) as db:
        assert db.execute("select count(*) from pg_tables where schemaname = current_schema()").fetchone() == (0,)


def test_a_database_with_other_tables_is_left_alone() -> None:
    url = new_schema()
    with psycopg.connect(url) as db:
        db.execute("create table orders (number integer)")
    assert code(url) == "PL-S001"


def test_a_store_of_a_newer_version_is_refused() -> None:
    url = new_schema()
    PostgresStore.open(url, a.FakeClock()).close()
    with psycopg.connect(url) as db:
        db.execute("update alembic_version set version_num = '9999'")
        db.execute("update store_schema set version = 9999, min_reader = 9999, min_writer = 9999")
    assert code(url) == "PL-S002"


def test_processes_that_begin_together_make_one_store() -> None:
    url, found = new_schema(), []

    def begin() -> None:
        with closing(PostgresStore.open(url, a.FakeClock())) as store:
            found.append(store.identity())

    threads = [threading.Thread(target=begin) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(found)) == 1


class OldServer:
    """A connection to a server of an old version, as far as it is asked."""

    server_version = 140_011


def test_too_old_a_server_is_refused() -> None:
    with pytest.raises(ProblemsError) as caught:
        schema.make_ready(cast("PostgresConnection", OldServer()), "url", "name", 0, makes=True)
    (problem,) = caught.value.problems
    assert (problem.code, "PostgreSQL 14" in problem.message) == ("PL-S033", True)


def counted(url: str) -> tuple[int, int]:
    """(updates of pages, those that wrote no index); the server counts them soon after a session has ended."""
    waited, found = threading.Event(), (0, 0)
    with psycopg.connect(url, autocommit=True) as db:
        for _ in range(1_200):
            row = db.execute(
                "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relid = 'page'::regclass"
            ).fetchone()
            found = row or found
            if found[0] >= 2_900:
                break
            waited.wait(0.05)
    return found


def test_st5_pages_that_are_written_again_and_again_do_not_grow() -> None:
    url = new_schema()
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        _, run = a.installed(store)
        with store.own("an engine"):
            store.commit(a.turn(graphs=(a.added(1, run, a.graph(20_000)),)))
            for at in range(300):
                store.commit(a.turn(at=at, pages=tuple(a.page(1, number, at % 5) for number in range(10))))
        with psycopg.connect(url) as db:
            assert db.execute(
                "select pg_table_size('page') < 4 * sum(length(statuses)) + 65536 from page"
            ).fetchone() == (True,)
    updated, hot = counted(url)
    assert updated >= 2_900
    assert hot >= 0.9 * updated


def test_st5_while_a_reader_holds_a_snapshot_the_pages_grow_by_what_is_written_and_later_no_more() -> None:
    url, written, kib = new_schema(), 1_800, 1_024
    with closing(PostgresStore.open(url, a.FakeClock())) as store, psycopg.connect(url, autocommit=True) as db:
        _, run = a.installed(store)

        def write(count: int) -> int:
            """The size of the table after so many more pages were written."""
            for at in range(0, count, 10):
                pages = tuple(a.page(1, at % 100 + number, at // 100 % 5) for number in range(10))
                store.commit(a.turn(at=at, pages=pages))
            row = db.execute("select pg_relation_size('page')").fetchone()
            assert row is not None
            return int(row[0])

        with store.own("an engine"):
            store.commit(a.turn(graphs=(a.added(1, run, a.graph(100_000, 1)),)))
            small = write(written)
            with psycopg.connect(url) as reader:
                reader.execute("set transaction isolation level repeatable read")
                reader.execute("select count(*) from page")
                large = write(written)
            assert small < 4 * 100 * 1_000
            assert large - small < 1.3 * written * kib
            assert write(2 * written) == large
