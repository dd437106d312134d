"""Processes of any machine wake the owner by notices of the server; a cut connection costs at most a moment (RF6, ST8)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg
import pytest
from tests.store import builders as a
from tests.store.cutting_proxy import CuttingProxy
from tests.store.postgres_server import new_schema

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import LogLine, RequestAnswer, RequestKind, TurnPayload
from phaseline.run.loop.request_reader import LOOK_MS
from phaseline.store.postgres.connections import CHANNEL
from phaseline.store.postgres.notices import AGAIN_MS, UNNOTICED_MS
from phaseline.store.postgres.store import PostgresStore

LONG_S = 60
"""After so many seconds a test has failed."""


@pytest.fixture
def url() -> str:
    return new_schema()


@contextmanager
def opened(url: str) -> Iterator[tuple[PostgresStore, PostgresStore]]:
    """The store as two processes have it."""
    with closing(PostgresStore.open(url, a.FakeClock())) as one, closing(PostgresStore.open(url, a.FakeClock())) as two:
        yield one, two


class Ear:
    """Hears all notices of a store, as its owner does."""

    def __init__(self, url: str) -> None:
        self.db = psycopg.connect(url, autocommit=True)
        row = self.db.execute(f"select {CHANNEL}").fetchone()
        assert row is not None
        self.channel = str(row[0])
        self.db.execute(f'listen "{self.channel}"')

    def heard(self, url: str) -> int:
        """Number of notices since the last call; they arrive in the order of their transactions."""
        with psycopg.connect(url, autocommit=True) as other:
            other.execute("select pg_notify(%s, 'end')", (self.channel,))
        for count, notice in enumerate(self.db.notifies(timeout=LONG_S)):
            if notice.payload == "end":
                return count
        raise AssertionError("the last notice has not come")


def ask(store: PostgresStore) -> int:
    return store.ask(RequestKind.PAUSE, 0, {}, a.ANN)


def test_st8_a_request_of_another_process_wakes_the_owner_when_it_is_there(url: str) -> None:
    woken = threading.Event()
    with opened(url) as (owner, asker):
        with owner.listen(woken.set) as every_ms:
            assert LOOK_MS < every_ms == UNNOTICED_MS <= 2_000
            for number in range(1, 4):
                ask(asker)
                assert woken.wait(LONG_S)
                woken.clear()
                assert len(owner.requests()) == number
            asker.create_deployment(a.deployment(), a.execution())
            assert woken.wait(LONG_S)
        assert [thread for thread in threading.enumerate() if thread.name == "phaseline-wake-ups"] == []


def test_st8_a_transaction_sends_one_notice_at_most_and_none_if_nothing_is_to_be_read(url: str) -> None:
    with opened(url) as (store, _), closing(Ear(url).db), closing((ear := Ear(url)).db):
        ask(store)
        assert ear.heard(url) == 1
        with store.as_one():
            store.create_deployment(a.deployment(), a.execution())
            ask(store)
            ask(store)
        assert ear.heard(url) == 1
        store.create_deployment(a.deployment("quiet"))
        store.ask(RequestKind.PAUSE, 0, {}, a.ANN, answer={"done": True})
        store.pause_phase("Acme", a.ANN, "")
        with pytest.raises(LookupError):
            store.ask(RequestKind.WAKE, 99, {}, a.ANN)
        assert ear.heard(url) == 0
        with store.listen(lambda: None):
            ask(store)
        assert ear.heard(url) == 0, "the owner is in this process, and was called"


def test_st8_a_turn_of_the_engine_sends_no_notice(url: str) -> None:
    with opened(url) as (store, _), closing((ear := Ear(url)).db):
        _, run = a.installed(store)
        assert ear.heard(url) == 1
        with store.own("an engine"):
            answers = [RequestAnswer(row.number, {}) for row in store.requests()]
            store.commit(a.turn(executions=(a.status(run, ExecutionStatus.RUNNING),)))
            store.commit(a.turn(payload=TurnPayload(answers=answers, logs=(LogLine(run, 5, "info", "x"),))))
        assert ear.heard(url) == 0


def test_st8_a_notice_costs_no_round_trip(cut: tuple[CuttingProxy, str]) -> None:
    proxy, url = cut
    made = []
    with opened(url) as (store, _):
        for kind in (RequestKind.PAUSE, RequestKind.PAUSE, RequestKind.PAUSE):
            before = proxy.round_trips
            store.ask(kind, 0, {}, a.ANN)
            made.append(proxy.round_trips - before)
        with store.listen(lambda: None):  # then none is sent
            before = proxy.round_trips
            ask(store)
            assert proxy.round_trips - before == made[-1]


def test_bg4_an_owner_and_whoever_waits_read_with_one_round_trip(cut: tuple[CuttingProxy, str]) -> None:
    proxy, url = cut
    with opened(url) as (store, _):
        number = ask(store)
        own = store.of(a.ANN.tenant)
        waits = store.owner, store.requests, lambda: store.answer_of(number), own.owner, lambda: own.answer_of(number)
        for read in waits:
            for _ in range(10):  # the driver prepares a statement when it has seen it five times
                read()
            before = proxy.round_trips
            for _ in range(10):
                read()
            assert proxy.round_trips - before == 10
            proxy.cut_all()
            read()  # a connection that was lost meanwhile is opened again
        with store.at_once():
            before = proxy.round_trips
            assert len(store.requests()) == 1
            assert proxy.round_trips - before == 1


def test_st8_stores_in_other_schemas_wake_nobody(url: str) -> None:
    calls: list[int] = []
    woken = threading.Event()

    def wake() -> None:
        calls.append(1)
        woken.set()

    with opened(url) as (owner, asker), closing(PostgresStore.open(new_schema(), a.FakeClock())) as other:
        with owner.listen(wake):
            ask(other)
            ask(asker)
            assert woken.wait(LONG_S)
        assert len(calls) == 1


def test_st8_a_connection_that_is_cut_is_opened_again_and_what_it_has_missed_is_looked_for(
    cut: tuple[CuttingProxy, str], url: str
) -> None:
    proxy, through = cut
    woken = threading.Event()
    with opened(through) as (owner, asker), owner.listen(woken.set):
        for _ in range(3):
            proxy.cut_all()
            assert woken.wait(LONG_S), "it is woken when the connection is there again"
            woken.clear()
            ask(asker)
            assert woken.wait(LONG_S)
            woken.clear()
    assert AGAIN_MS < UNNOTICED_MS


def test_st8_an_owner_that_cannot_listen_yet_begins_to_when_the_server_is_back(cut: tuple[CuttingProxy, str]) -> None:
    proxy, through = cut
    woken = threading.Event()
    with opened(through) as (owner, _):
        proxy.is_open = False
        with owner.listen(woken.set) as every_ms:
            assert every_ms == UNNOTICED_MS
            assert not woken.is_set()
            proxy.is_open = True
            assert woken.wait(LONG_S)
        with owner.listen(woken.set):
            proxy.is_open = False
            proxy.cut_all()  # and it ends while it tries
        proxy.is_open = True
