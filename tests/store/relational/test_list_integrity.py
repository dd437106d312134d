"""Tables that lists read must agree with the tables whose data they repeat."""

import sqlite3
from contextlib import closing

import pytest
from tests.store import builders as a
from tests.use_cases.many_deployments import fill

from phaseline.store.sqlite.store import SqliteStore


@pytest.mark.parametrize(
    ("damage", "table", "message"),
    [
        ("update tenant set execution_count = execution_count + 1", "tenant", "count other executions"),
        ("delete from deployment_summary where deployment = 3", "deployment", "have no summary"),
        ("insert into deployment_summary values (999, 0, 'good', '{}', 0, 1)", "deployment_summary", "belong to no"),
        ("insert into deployment_node values ('default', 'x', 999, 1)", "deployment_node", "belong to no deployment"),
        ("update deployment_node set instances = 7 where deployment = 3 and node = 'app'", "deployment_node", "differ"),
        ("update deployment_summary set states = '{\"7\":9}' where deployment = 3", "deployment_summary", "differ"),
    ],
)
def test_a_contradiction_is_found(tmp_path, damage, table, message):
    path = str(tmp_path / "store.db")
    store = SqliteStore.open(path, a.FakeClock())
    fill(store, 4)
    with store.own("test"):
        store.refresh_lists()
    assert list(store.check()) == []
    store.close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(damage)
    store = SqliteStore.open(path, a.FakeClock())
    found = list(store.check())
    assert [one.where for one in found] == [table], found
    assert message in found[0].message
    store.close()
