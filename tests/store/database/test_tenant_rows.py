"""Which rows statements may find: conditions, and numbers that are checked once (rule RF4)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from phaseline.model.rows.rows import DEFAULT_TENANT, Actor
from phaseline.store.database import schema
from phaseline.store.database.tenant_rows import ALL, MOST_REMEMBERED, TenantRows
from phaseline.store.sqlite.database_file import FileConnection, connect

ACME = "acme"
EXECUTION = """insert into execution (number, id, tenant, deployment, request, status, reason, attempt, created_at,
    started_at, ended_at, created_by) values (?, ?, ?, 1, '{}', 'queued', '', 0, 0, 0, 0, '')"""
GRAPH = """insert into graph (id, execution, name, attempt, entry_count, steps, policies, subject, policy, marks, ptr, idx,
    cohort) values (?, ?, '', 0, 0, '', '', x'', x'', x'', x'', x'', x'')"""


@pytest.fixture
def db() -> Iterator[tuple[FileConnection, list[str]]]:
    """Executions 1 and 3 of acme and 2 of another tenant, each with the graph 10 times as high; the statements given."""
    with closing(connect(":memory:")) as found:
        for table in schema.TABLES:
            found.execute(table)
        for number, tenant in ((1, ACME), (2, "other"), (3, ACME)):
            found.execute(EXECUTION, (number, f"install-{number}", tenant))
            found.execute(GRAPH, (10 * number, number))
        seen: list[str] = []
        found.set_trace_callback(seen.append)
        yield found, seen


def test_a_condition_is_restricted_to_the_tenant() -> None:
    assert TenantRows(ACME).where("a = ?", 1) == ("a = ? and tenant = ?", (1, ACME))
    assert TenantRows(ACME).where("true", column="x.tenant") == ("true and x.tenant = ?", (ACME,))
    assert ALL.where("a = ?", 1) == ("a = ?", (1,))
    assert ALL.of_names().where("a = ?", 1) == ("a = ? and tenant = ?", (1, DEFAULT_TENANT))


def test_the_column_of_the_tenant_is_read_only_where_it_is_unknown() -> None:
    assert (ALL.column("x.tenant"), TenantRows(ACME).column("x.tenant")) == ("x.tenant", "''")


def test_a_user_of_another_tenant_writes_as_one_of_this() -> None:
    assert TenantRows(ACME).by(Actor("eve", "other")) == Actor("eve", ACME)
    assert ALL.by(Actor("eve", "other")) == Actor("eve", "other")


def test_rf4_a_number_of_another_tenant_becomes_one_that_no_row_has(db: tuple[FileConnection, list[str]]) -> None:
    rows = TenantRows(ACME)
    assert [rows.own(db[0], "execution", number) for number in (0, 1, 2, 9)] == [0, 1, -2, -9]
    assert rows.own_all(db[0], "graph", [30, 20, 10, 20, -20]) == [30, -20, 10, -20, -20]
    with pytest.raises(LookupError, match="no execution 2"):
        rows.require(db[0], "execution", 2)
    assert [ALL.own(db[0], "execution", 2), *ALL.own_all(db[0], "graph", [20, 99])] == [2, 20, 99]


def test_rf4_a_number_is_checked_once_until_a_transaction_is_undone(db: tuple[FileConnection, list[str]]) -> None:
    connection, seen = db
    rows = TenantRows(ACME)
    rows.remember("graph", (20,))
    for _ in range(3):
        rows.require(connection, "execution", 1)
        rows.own_all(connection, "execution", [1, 3])
        rows.own(connection, "graph", 20)
    assert len(seen) == 2
    rows.forget()
    assert (rows.own(connection, "graph", 20), len(seen)) == (-20, 3)


def test_rf4_what_is_remembered_is_bounded(db: tuple[FileConnection, list[str]]) -> None:
    rows = TenantRows(ACME)
    rows.remember("execution", range(4, MOST_REMEMBERED + 5))
    assert rows.own(db[0], "execution", 4) == -4
