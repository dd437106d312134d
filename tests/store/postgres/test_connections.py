"""Transactions on a real server whose connections are lost (rules ST9, ST10)."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.store import builders as a
from tests.store.cutting_proxy import CuttingProxy, proxied
from tests.store.postgres_server import new_schema, server

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import Actor, LogLine, RequestKind, TurnPayload
from phaseline.store.postgres.connections import LEASE_S, PostgresConnections
from phaseline.store.postgres.store import PostgresStore

CUTS = int(os.environ.get("PHASELINE_CUTS", "60"))
"""Cut commits in one test; a thousand were made by hand."""


@pytest.fixture
def proxy() -> Iterator[tuple[CuttingProxy, str]]:
    """A proxy to the server, and the URL of a store of its own that goes through it."""
    url = new_schema()
    told = conninfo_to_dict(url)
    with proxied(Path(str(told["host"]), ".s.PGSQL.5432")) as (found, folder):
        yield found, f"postgresql://postgres@/postgres?host={folder}&options={quote(str(told['options']))}"


@pytest.mark.parametrize("how", ["before", "after"])
def test_st9_a_turn_whose_connection_is_cut_at_its_commit_is_stored_once(
    proxy: tuple[CuttingProxy, str], how: str
) -> None:
    cutter, url = proxy
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        _, run = a.installed(store)
        with store.own("an engine"):
            store.commit(a.turn(graphs=(a.added(1, run, a.graph()),)))
            cutter.cut = how
            store.commit(a.turn(payload=TurnPayload(logs=(LogLine(run, 5, "info", "once"),))))
            assert cutter.cuts == 1
            assert [line.text for line in store.logs(run)] == ["once"]


def test_st9_cuts_at_random_lose_nothing_and_store_nothing_twice(proxy: tuple[CuttingProxy, str]) -> None:
    cutter, url = proxy
    draw = random.Random(17)
    stored: list[str] = []
    codes: set[str] = set()
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        number, run = a.installed(store)
        with store.own("an engine"):
            store.commit(a.turn(graphs=(a.added(1, run, a.graph()),)))
            for at in range(CUTS):
                cutter.cut = draw.choice(("before", "after"))
                if draw.random() < 0.5:
                    store.commit(a.turn(payload=TurnPayload(logs=(LogLine(run, 5, "info", f"line {at}"),))))
                    stored.append(f"line {at}")
                    continue
                try:
                    asked = [store.ask(RequestKind.CANCEL, run, {"at": at}, Actor("ann"))]
                except ProblemsError as error:
                    asked = []
                    codes.add(error.problems[0].code)
                assert [row.number for row in store.requests() if row.body.get("at") == at] == asked
            assert cutter.cuts == CUTS
            assert [line.text for line in store.logs(run)] == stored
            assert store.check() == []
        assert store.deployment("shop") is not None
        assert number == 1
    assert codes <= {"PL-S035"}


def test_st9_a_connection_that_was_lost_while_idle_is_made_again(proxy: tuple[CuttingProxy, str]) -> None:
    cutter, url = proxy
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        a.installed(store)
        for _ in range(5):
            cutter.cut_all()
            assert store.deployment("shop") is not None
            cutter.cut_all()
            store.create_deployment(a.deployment(f"shop-{_}"))
            assert store.changed()
        assert len(store.deployments()) == 6


def test_st9_a_server_that_stays_away_is_a_problem_and_the_store_works_when_it_is_back(
    proxy: tuple[CuttingProxy, str],
) -> None:
    cutter, url = proxy
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        a.installed(store)
        cutter.is_open = False
        cutter.cut_all()
        with pytest.raises(ProblemsError) as caught:
            store.deployments()
        assert caught.value.problems[0].code in {"PL-S030", "PL-S035"}
        cutter.is_open = True
        assert len(store.deployments()) == 1


def test_st9_a_writer_that_stands_still_in_a_transaction_does_not_keep_others_for_long() -> None:
    url = new_schema()
    with closing(PostgresStore.open(url, a.FakeClock())) as store, closing(PostgresConnections(url, "", int)) as still:
        still.begin()  # and it never goes on
        a.installed(store)  # the server has ended the other one after LEASE_S
        with pytest.raises(psycopg.Error):
            still.writer().execute("select 1")
    assert LEASE_S == 4


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("postgresql://127.0.0.1:1/db", "PL-S030"),
        ("postgresql://no-such-host.invalid/db", "PL-S030"),
        ("postgresql://nobody@{host}/postgres", "PL-S031"),
        ("postgresql://postgres@{host}/no_such_database", "PL-S038"),
    ],
)
def test_a_database_that_cannot_be_used_is_a_problem(url: str, code: str) -> None:
    host = quote(str(conninfo_to_dict(server())["host"]), safe="")
    with pytest.raises(ProblemsError) as caught:
        PostgresStore.open(url.format(host=host), a.FakeClock())
    (problem,) = caught.value.problems
    assert problem.code == code
    assert problem.mend
