"""The lease of a store on a server: renewed by a thread, lost with time or to another process, never stuck (HA2, HA3)."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress

import psycopg
import pytest
from tests.store import builders as a
from tests.store.postgres_server import new_schema

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.postgres.connections import LEASE_S, LOCK
from phaseline.store.postgres.lease import STALLED_S, ServerLease
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


def test_ha2_a_lease_is_renewed_while_its_owner_lives(
    store: PostgresStore, db: psycopg.Connection[tuple[object, ...]]
) -> None:
    with store.own("test") as lease:
        read = "select until from lease"
        before = db.execute(read).fetchone()
        until(lambda: db.execute(read).fetchone() != before)
        assert (lease.is_late(), lease.is_lost()) == (False, False)
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
        until(lease.is_late)
        assert not lease.is_lost()
        until(lease.is_lost)
        blocker.rollback()
        assert lease.is_lost(), "what is lost stays lost"


def test_ha2_an_owner_whose_connections_are_cut_stays_the_owner(
    store: PostgresStore, url: str, db: psycopg.Connection[tuple[object, ...]]
) -> None:
    number, _ = store.create_deployment(a.deployment())
    with store.own("test") as lease:
        for state in range(1, 4):
            cut(db)
            store.commit(a.turn(states=(a.entered(number, (3,), state),)))
            assert not lease.is_lost()
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
        with store.own("test") as lease:
            assert not lease.is_lost()


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
