"""A store of an earlier version: copied, brought to the present schema, and what was open in it goes on."""

import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.store import builders as a
from tests.store.engines import engine, turn
from tests.store.files import python, refusal
from tests.store.make_store_v1 import BEGAN_AT, HOUR_MS

from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.graph.status import EntryStatus, ExecutionStatus
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.resources.resources import ResourceAddition, no_resources, type_node
from phaseline.model.rows.orders import NewOrder
from phaseline.model.rows.rows import Metric, NewDeployment, TurnPayload
from phaseline.model.rows.secrets import SecretRow, WrappedKey
from phaseline.store.codec.columns import encode
from phaseline.store.database import schema
from phaseline.store.migrations import upgrade
from phaseline.store.sqlite.owner_lock import OwnerLock
from phaseline.store.sqlite.store import SqliteStore
from phaseline.testing.clock import VirtualClock

OLD_STORE = Path(__file__).parent / "data" / "store-v1.db"


@pytest.fixture
def old(path: Path) -> Path:
    shutil.copyfile(OLD_STORE, path)
    return path


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(BEGAN_AT + 10_000)


@pytest.fixture
def upgraded(old: Path, clock: VirtualClock) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(old, clock)) as store:
        yield store


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("pragma user_version").fetchone()[0])


def test_the_copy_before_the_upgrade_is_the_store_as_it_was(upgraded: SqliteStore, old: Path) -> None:
    copy = old.with_name(f"store.db.before-v{schema.SCHEMA_VERSION}.db")
    (notice,) = upgraded.notices
    assert f"schema 1 to {schema.SCHEMA_VERSION}" in notice
    assert str(copy) in notice
    assert (version(copy), version(old)) == (1, schema.SCHEMA_VERSION)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with closing(sqlite3.connect(copy)) as kept, closing(sqlite3.connect(OLD_STORE)) as before:
        assert list(kept.iterdump()) == list(before.iterdump())


def test_only_an_upgrade_is_worth_a_notice(upgraded: SqliteStore, old: Path, clock: VirtualClock) -> None:
    upgraded.close()
    with closing(SqliteStore.open(old, clock)) as store:
        assert list(store.notices) == []


def test_a_copy_of_an_earlier_upgrade_is_not_replaced(old: Path, clock: VirtualClock) -> None:
    first = old.with_name(f"store.db.before-v{schema.SCHEMA_VERSION}.db")
    first.write_text("precious")
    with closing(SqliteStore.open(old, clock)) as store:
        assert f"before-v{schema.SCHEMA_VERSION}-2.db" in store.notices[0]
    assert first.read_text() == "precious"


def test_the_upgraded_store_is_sound_and_holds_what_it_held(upgraded: SqliteStore) -> None:
    assert list(upgraded.check()) == []
    assert [row.name for row in upgraded.deployments()] == ["late", "old", "shop"]
    assert [(row.id, row.status.value) for row in upgraded.executions()] == [
        ("install-1", "completed"),
        ("install-2", "running"),
        ("install-3", "queued"),
    ]
    assert upgraded.counters() == (3, 7)
    assert list(upgraded.requests()) == []
    assert [row.id for row in upgraded.batches(only_open=True)] == [4, 5]


def test_members_stand_in_the_row_of_their_batch_afterwards(upgraded: SqliteStore) -> None:
    with closing(sqlite3.connect(OLD_STORE)) as before:
        told = before.execute("select batch, graph, positions from segment order by batch, place").fetchall()
        owned = set(before.execute("select execution, batch from segment"))
    assert [(row.id, graph, encode(at)) for row in upgraded.batches() for graph, at in row.segments] == told
    assert {
        (row.number, batch.id) for row in upgraded.executions() for batch in upgraded.batches(execution=row.number)
    } == owned


def test_executions_that_were_open_go_on_and_end(upgraded: SqliteStore, clock: VirtualClock) -> None:
    (host, done, asleep, lost) = ("host_4", "web_1", "web_2", "web_3")
    with engine(upgraded, clock) as (going, executor):
        going.recover()
        turn(going, executor)
        early = list(executor.called)
        clock.advance_to(clock.now() + HOUR_MS)
        turn(going, executor)
    assert [row.status for row in upgraded.executions()] == [ExecutionStatus.COMPLETED] * 3
    assert upgraded.statuses(2).tolist() == [EntryStatus.COMPLETED] * 12
    shop = executor.called[: len(executor.called)]
    assert ("create", lost) in early
    assert ("create", host) in early
    assert [operation for operation, instance in shop if instance == asleep].count("create") == 2, "shop's and late's"
    assert [operation for operation, instance in shop if instance == done] == ["create", "start"], "late's alone"
    assert early.count(("create", asleep)) == 1, "a sleeper sleeps until it is due, also over an upgrade"


def test_the_same_numbers_go_on(upgraded: SqliteStore, clock: VirtualClock) -> None:
    with engine(upgraded, clock) as (going, executor):
        going.recover()
        turn(going, executor)
    assert [row.id for row in upgraded.graphs(3)] == [3]
    assert min(row.id for row in upgraded.batches(execution=3)) >= 7
    assert upgraded.create_deployment(a.deployment("new"), a.execution())[1] is not None
    assert [row.id for row in upgraded.executions()][-1] == "install-4"


