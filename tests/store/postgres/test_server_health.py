"""Findings about a real server (rule ST14)."""

from __future__ import annotations

import os
import time
from contextlib import closing
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.store import builders as a
from tests.store.local_server import LocalServer
from tests.store.postgres_server import new_schema, server

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.postgres.server_health import is_bloated
from phaseline.store.postgres.store import PostgresStore

NAMES = ["server", "rights", "durability", "clock", "connections", "snapshot", "bloat"]


class RealClock:
    """The time of this machine."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000


def test_st14_a_sound_server_has_nothing_to_mend() -> None:
    with closing(PostgresStore.open(new_schema(), RealClock())) as store:
        found = store.server_checks()
    assert [name for _, name, _, _ in found] == NAMES
    assert [check for check in found if check[0] != "ok"] == []


def test_st14_a_clock_that_differs_by_an_hour_is_found() -> None:
    with closing(PostgresStore.open(new_schema(), RealClock())) as store:
        clock = a.FakeClock()
        clock.time = RealClock().now() + 3_600_000
        store._clock = clock
        (found,) = [check for check in store.server_checks() if check[1] == "clock"]
    assert found[0] == "warn"
    assert "3,600 s" in found[2] or "3,599 s" in found[2]


def test_st14_a_user_without_rights_is_found_and_refused_when_it_writes() -> None:
    url = new_schema()
    PostgresStore.open(url, a.FakeClock()).close()
    told = conninfo_to_dict(url)
    schema, name = str(told["options"]).rpartition("=")[2], f"reader_{os.urandom(4).hex()}"
    with psycopg.connect(server(), autocommit=True) as db:
        db.execute(f"create role {name} login")
        db.execute(f"grant usage on schema {schema} to {name}")
        db.execute(f"grant select on all tables in schema {schema} to {name}")
    mine = f"postgresql://{name}@/postgres?host={quote(str(told['host']))}&options={quote(str(told['options']))}"
    with closing(PostgresStore.open(mine, a.FakeClock())) as store:
        (found,) = [check for check in store.server_checks() if check[1] == "rights"]
        assert found[0] == "fail"
        with pytest.raises(ProblemsError, match="PL-S032"):
            store.create_deployment(a.deployment())


def test_a_replica_that_cannot_be_written_is_a_problem() -> None:
    url = new_schema()
    PostgresStore.open(url, a.FakeClock()).close()
    read_only = url.replace("options=", f"options={quote('-c default_transaction_read_only=on ')}")
    with closing(PostgresStore.open(read_only, a.FakeClock())) as store, pytest.raises(ProblemsError, match="PL-S034"):
        store.create_deployment(a.deployment())


def test_st14_settings_that_may_lose_turns_and_a_large_number_of_connections_are_found(own: LocalServer) -> None:
    own.stop()
    own.start(max_connections="12", synchronous_commit="off", autovacuum="off")
    try:
        with closing(PostgresStore.open(own.url(own.new_schema()), RealClock())) as store:
            found = {name: (level, text) for level, name, text, mend in store.server_checks() if level == "ok" or mend}
    finally:
        own.stop()
        own.start()
    assert found["durability"][0] == found["connections"][0] == "warn"
    assert "fsync is off" in found["durability"][1]
    assert "synchronous_commit is off" in found["durability"][1]
    assert "of 9 connections" in found["connections"][1]


def test_st14_the_oldest_transaction_is_named(own: LocalServer) -> None:
    url = own.url(own.new_schema())
    with closing(PostgresStore.open(url, RealClock())) as store, psycopg.connect(url) as reader:
        reader.execute("set transaction isolation level repeatable read")
        reader.execute("select count(*) from page")
        (found,) = [text for _, name, text, _ in store.server_checks() if name == "snapshot"]
    assert found.startswith("the oldest open transaction began ")


@pytest.mark.parametrize(
    ("size", "living", "dead", "expected"),
    [(10**9, 100, 401, True), (10**9, 100, 400, False), (10**6, 0, 10**6, False), (10**9, 0, 5, True)],
)
def test_st14_a_table_with_many_old_rows_is_bloated(size: int, living: int, dead: int, *, expected: bool) -> None:
    assert is_bloated(size, living, dead) is expected
