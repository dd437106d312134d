"""Checks are conditions of one statement; indexes find labels (LB3, A65)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.store import builders as a
from tests.store.builders import FakeClock

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import Label
from phaseline.model.rows.estate import SiteRow
from phaseline.model.rows.row_queries import DeploymentQuery
from phaseline.records.filters.row_condition import RowCondition
from phaseline.records.filters.rule_expressions import expression_of
from phaseline.records.filters.rules import parse_rules
from phaseline.store.database.tenant_rows import ALL
from phaseline.store.sql.estate.row_check_sql import CheckSql
from phaseline.store.sqlite.store import SqliteStore

RULES = ("env=[dev,prod]", "team!=t3", "zone is null", "site_name=munich", "installation_status=inactive")
"""Five rules: about labels, a site, and a status that is computed from summaries."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A store with 60 deployments, labelled, half of them at a site."""
    with closing(SqliteStore.open(tmp_path / "store.db", FakeClock())) as store, store.own("test"):
        store.sites.add(SiteRow("munich", "", 1, ""), a.ANN)
        for at in range(60):
            new = altered(a.deployment(f"d{at:02}"), site="munich" if at % 2 else "")
            number, _ = store.create_deployment(new)
            store.labels.add(number, [Label("env", ("dev", "prod", "test")[at % 3]), Label("team", f"t{at % 7}")])
    return tmp_path / "store.db"


def test_a65_five_rules_are_two_statements_and_a_look_for_open_executions(file: Path) -> None:
    said: list[str] = []
    with closing(SqliteStore.open(file, FakeClock())) as store:
        store.connections.reader().set_trace_callback(said.append)
        checks = RowCondition(expression_of(parse_rules(RULES)), "deployments").checks
        rows, total = store.listings.page(DeploymentQuery(checks=checks, limit=5))
        selects = [text for text in said if text.lstrip().startswith(("select", "with"))]
    wanted = [at for at in range(60) if at % 3 != 2 and at % 7 != 3 and at % 2]
    assert ([row.name for row in rows], total) == ([f"d{at:02}" for at in wanted[:5]], len(wanted))
    assert len(selects) == 3, selects


def test_a65_labels_are_found_by_their_index(file: Path) -> None:
    checks = RowCondition(expression_of(parse_rules(RULES[:3])), "deployments").checks
    with closing(sqlite3.connect(file)) as db:
        found = CheckSql(db, ALL).conditions(checks)  # type: ignore[arg-type]  # no other method of it is called
        where = " and ".join(text for text, _ in found)
        values = [value for _, more in found for value in more]
        plan = [
            row[-1] for row in db.execute(f"explain query plan select number from deployment where {where}", values)
        ]
    assert not any(line.startswith("SCAN label") for line in plan), plan
    assert any("label_key" in line for line in plan), plan
