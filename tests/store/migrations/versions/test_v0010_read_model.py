"""Stores of earlier schemas get a summary of each deployment, and show the same lists."""

import sqlite3
from contextlib import closing

import pytest
from tests.store.builders import FakeClock
from tests.store.old_stores import unpack

from phaseline.model.rows.row_queries import InstanceQuery
from phaseline.store.sqlite.store import SqliteStore


@pytest.mark.parametrize("schema", [5, 6, 7])
def test_rf5_an_upgrade_fills_what_lists_read(tmp_path, schema):
    unpack(schema, tmp_path / "store.db")
    with closing(sqlite3.connect(tmp_path / "store.db")) as db:
        (executions,) = db.execute("select count(*) from execution").fetchone()
    store = SqliteStore.open(str(tmp_path / "store.db"), FakeClock())
    rows = store.deployments()
    summaries = store.listings.summaries([row.number for row in rows])
    assert len(summaries) == len(rows)
    for row in rows:
        page = store.listings.instances(InstanceQuery(row.number))
        assert len(page.rows) == page.total == sum(summaries[row.number].states.values())
        present = int(store.topology(row.number).is_there.sum())
        assert sum(summaries[row.number].states.values()) in {present, len(store.states(row.number))}
    store.close()
    with closing(sqlite3.connect(tmp_path / "store.db")) as db:
        assert db.execute("select coalesce(sum(execution_count), 0) from tenant").fetchone() == (executions,)
        nodes = db.execute("select count(distinct deployment) from deployment_node").fetchone()
        assert nodes == (len([row for row in rows if row.instance_count]),)
