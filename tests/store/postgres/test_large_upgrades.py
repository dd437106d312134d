"""Upgrades of stores with many deployments, by real processes that are really killed (rule UP3)."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest
from tests.started import Process
from tests.store import builders as a
from tests.store.files import ROOT
from tests.store.postgres_server import new_schema
from tests.store.unfilled import moved, multiply, schema_9

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.row_queries import ExecutionQuery
from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.migrations import due, upgrade_database
from phaseline.store.postgres import lease
from phaseline.store.postgres.connections import TAKE_LOCK, WRITER, PostgresConnections
from phaseline.store.postgres.store import PostgresStore
from phaseline.store.postgres.upgrade import TABLE_PATIENCE_MS, UPGRADE_LOCK
from phaseline.store.versions import version_of_store

MANY, SOME, EACH = 20_000, 6_000, 5
"""Deployments of a store, and executions of each."""
PATIENCE_S = 60
LONGEST_LOCK_S = 1.0
INDEXES = (
    "select indexname, replace(indexdef, schemaname || '.', '') from pg_indexes where schemaname = current_schema()"
)

T = TypeVar("T")


@pytest.fixture
def old_store(tmp_path: Path) -> Callable[..., str]:
    """Gives the URL of a store of schema 9 with so many deployments beside a few others."""

    def make(count: int = 1) -> str:
        url = new_schema()
        schema_9(tmp_path / "store.db")
        moved(tmp_path / "store.db", url)
        with psycopg.connect(url) as db:
            multiply(db.execute, count, EACH)
        return url

    return make


def is_right(url: str) -> bool:
    """Whether the store is sound and counts its executions."""
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        return store.check() == [] and is_counted(store)


def is_counted(store: PostgresStore) -> bool:
    return store.listings.count(ExecutionQuery()) == len(store.executions())


def command(url: str, *words: str) -> Process:
    """``phaseline store upgrade`` in a process of its own."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}",
        "PHASELINE_STORE_URL": url,
        "PHASELINE_LOG_FILE": "none",
    }
    line = [sys.executable, "-m", "phaseline", "store", "upgrade", "--json", *words]
    return Process(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def answer(process: Process) -> dict[str, Any]:
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def until(look: Callable[[], T | None]) -> T:
    """What it gives as soon as that is something."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        found = look()
        if found:
            return found
    raise AssertionError("it did not come to that")


def position(url: str) -> int:
    """How far the deployments are; 0 before the migration."""
    return next((each.done for each in version_of_store(url).fillings if each.name == "deployments"), 0)


@contextmanager
def lock_waits(url: str) -> Iterator[list[float]]:
    """How long each of many writers waits meanwhile, in seconds: for the store's lock, and for tables."""
    waits: list[float] = []
    is_over = threading.Event()

    def write() -> None:
        with psycopg.connect(url) as db:
            while not is_over.is_set():
                begun = time.monotonic()
                db.execute(TAKE_LOCK)
                db.execute("update execution set reason = reason where number = 1")
                db.execute("update deployment set description = description where number = 1")
                db.execute("select epoch from store")
                db.commit()
                waits.append(time.monotonic() - begun)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield waits
    finally:
        is_over.set()
        thread.join()


def test_up3_an_upgrade_of_20_000_deployments_keeps_others_from_writing_for_less_than_a_second(
    old_store: Callable[..., str],
) -> None:
    url = old_store(MANY)
    with lock_waits(url) as waits, command(url) as process:
        done = answer(process)
    assert (done["upgraded_from"], done["schema"], done["fillings"]) == (9, SCHEMA_VERSION, [])
    assert done["steps"] > 1
    assert max(waits) < LONGEST_LOCK_S
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        assert is_counted(store)


def test_up3_an_upgrade_that_is_killed_again_and_again_goes_on_where_it_was(old_store: Callable[..., str]) -> None:
    url, reached = old_store(SOME), 0
    for _ in range(3):
        with command(url) as process:
            reached = until(lambda: (found := position(url)) > reached and found)  # noqa: B023 - used at once
            process.kill()
            process.wait()
        assert position(url) >= reached
        assert not version_of_store(url).is_finished
    with command(url, "--status") as process:
        found = answer(process)
    first, second = found["fillings"]
    assert (first["name"], first["done"] >= reached, second["name"]) == ("deployments", True, "executions")
    assert f"process {process.pid}" not in first["worker"]
    assert "store upgrade" in first["worker"]
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        assert store.notices == ()
        assert is_counted(store)
    with command(url) as process:
        done = answer(process)
    assert (done["upgraded_from"], done["fillings"]) == (0, [])
    assert is_right(url)


def test_up3_two_upgrades_at_once_do_it_once(old_store: Callable[..., str]) -> None:
    url = old_store(SOME)
    with command(url) as one, command(url) as other:
        done = [answer(one), answer(other)]
    assert all(each["schema"] == SCHEMA_VERSION and not each["fillings"] for each in done)
    assert is_right(url)


def is_unfinished(db: psycopg.Connection[Any]) -> bool:
    """Whether an index of the store has been begun and is not whole."""
    statement = """select 1 from pg_index join pg_class on pg_class.oid = indexrelid where not indisvalid
        and relnamespace = cast(current_schema()::text as regnamespace)"""
    return db.execute(statement).fetchone() is not None


def test_up3_an_index_that_a_killed_process_has_left_is_made_again_and_keeps_nobody_from_writing(
    old_store: Callable[..., str],
) -> None:
    url, fresh = old_store(), new_schema()
    PostgresStore.open(fresh, a.FakeClock()).close()
    with psycopg.connect(url) as old, psycopg.connect(url, autocommit=True) as db:
        old.execute("begin isolation level repeatable read")
        old.execute("select 1 from execution")  # the index cannot be finished before this ends
        with command(url) as process:
            until(lambda: is_unfinished(db))
            with command(url, "--status") as asked:
                assert answer(asked)["schema"] == 9
            db.execute("set lock_timeout = '1s'")
            db.execute("update execution set reason = 'written meanwhile'")
            process.kill()
            process.wait()
        db.execute(
            """select pg_terminate_backend(pid) from pg_stat_activity
            where query like 'create index concurrently%' and pid <> pg_backend_pid()"""
        )
        assert is_unfinished(db)
        old.rollback()
        PostgresStore.open(url, a.FakeClock()).close()
        assert not is_unfinished(db)
        with psycopg.connect(fresh) as other:
            assert sorted(db.execute(INDEXES)) == sorted(other.execute(INDEXES))


def test_up3_a_migration_that_waits_for_a_reader_makes_others_wait_for_less_than_a_second(
    old_store: Callable[..., str],
) -> None:
    url = old_store()
    waiting = "select 1 from pg_locks where relation = 'paused_phase'::regclass and not granted and mode = 'AccessExclusiveLock'"
    with psycopg.connect(url) as reader, psycopg.connect(url, autocommit=True) as db:
        reader.execute("select name from paused_phase")
        with command(url) as process:
            for _ in range(2):
                until(lambda: db.execute(waiting).fetchone())
                begun = time.monotonic()
                db.execute("select name from paused_phase")
                assert time.monotonic() - begun < TABLE_PATIENCE_MS / 1_000 + LONGEST_LOCK_S / 2
            reader.rollback()
            assert answer(process)["upgraded_from"] == 9


def test_up3_an_engine_of_the_older_version_that_starts_meanwhile_is_not_disturbed(
    old_store: Callable[..., str],
) -> None:
    url = old_store()
    with psycopg.connect(url) as old, psycopg.connect(url, autocommit=True) as db:
        old.execute("begin isolation level repeatable read")
        old.execute("select 1 from execution")
        with command(url) as process:
            until(lambda: is_unfinished(db))
            with closing(PostgresConnections(url, "shown", lambda: None).connect(WRITER)) as engine:
                lease.take(engine, "an older engine", "phaseline engine run", 5)
            old.rollback()
            told = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 1
        assert "PL-S005" in "".join(told)
        assert version_of_store(url).schema == 9
        db.execute("update lease set until = now() - interval '1 second'")
        PostgresStore.open(url, a.FakeClock()).close()
        assert version_of_store(url).is_finished


def test_up3_an_engine_that_owns_the_older_store_keeps_its_tables(old_store: Callable[..., str]) -> None:
    url = old_store()
    with closing(PostgresConnections(url, "shown", lambda: None).connect(WRITER)) as engine:
        lease.take(engine, "an older engine", "phaseline engine run", 5)
    with pytest.raises(ProblemsError, match="PL-S005"):
        PostgresStore.open(url, a.FakeClock())
    assert version_of_store(url).schema == 9


def test_up3_a_process_that_waits_for_an_upgrade_uses_the_store_although_it_has_an_owner_then(
    old_store: Callable[..., str],
) -> None:
    url = old_store()
    waiting = (
        "select 1 from pg_stat_activity where query like 'select pg_try_advisory_lock%' and pid <> pg_backend_pid()"
    )
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(f"select pg_advisory_lock({UPGRADE_LOCK})")
        with command(url) as process:
            until(lambda: other.execute(waiting).fetchone())
            for migration in due(9):
                for index in migration.indexes:
                    other.execute(index)
                upgrade_database(lambda: psycopg.connect(url), (TAKE_LOCK,), migration.name, lambda _: None)
            with closing(PostgresStore.open(url, a.FakeClock())) as store, store.own("an engine"):
                assert answer(process)["fillings"] == []
                assert "an engine" in str(version_of_store(url).owner)
