"""The lease of a store on a server: renewed by a thread, lost with time or to another process, never stuck (HA2, HA3)."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress

import psycopg
import pytest
from tests.store import builders as a
from tests.store.postgres_server import new_schema

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.postgres.connections import LEASE_S, LOCK, STALLED_S
from phaseline.store.postgres.lease import ServerLease
from phaseline.store.postgres.store import PostgresStore

PATIENCE_S = 60.0
RUN_OUT = "update lease set until = clock_timestamp() - interval '1 second'"


@pytest.fixture
def url() -> str:
    return new_schema()


@pytest.fixture
def store(url: str, clock: a.FakeClock) -> Iterator[PostgresStore]:
    with closing(PostgresStore.open(url, clock)) as store:
        yield store


@pytest.fixture
def other(url: str, store: PostgresStore, clock: a.FakeClock) -> Iterator[PostgresStore]:
    """The store as another process has opened it."""
    with closing(PostgresStore.open(url, clock)) as other:
        yield other


@pytest.fixture
def db(url: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(url, autocommit=True) as db:
        yield db


def until(is_so: Callable[[], object]) -> None:
    pause = threading.Event()
    for _ in range(int(PATIENCE_S / 0.02)):
        if is_so():
            return
        pause.wait(0.02)
    raise AssertionError("it does not happen")


def code(caught: pytest.ExceptionInfo[ProblemsError]) -> str:
    return caught.value.problems[0].code


@contextmanager
def taken_over(store: PostgresStore, db: psycopg.Connection[tuple[object, ...]]) -> Iterator[ServerLease]:
    """The store takes the place of an owner whose lease runs out between two renewals."""
    with ExitStack() as owned:
        found: list[ServerLease] = []

        def is_so() -> bool:
            db.execute(RUN_OUT)
            with suppress(ProblemsError):
                found.append(owned.enter_context(store.own("the second")))
            return bool(found)

        until(is_so)
        yield found[0]


def test_ha2_only_one_process_owns_the_store_and_others_are_told_which(
    store: PostgresStore, other: PostgresStore
) -> None:
    with store.own("phaseline engine run") as first:
        owner = other.owner()
        assert owner is not None
        assert (owner.command, owner.holder) == ("phaseline engine run", first.holder)
        with pytest.raises(ProblemsError) as caught:
            other.own("another").__enter__()
        (problem,) = caught.value.problems
        assert (problem.code, "phaseline engine run" in problem.message) == ("PL-S004", True)
    assert other.owner() is None
    with other.own("another") as second:
        assert second.epoch > first.epoch


def test_st7_a_former_owner_writes_nothing_after_another_one_has_taken_over(
    store: PostgresStore, other: PostgresStore, db: psycopg.Connection[tuple[object, ...]]
) -> None:
    _, run = a.installed(store)
    with store.own("the former") as lease:
        store.commit(a.turn(graphs=(a.added(1, run, a.graph()),)))
        lease.stop()  # as if it stood still
        with taken_over(other, db):
            for write in (
                lambda: store.commit(a.turn(pages=(a.page(1, 0, 3, 24),))),
                lambda: store.create_deployment(a.deployment("late")),
                lambda: store.set_process_group(1, 7),
            ):
                with pytest.raises(ProblemsError) as caught:
                    write()
                assert code(caught) == "PL-S004"
            other.commit(a.turn(pages=(a.page(1, 0, 5, 24),)))
            assert set(other.statuses(1).tolist()) == {5}
            assert other.deployment("late") is None
    assert other.owner() is None


def test_ha2_a_process_that_waits_is_seen_by_others_and_not_by_itself(
    store: PostgresStore, other: PostgresStore
) -> None:
    with other.waiting():
        assert (store.somebody_waits(), other.somebody_waits()) == (True, False)
    assert not store.somebody_waits()


def test_ha2_a_lease_is_renewed_while_its_owner_lives(
    store: PostgresStore, db: psycopg.Connection[tuple[object, ...]]
) -> None:
    with store.own("test") as lease:
        read = "select until from lease"
        before = db.execute(read).fetchone()
        until(lambda: db.execute(read).fetchone() != before)
        assert lease.holder
    assert store.owner() is None


def test_ha2_a_lease_that_has_run_out_is_taken_over_and_its_former_owner_writes_nothing(
    store: PostgresStore, other: PostgresStore, db: psycopg.Connection[tuple[object, ...]]
) -> None:
    number, _ = store.create_deployment(a.deployment())
    with store.own("the first") as first:
        with taken_over(other, db) as second:
            assert second.epoch == first.epoch + 1
            until(first.is_lost)
            assert first.is_late()
            assert first.loss().problems[0].code == "PL-S004"
            with pytest.raises(ProblemsError) as caught:
                store.commit(a.turn(states=(a.entered(number, (3,), 1),)))
            assert code(caught) == "PL-S004"
            other.commit(a.turn(states=(a.entered(number, (2,), 1),)))
        assert store.owner() is None
    assert not store.states(number)[3]


def test_ha2_a_former_owner_releases_nothing_of_its_successor(
    store: PostgresStore, other: PostgresStore, db: psycopg.Connection[tuple[object, ...]]
) -> None:
    with other.own("the first") as first:
        later = ExitStack()
        second = later.enter_context(taken_over(store, db))
        until(first.is_lost)
    with later:
        owner = store.owner()
        assert owner is not None
        assert owner.holder == second.holder


def test_ha2_who_cannot_renew_is_late_after_half_the_time_and_loses_the_lease_after_all_of_it(
    store: PostgresStore, url: str
) -> None:
    with psycopg.connect(url) as blocker, store.own("test") as lease:
        blocker.execute("select 1 from lease for update")  # no renewal gets through
        seen: list[tuple[bool, bool]] = []

        def has_lost() -> bool:
            is_lost = lease.is_lost()
            seen.append((lease.is_late(), is_lost))
            return is_lost

        until(has_lost)
        assert all(is_late >= is_lost for is_late, is_lost in seen)
        blocker.rollback()
        assert lease.is_lost(), "what is lost stays lost"


def test_ha2_an_owner_whose_connections_are_cut_stays_the_owner(
    store: PostgresStore, url: str, db: psycopg.Connection[tuple[object, ...]]
) -> None:
    number, _ = store.create_deployment(a.deployment())
    with store.own("test"):
        for state in range(1, 4):
            cut(db)
            store.commit(a.turn(states=(a.entered(number, (3,), state),)))
        before = db.execute("select until from lease").fetchone()
        until(lambda: db.execute("select until from lease").fetchone() != before)
    assert store.states(number)[3] == 3


def cut(db: psycopg.Connection[tuple[object, ...]]) -> None:
    """End all sessions of the store but this one."""
    ended = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'phaseline'"
    db.execute(f"{ended} and pid <> pg_backend_pid()")


def stop_in_a_pipeline(db: psycopg.pq.abc.PGconn) -> None:
    """Take the lock of the writers, and send no more although the pipeline has not ended."""
    db.enter_pipeline_mode()
    for statement in ("begin", f"select pg_advisory_xact_lock({LOCK}, hashtext(current_schema()::text))"):
        db.send_query_params(statement.encode(), None)
    db.send_flush_request()
    db.flush()


def stalled(db: psycopg.Connection[tuple[object, ...]], pid: int) -> bool:
    """True once this session has been waiting for its client for long."""
    told = "select state_change < clock_timestamp() - make_interval(secs => %s) from pg_stat_activity where pid = %s"
    return db.execute(told, (STALLED_S + 0.1, pid)).fetchone() == (True,)


def test_ha3_an_owner_that_was_stopped_between_statements_of_a_pipeline_does_not_keep_the_store(
    store: PostgresStore, url: str, db: psycopg.Connection[tuple[object, ...]]
) -> None:
    with closing(psycopg.connect(url, autocommit=True)) as stopped:
        stopped.execute("set idle_in_transaction_session_timeout = '1s'")
        stop_in_a_pipeline(stopped.pgconn)
        until(lambda: stalled(db, stopped.info.backend_pid))  # the server does not end the session by itself
        with store.own("test"):
            assert store.owner() is not None


def test_the_owner_on_another_machine_is_named_with_its_host(
    store: PostgresStore, other: PostgresStore, db: psycopg.Connection[tuple[object, ...]]
) -> None:
    with store.own("phaseline engine run"):
        here = other.owner()
        db.execute("update lease set host = 'db-2'")
        there = other.owner()
    assert here is not None
    assert there is not None
    assert (here.host, there.host) == ("", "db-2")
    assert f"Process {there.pid} on db-2 (phaseline engine run, since " in str(there)


def test_the_lease_lasts_as_long_as_the_rule_says() -> None:
    assert LEASE_S == 4
