"""Transactions on a real server whose connections are lost (rules ST9, ST10)."""

from __future__ import annotations

from contextlib import closing
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.store import builders as a
from tests.store.cutting_proxy import CuttingProxy
from tests.store.postgres_server import new_schema, server

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.postgres.connections import LEASE_S, PostgresConnections
from phaseline.store.postgres.store import PostgresStore


def test_st9_a_connection_that_was_lost_while_idle_is_made_again(cut: tuple[CuttingProxy, str]) -> None:
    proxy, url = cut
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        a.installed(store)
        for _ in range(5):
            proxy.cut_all()
            assert store.deployment("shop") is not None
            proxy.cut_all()
            store.create_deployment(a.deployment(f"shop-{_}"))
            assert store.changed()
        assert len(store.deployments()) == 6


def test_st9_a_server_that_stays_away_is_a_problem_and_the_store_works_when_it_is_back(
    cut: tuple[CuttingProxy, str],
) -> None:
    proxy, url = cut
    with closing(PostgresStore.open(url, a.FakeClock())) as store:
        a.installed(store)
        proxy.is_open = False
        proxy.cut_all()
        with pytest.raises(ProblemsError) as caught:
            store.deployments()
        assert caught.value.problems[0].code in {"PL-S030", "PL-S035"}
        proxy.is_open = True
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
