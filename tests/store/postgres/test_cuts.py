"""Connections that are cut at any moment: nothing is lost, nothing is stored twice (rule ST9)."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from contextlib import closing

import psycopg
import pytest
from tests.store import builders as a
from tests.store.cutting_proxy import CuttingProxy, Where

from phaseline.lang.fast_dataclasses import mutable
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.orders import GivenBeforeError, NewOrder
from phaseline.model.rows.rows import DocumentChange, LogLine, RequestKind, TurnPayload
from phaseline.store.postgres.store import PostgresStore

CUTS = int(os.environ.get("TEST_CUTS", "50"))
"""Cut connections in one test; ``make ha`` makes a thousand."""
WHERE: tuple[Where, ...] = ("before", "during", "unheard", "after")
MESSAGES = 40
"""A connection is cut after at most so many messages, of which a turn has about thirty."""


def code_of(work: Callable[[], object]) -> str:
    """Code of the problem that the work raises, or nothing."""
    try:
        work()
    except ProblemsError as error:
        (problem,) = error.problems
        assert problem.mend
        return problem.code
    return ""


@pytest.mark.parametrize("where", WHERE)
def test_st9_a_turn_that_is_cut_at_its_commit_is_stored_once(cut: tuple[CuttingProxy, str], where: Where) -> None:
    proxy, url = cut
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        _, run = a.installed(store)
        with store.own("an engine"):
            store.commit(a.turn(graphs=(a.added(1, run, a.graph()),)))
            for at in range(8):  # the driver prepares a statement when it has seen it five times
                proxy.cut = where
                store.commit(a.turn(payload=TurnPayload(logs=(LogLine(run, 5, "info", f"line {at}"),))))
                assert proxy.cuts == at + 1
            assert [line.text for line in store.logs(run)] == [f"line {at}" for at in range(8)]


@pytest.mark.parametrize("where", WHERE)
def test_st9_a_deployment_whose_commit_is_cut_is_reported_as_it_is_stored(
    cut: tuple[CuttingProxy, str], where: Where
) -> None:
    proxy, url = cut
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        expected: list[str] = []
        for at in range(8):
            proxy.cut = where
            code = code_of(lambda at=at: store.create_deployment(a.deployment(f"shop-{at}")))
            assert code in {"", "PL-S035"}
            expected += [] if code else [f"shop-{at}"]
        assert [row.name for row in store.deployments()] == expected
        assert where in {"after", "unheard"} or not expected
        assert where != "after" or len(expected) == 8


def test_st9_a_read_that_is_cut_succeeds_or_is_a_problem_and_the_next_one_succeeds(
    cut: tuple[CuttingProxy, str],
) -> None:
    proxy, url = cut
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        a.installed(store)
        for messages in range(12):
            proxy.messages_left = messages
            assert code_of(lambda: store.topology(1)) in {"", "PL-S035"}
            proxy.messages_left, proxy.is_deaf = -1, True
            assert code_of(store.deployments) in {"", "PL-S035"}
            proxy.is_deaf = False
            assert len(store.deployments()) == 1
            proxy.cut_all()
            with store.at_once():
                assert len(store.deployments()) == 1
                proxy.cut_all()
                assert code_of(store.deployments) == "PL-S035"
            assert len(store.deployments()) == 1


def test_st9_an_order_whose_connection_was_lost_while_idle_is_stored(cut: tuple[CuttingProxy, str]) -> None:
    proxy, url = cut
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        for at in range(3):
            proxy.cut_all()
            with store.as_one(NewOrder(f"order-{at}", "digest", 1_000, a.ANN)):
                store.create_deployment(a.deployment(f"one-{at}"))
                store.create_deployment(a.deployment(f"two-{at}"))
            proxy.cut_all()
            with store.as_one():
                store.create_deployment(a.deployment(f"three-{at}"))
        assert len(store.deployments()) == 9
        assert store.orders.count() == 3


def test_st9_a_commit_of_which_the_server_cannot_be_asked_is_reported_as_unknown(
    cut: tuple[CuttingProxy, str],
) -> None:
    proxy, url = cut
    with closing(PostgresStore.open(url, a.FakeClock())) as store:

        def last_words() -> None:
            with store.as_one():
                store.create_deployment(a.deployment())
                proxy.cut, proxy.is_open = "after", False

        with pytest.raises(ProblemsError) as caught:
            last_words()
        (problem,) = caught.value.problems
        assert (problem.code, "is not known" in problem.message) == ("PL-S030", True)
        proxy.is_open = True
        assert len(store.deployments()) == 1


def test_ha10_an_owner_whose_last_turn_the_database_does_not_have_writes_no_more(cut: tuple[CuttingProxy, str]) -> None:
    """As after a failover to a replica that had not received it, or a restore from a backup."""
    _, url = cut
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        _, run = a.installed(store)
        with store.own("an engine"):
            store.commit(a.turn(graphs=(a.added(1, run, a.graph()),)))
            with psycopg.connect(url) as db:
                db.execute("update write_count set turn = turn - 1")
            with pytest.raises(ProblemsError, match="older than what this process has stored"):
                store.commit(a.turn(pages=(a.page(1, 0, 5, 24),)))
            assert set(store.statuses(1).tolist()) == {0}


@mutable
class World:
    """What was reported as stored."""

    lines: list[str]
    deployments: set[str]
    asked: list[int]
    orders: set[str]
    statuses: int = 0
    document: int = 0
    batches: int = 0


class Cuts:
    """Draws what an owner and askers write, cuts connections meanwhile, and compares the store with a model."""

    def __init__(self, proxy: CuttingProxy, url: str, seed: int) -> None:
        self._draw = random.Random(seed)
        self._proxy = proxy
        self._owner = PostgresStore.open(url, a.FakeClock())
        self._asker = PostgresStore.open(url, a.FakeClock())
        self._deployment, self._run = a.installed(self._owner)
        self._world = World([], {"shop"}, [], set())
        self.steps = 0

    def run(self, cuts: int) -> None:
        """Work until so many connections were cut."""
        works = (self._turn, self._turn, self._create, self._ask, self._order, self._read)
        with self._owner.own("an engine"):
            self._owner.commit(a.turn(graphs=(a.added(1, self._run, a.graph()),)))
            while self._proxy.cuts < cuts:
                self.steps += 1
                self._arm()
                self._draw.choice(works)()
                if self._draw.random() < 0.1:
                    self._proxy.cut_all()
            self._disarm()
            self._compare()
        self._owner.close()
        self._asker.close()

    def _arm(self) -> None:
        self._disarm()
        kind = self._draw.random()
        if kind < 0.6:
            self._proxy.cut = self._draw.choice(WHERE)
        if kind > 0.5:
            self._proxy.messages_left = self._draw.randrange(MESSAGES)
        self._proxy.is_deaf = self._draw.random() < 0.1

    def _disarm(self) -> None:
        self._proxy.cut, self._proxy.messages_left, self._proxy.is_deaf = "", -1, False

    def _turn(self) -> None:
        """A turn of the owner is stored, whatever is cut."""
        world, at = self._world, self.steps
        lines = [f"line {at}.{number}" for number in range(self._draw.choice((1, 1, 3, 60)))]
        payload = TurnPayload(
            logs=tuple(LogLine(self._run, 5, "info", line) for line in lines),
            documents=(DocumentChange(self._deployment, 3, {("at",): at}),),
        )
        batch, ended = world.batches + 1, (a.closed(world.batches, 1),) if world.batches else ()
        opened = (a.batch(batch, self._run, a.numbers(0)),)
        pages = (a.page(1, 0, at % 7, 24),)
        self._owner.commit(a.turn(payload=payload, pages=pages, opened=opened, closed=ended))
        world.lines += lines
        world.statuses, world.document, world.batches = at % 7, at, batch

    def _create(self) -> None:
        name = f"shop-{self.steps}"
        code = code_of(lambda: self._asker.create_deployment(a.deployment(name)))
        self._require(code)
        if not code:
            self._world.deployments.add(name)

    def _ask(self) -> None:
        code = code_of(lambda: self._asker.ask(RequestKind.CANCEL, self._run, {"at": self.steps}, a.ANN))
        self._require(code)
        self._world.asked += [] if code else [self.steps]

    def _order(self) -> None:
        """An order is repeated until it is stored, as a client does that was told that it is not."""
        name, attempts = f"order-{self.steps}", 0
        while name not in self._world.orders:
            attempts += 1
            assert attempts < MESSAGES
            try:
                with self._asker.as_one(NewOrder(name, "digest", 1_000, a.ANN)):
                    self._asker.create_deployment(a.deployment(f"{name}-a"))
                    self._asker.create_deployment(a.deployment(f"{name}-b"))
                    self._asker.ask(RequestKind.CANCEL, self._run, {"at": self.steps}, a.ANN)
            except GivenBeforeError:
                raise AssertionError("reported as not stored, and it was") from None
            except ProblemsError as error:
                self._require(error.problems[0].code)
                continue
            self._world.orders.add(name)
        self._world.deployments |= {f"{name}-a", f"{name}-b"}
        self._world.asked.append(self.steps)

    def _read(self) -> None:
        for store in (self._owner, self._asker):
            found: list[str] = []
            code = code_of(lambda store=store, found=found: found.extend(row.name for row in store.deployments()))
            self._require(code)
            assert code or set(found) == self._world.deployments

    def _require(self, code: str) -> None:
        assert code in {"", "PL-S035"}

    def _compare(self) -> None:
        world, store = self._world, self._asker
        lines = [line.text for line in store.logs(self._run, limit=1_000_000)]
        assert lines == world.lines
        assert {row.name for row in store.deployments()} == world.deployments
        assert [row.body["at"] for row in store.requests_of(self._run) if "at" in row.body] == world.asked
        assert store.orders.count() == len(world.orders)
        if world.batches:
            assert set(store.statuses(1).tolist()) == {world.statuses}
            assert store.documents(self._deployment) == {3: {"at": world.document}}
            assert [row.id for row in store.batches(only_open=True)] == [world.batches]
        assert list(store.check()) == []


@pytest.mark.ha
def test_st9_cuts_at_random_lose_nothing_and_store_nothing_twice(cut: tuple[CuttingProxy, str]) -> None:
    proxy, url = cut
    Cuts(proxy, url, 17).run(CUTS)