def test_a_store_of_schema_2_may_hold_resources_afterwards(old: Path, clock: VirtualClock) -> None:
    upgrade(str(old), "0002")
    assert version(old) == 2
    with closing(SqliteStore.open(old, clock)) as store:
        (notice,) = store.notices
        assert f"schema 2 to {schema.SCHEMA_VERSION}" in notice
        assert [row.kind for row in store.deployments()] == ["blueprint"] * 3
        assert [graph.created_at for graph in store.graphs(1)] == [0]
        empty = no_resources()
        new = NewDeployment("night", empty.blueprint, {}, empty, CodeLocation(""), a.ANN, 5, kind="resources")
        number, _ = store.create_deployment(new)
        more = ResourceAddition(0, [type_node("Disk", ("Disk",))], ["d1"], np.zeros(1, np.int32), {0: {"Size": 3}})
        store.grow(number, more, a.ANN)
        assert store.documents(number) == {0: {"Size": 3}}
        assert store.pause_phase("Acme.Create", a.ANN, "new")
        assert list(store.check()) == []


def test_b41_a_store_of_schema_3_keeps_its_open_executions_and_takes_secrets_afterwards(
    old: Path, clock: VirtualClock
) -> None:
    upgrade(str(old), "0003")
    assert version(old) == 3
    with closing(SqliteStore.open(old, clock)) as store:
        (notice,) = store.notices
        assert f"schema 3 to {schema.SCHEMA_VERSION}" in notice
        assert [row.code.imported for row in store.deployments()] == [()] * 3
        row = SecretRow("token", 1, b"x", WrappedKey(b"y", "m"), 5, "ann", 5, "ann")
        assert store.secrets.put(row)
        assert store.secrets.find("token") == row
        with engine(store, clock) as (going, executor):
            going.recover()
            turn(going, executor)
            clock.advance_to(clock.now() + HOUR_MS)
            turn(going, executor)
        assert [row.status for row in store.executions()] == [ExecutionStatus.COMPLETED] * 3
        assert list(store.check()) == []


def test_a_store_of_schema_6_takes_orders_with_request_ids_afterwards(old: Path, clock: VirtualClock) -> None:
    upgrade(str(old), "0006")
    assert version(old) == 6
    with closing(SqliteStore.open(old, clock)) as store:
        (notice,) = store.notices
        assert f"schema 6 to {schema.SCHEMA_VERSION}" in notice
        assert store.orders.count() == 0
        with store.as_one(NewOrder("r-1", "digest", clock.now(), a.ANN)):
            store.create_deployment(a.deployment("new"), a.execution(), asks=True)
        found = store.orders.find(a.ANN, "r-1")
        assert found is not None
        assert found.executions == ("install-4",)
        assert list(store.check()) == []


def test_an_engine_of_the_older_version_is_not_disturbed(old: Path, clock: VirtualClock) -> None:
    lock = OwnerLock(f"{old}.lock")
    lock.take("phaseline install shop.yaml", 5)
    before = old.read_bytes()
    with pytest.raises(ProblemsError) as caught:
        SqliteStore.open(old, clock)
    code, text = refusal(caught)
    assert code == "PL-S005"
    assert "schema 1" in text
    assert old.read_bytes() == before
    assert [each.name for each in old.parent.iterdir() if "before" in each.name] == []
    lock.release()
    SqliteStore.open(old, clock).close()


def test_an_upgrade_that_fails_leaves_the_store_and_no_copy(old: Path, clock: VirtualClock) -> None:
    with closing(sqlite3.connect(old)) as db, db:
        db.execute("create table request (in_the_way)")
    with pytest.raises(ProblemsError) as caught:
        SqliteStore.open(old, clock)
    assert refusal(caught)[0] == "PL-S001"
    assert version(old) == 1
    with closing(sqlite3.connect(old)) as db, db:
        assert db.execute("select version_num from alembic_version").fetchall() == [("0001",)]
        db.execute("drop table request")
    assert [each.name for each in old.parent.iterdir() if "before" in each.name] == []
    SqliteStore.open(old, clock).close()


def test_without_room_for_the_copy_there_is_no_upgrade(old: Path) -> None:
    code = """if True:
        import resource, signal, sys
        from phaseline.model.problems.problem import ProblemsError
        from phaseline.store import open_store
        from tests.store.builders import FakeClock
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
        try:
            open_store(sys.argv[1], FakeClock())
        except ProblemsError as error:
            print(*(problem.code for problem in error.problems))
    """
    with python(code, f"sqlite:///{old}") as process:
        assert process.communicate()[0] == "PL-S006\n"
    assert version(old) == 1
    assert {each.name for each in old.parent.iterdir()} <= {"store.db", "store.db.lock", "store.db-wal", "store.db-shm"}


def test_of_many_that_open_an_older_store_at_once_one_upgrades_it(old: Path) -> None:
    code = """if True:
        import sys
        from phaseline.store import open_store
        from tests.store.builders import FakeClock
        sys.stdin.readline()
        store = open_store(sys.argv[1], FakeClock())
        print(len(store.executions()), len(store.notices))
    """
    processes = [python(code, f"sqlite:///{old}") for _ in range(3)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = sorted(process.communicate()[0].split() for process in processes)
    assert said == [["3", "0"], ["3", "0"], ["3", "1"]]


def test_the_clock_of_the_story_is_later_than_the_store(upgraded: SqliteStore) -> None:
    assert all(row.created_at < BEGAN_AT + 10_000 for row in upgraded.executions())


def test_a_store_of_schema_4_keeps_what_is_measured_afterwards(old: Path, clock: VirtualClock) -> None:
    upgrade(str(old), "0004")
    assert version(old) == 4
    with closing(SqliteStore.open(old, clock)) as store:
        assert store.measures() == {}
        with store.own("test"):
            store.commit(a.turn(5, payload=TurnPayload(measures=[Metric("engine", 5, {"pid": 1})])))
        assert store.measures() == {"engine": Metric("engine", 5, {"pid": 1})}
        assert list(store.check()) == []
