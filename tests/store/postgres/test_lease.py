"""The lease of the owner: taken, renewed, lost and taken over (rules HA2, RF7)."""

from __future__ import annotations

import threading
from contextlib import closing

import psycopg
import pytest
from tests.store import builders as a
from tests.store.postgres_server import new_schema

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.postgres.connections import LEASE_S
from phaseline.store.postgres.store import PostgresStore

PATIENCE_S = 60.0


def over(url: str) -> None:
    """The lease as if its holder had not renewed it in time."""
    with psycopg.connect(url) as db:
        db.execute("update lease set until = clock_timestamp() - interval '1 second'")


def left(url: str) -> float:
    """Seconds that the lease lasts by the clock of the database."""
    with psycopg.connect(url) as db:
        row = db.execute("select extract(epoch from until - clock_timestamp()) from lease").fetchone()
    assert row is not None
    return float(row[0])


def test_ha2_only_one_process_owns_the_store_and_others_are_told_which() -> None:
    url, clock = new_schema(), a.FakeClock()
    with closing(PostgresStore.open(url, clock)) as one, closing(PostgresStore.open(url, clock)) as two:
        with one.own("phaseline engine run") as first:
            owner = two.owner()
            assert owner is not None
            assert owner.command == "phaseline engine run"
            with pytest.raises(ProblemsError) as caught:
                two.own("another").__enter__()
            (problem,) = caught.value.problems
            assert (problem.code, "phaseline engine run" in problem.message) == ("PL-S004", True)
        assert two.owner() is None
        with two.own("another") as second:
            assert second > first


def test_ha2_the_lease_is_renewed_while_its_holder_works() -> None:
    url = new_schema()
    with closing(PostgresStore.open(url, a.FakeClock())) as store, store.own("an engine"):
        with psycopg.connect(url) as db:
            db.execute("update lease set until = clock_timestamp() + interval '2 seconds'")
        waited = threading.Event()
        for _ in range(int(PATIENCE_S * 20)):
            if left(url) > LEASE_S - 0.9:
                break
            waited.wait(0.05)
        assert 2 < left(url) <= LEASE_S


def test_st7_a_former_owner_writes_nothing_after_another_one_has_taken_over() -> None:
    url, clock = new_schema(), a.FakeClock()
    with closing(PostgresStore.open(url, clock)) as former, closing(PostgresStore.open(url, clock)) as next_one:
        _, run = a.installed(former)
        with former.own("the former"):
            former.commit(a.turn(graphs=(a.added(1, run, a.graph()),)))
            assert former._renewal is not None
            former._renewal.stop()  # as if it stood still
            over(url)
            with next_one.own("the next"):
                for write in (
                    lambda: former.commit(a.turn(pages=(a.page(1, 0, 3, 24),))),
                    lambda: former.create_deployment(a.deployment("late")),
                    lambda: former.set_process_group(1, 7),
                ):
                    with pytest.raises(ProblemsError) as caught:
                        write()
                    assert caught.value.problems[0].code == "PL-S004"
                next_one.commit(a.turn(pages=(a.page(1, 0, 5, 24),)))
                assert set(next_one.statuses(1).tolist()) == {5}
                assert next_one.deployment("late") is None
            # the former one ends and takes nothing from anybody
        assert next_one.owner() is None


def test_ha2_whoever_lost_the_lease_knows_it() -> None:
    url = new_schema()
    with closing(PostgresStore.open(url, a.FakeClock())) as store, store.own("an engine"):
        renewal = store._renewal
        assert renewal is not None
        assert not renewal.is_lost
        with psycopg.connect(url) as db:
            db.execute("update lease set holder = 'another'")
        waited = threading.Event()
        for _ in range(int(PATIENCE_S * 20)):
            if renewal.is_lost:
                break
            waited.wait(0.05)
        assert renewal.is_lost


def test_a_waiting_process_is_seen_by_others_and_not_by_itself() -> None:
    url, clock = new_schema(), a.FakeClock()
    with closing(PostgresStore.open(url, clock)) as one, closing(PostgresStore.open(url, clock)) as two:
        with two.waiting():
            assert (one.somebody_waits(), two.somebody_waits()) == (True, False)
        assert not one.somebody_waits()
