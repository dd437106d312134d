"""How SQLite answers queries for rows: by an index or the primary key, so that a page costs a page (rule RF5)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery
from phaseline.store.database import schema
from phaseline.store.database.tenant_rows import ALL, TenantRows
from phaseline.store.sql import listings
from phaseline.store.sqlite.database_file import FileConnection, connect


@pytest.fixture
def statements() -> Iterator[tuple[FileConnection, list[str]]]:
    """An empty store and the statements that it is given."""
    with closing(connect(":memory:")) as db:
        for table in schema.TABLES:
            db.execute(table)
        seen: list[str] = []
        db.set_trace_callback(seen.append)
        yield db, seen


def steps(db: FileConnection, statement: str) -> str:
    return "\n".join(row[3] for row in db.execute(f"explain query plan {statement}"))


@pytest.mark.parametrize(
    "wanted",
    [
        ExecutionQuery(numbers=(3, 4)),
        ExecutionQuery(deployments=(1,), is_latest_first=True, limit=1),
        ExecutionQuery(is_latest_first=True, after=900, limit=50),
        ExecutionQuery(begins="heal-12"),
    ],
)
@pytest.mark.parametrize("own", [ALL, TenantRows("acme")])
def test_rf5_a_page_of_executions_is_searched_by_an_index(
    statements: tuple[FileConnection, list[str]], wanted: ExecutionQuery, own: TenantRows
) -> None:
    db, seen = statements
    listings.select_executions(db, wanted, own)
    assert len(seen) == 1
    found = steps(db, seen[0])
    assert "SCAN execution" not in found
    is_page = wanted == ExecutionQuery(is_latest_first=True, after=900, limit=50)
    assert ("execution_tenant" in found) == (is_page and own is not ALL), "the other conditions choose fewer rows"


def test_rf4_in_a_process_with_one_tenant_only_pages_read_the_index_of_tenants(
    statements: tuple[FileConnection, list[str]],
) -> None:
    db, seen = statements
    own = TenantRows("acme")
    for own.is_alone in (True, False):
        for limit in (None, 50):
            listings.select_executions(db, ExecutionQuery(is_latest_first=True, limit=limit), own)
    assert ["execution_tenant" in steps(db, said) for said in seen] == [False, True, True, True]
    assert all("TEMP B-TREE" not in steps(db, said) for said in seen)


@pytest.mark.parametrize("own", [ALL, TenantRows("acme")])
def test_rf5_the_first_page_stops_at_its_limit(statements: tuple[FileConnection, list[str]], own: TenantRows) -> None:
    db, seen = statements
    listings.select_executions(db, ExecutionQuery(is_latest_first=True, limit=50), own)
    assert "TEMP B-TREE" not in steps(db, seen[0])  # sorting would read all executions first


@pytest.mark.parametrize("own", [ALL, TenantRows("acme")])
def test_rf5_deployments_of_one_number_are_found_by_it(
    statements: tuple[FileConnection, list[str]], own: TenantRows
) -> None:
    db, seen = statements
    listings.select_deployments(db, DeploymentQuery(numbers=(3,)), own)
    assert len(seen) == 1
    assert "SCAN deployment" not in steps(db, seen[0])


def test_rf5_a_count_is_one_statement(statements: tuple[FileConnection, list[str]]) -> None:
    db, seen = statements
    assert listings.count_rows(db, ExecutionQuery(workflow="heal")) == 0
    assert listings.count_rows(db, DeploymentQuery(text="x")) == 0
    assert len(seen) == 2
