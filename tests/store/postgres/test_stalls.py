"""Processes that are stopped, and servers that are restarted or away, at any moment (rules ST9, HA10)."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import closing

import psycopg
import pytest
from tests.store import builders as a
from tests.store import engines
from tests.store.files import python
from tests.store.local_server import LocalServer
from tests.store.postgres_server import new_schema

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import LogLine, TurnPayload
from phaseline.store.postgres.connections import LEASE_S
from phaseline.store.postgres.store import PostgresStore
from phaseline.testing.clock import VirtualClock

RESTARTS = int(os.environ.get("TEST_CUTS", "50")) // 25
"""Restarts of a server in one test; ``make ha`` makes forty."""
AWAY = {"PL-S030", "PL-S035"}
STOPPED_S = 4 * LEASE_S
"""The longest that others may wait for a process that is stopped, on a slow machine: about LEASE_S on a fast one."""

IN_A_TRANSACTION = """
import sys
from tests.store import builders as a
from phaseline.model.problems.problem import ProblemsError
from phaseline.store.postgres.store import PostgresStore
store = PostgresStore.open(sys.argv[1], a.FakeClock())
try:
    with store.as_one():
        store.create_deployment(a.deployment("stopped"))
        print("in", flush=True)
        sys.stdin.readline()
except ProblemsError as error:
    print(error.problems[0].code, flush=True)
"""
IN_A_PIPELINE = """
import sys
import psycopg
from phaseline.store.postgres.connections import WRITER
db = psycopg.connect(sys.argv[1], autocommit=True)
db.execute(WRITER)
try:
    with db.pipeline():
        db.execute("begin")
        held = db.execute("select begin_turn(0, 0)")
        held.fetchone()
        print("in", flush=True)
        sys.stdin.readline()
        db.execute("commit")
except psycopg.Error as error:
    print("PL-S035", flush=True)
"""


@pytest.mark.parametrize("code", [IN_A_TRANSACTION, IN_A_PIPELINE], ids=["transaction", "pipeline"])
def test_st9_a_process_that_is_stopped_in_its_transaction_holds_up_others_only_for_the_lease(code: str) -> None:
    url = new_schema()
    with closing(PostgresStore.open(url, a.FakeClock())) as store, python(code, url) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "in\n"
        process.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        store.create_deployment(a.deployment("other"))
        assert time.monotonic() - begun < STOPPED_S
        process.send_signal(signal.SIGCONT)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "PL-S035\n"
        assert [row.name for row in store.deployments()] == ["other"]


def code_of(work: Callable[[], object]) -> str:
    """Code of the problem that the work raises, or nothing."""
    try:
        work()
    except ProblemsError as error:
        return error.problems[0].code
    return ""


@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_st9_a_server_that_restarts_between_transactions_is_not_noticed(own: LocalServer, how: str) -> None:
    with closing(PostgresStore.open(own.url(own.new_schema()), a.FakeClock())) as store:
        _, run = a.installed(store)
        with store.own("an engine"):
            store.commit(a.turn(graphs=(a.added(1, run, a.graph()),)))
            own.stop(how)
            own.start()
            store.commit(a.turn(pages=(a.page(1, 0, 3, 24),)))
            own.stop(how)
            own.start()
            assert set(store.statuses(1).tolist()) == {3}
            own.stop(how)
            own.start()
            store.create_deployment(a.deployment("two"))
        assert len(store.deployments()) == 2


@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_st9_a_server_that_restarts_in_a_transaction_undoes_it(own: LocalServer, how: str) -> None:
    with closing(PostgresStore.open(own.url(own.new_schema()), a.FakeClock())) as store:

        def restarted() -> None:
            with store.as_one():
                store.create_deployment(a.deployment("one"))
                own.stop(how)
                own.start()
                store.create_deployment(a.deployment("two"))

        assert code_of(restarted) == "PL-S035"
        assert store.deployments() == []
        with store.at_once():
            assert store.deployments() == []
            own.stop(how)
            own.start()
            assert code_of(store.deployments) == "PL-S035"
        store.create_deployment(a.deployment("one"))
        assert len(store.deployments()) == 1


@pytest.mark.ha
def test_ha10_restarts_while_an_owner_writes_lose_nothing_and_store_nothing_twice(own: LocalServer) -> None:
    done = threading.Event()

    def restart() -> None:
        for at in range(RESTARTS):
            own.stop("immediate" if at % 2 else "fast")
            own.start()
        done.set()

    with closing(PostgresStore.open(own.url(own.new_schema()), a.FakeClock())) as store:
        _, run = a.installed(store)
        stored: list[str] = []
        doubtful: set[str] = set()
        codes: set[str] = set()
        at = 0
        restarts = threading.Thread(target=restart)
        restarts.start()
        while not done.is_set():
            try:
                with store.own("an engine"):
                    while not done.is_set():
                        at += 1
                        line = f"line {at}"
                        doubtful.add(line)
                        store.commit(a.turn(payload=TurnPayload(logs=(LogLine(run, 5, "info", line),))))
                        doubtful.discard(line)
                        stored.append(line)
            except ProblemsError as error:  # on a slow machine a restart takes longer than the lease
                codes.add(error.problems[0].code)
        restarts.join()
        assert codes <= AWAY
        found = [line.text for line in store.logs(run, limit=1_000_000)]
        assert len(set(found)) == len(found)
        assert [line for line in found if line not in doubtful] == stored[-len(found) + len(doubtful & set(found)) :]
        assert list(store.check()) == []


@pytest.mark.ha
def test_ha10_a_server_that_is_away_in_mid_run_ends_the_engine_and_another_one_finishes(own: LocalServer) -> None:
    clock = VirtualClock(1_000)
    url = own.url(own.new_schema())
    with closing(PostgresStore.open(url, clock)) as store, closing(PostgresStore.open(url, clock)) as reader:
        _, id = engines.deployed(store, "shop", clock.now())
        called: list[tuple[str, str]] = []

        def run(turns: int) -> None:
            with engines.engine(store, clock) as (engine, executor):
                try:
                    engine.recover()
                    engines.turn(engine, executor, turns)
                    if turns == 1:
                        own.stop("immediate")
                        engines.turn(engine, executor, 100)
                finally:
                    called.extend(executor.called)

        assert code_of(lambda: run(1)) in AWAY
        assert code_of(reader.deployments) in AWAY
        assert code_of(reader.owner) in AWAY
        own.start()
        assert [row.name for row in reader.deployments()] == ["shop"]
        before = {(row.id) for row in store.batches(only_open=False) if row.closed_at}
        with psycopg.connect(url) as db:  # the lease of the engine that could not release it runs out
            db.execute("update lease set until = clock_timestamp()")
        run(200)
        found = store.execution(id)
        assert found is not None
        assert found.status in {ExecutionStatus.COMPLETED, ExecutionStatus.ATTENTION}
        assert before <= {row.id for row in store.batches(only_open=False)}
        assert list(store.check()) == []
