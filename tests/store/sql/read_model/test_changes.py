"""What the tables of lists have of deployments after each change."""

from dataclasses import replace

import pytest
from tests.store import builders as a
from tests.use_cases.many_deployments import Writer, new_cluster

from phaseline.model.graph.status import ExecutionStatus
from phaseline.store.sqlite.store import SqliteStore


def nodes(store, number):
    db = store.connections.reader()
    return sorted(db.execute("select node, instances from deployment_node where deployment = ?", (number,)).fetchall())


def test_a_deployment_has_a_row_for_each_node_until_it_is_deleted(tmp_path):
    store = SqliteStore.open(str(tmp_path / "store.db"), a.FakeClock())
    number, run = a.installed(store)
    assert nodes(store, number) == [("app", 6), ("host", 2)]
    a.end(store, run)
    store.delete_deployment(number)
    assert nodes(store, number) == []
    assert store.listings.summaries([number])[number].states is not None
    store.close()


def test_ids_that_do_not_begin_with_a_node_have_a_row_without_a_name(tmp_path):
    store = SqliteStore.open(str(tmp_path / "store.db"), a.FakeClock())
    with store.own("test"):
        new_cluster(Writer(store), "disks")
    number = store.deployment("disks").number
    assert nodes(store, number) == [("", 0), ("Disk", 3)]
    assert [row.name for row, _ in store.listings.with_ids("disks-1")] == ["disks"]
    store.close()


@pytest.mark.parametrize(
    ("workflows", "is_marked"), [(("heal", "install"), False), (("install", "heal"), True)], ids=["earlier", "latest"]
)
def test_a_purge_marks_summaries_that_change_and_counts_the_executions_that_stay(tmp_path, workflows, is_marked):
    store = SqliteStore.open(str(tmp_path / "store.db"), a.FakeClock())
    number = store.create_deployment(a.deployment())[0]
    with store.own("test"):
        for workflow in workflows:
            run = store.create_execution(a.execution(number, replace(a.REQUEST, workflow=workflow))).number
            store.commit(a.turn(20, executions=(a.status(run, ExecutionStatus.COMPLETED),)))
        store.refresh_lists()
        assert a.purge(store, 10**6).executions == 1
        marks = store.connections.reader().execute("select status = '' from deployment_summary").fetchall()
        assert marks == [(is_marked,)]
        assert list(store.check()) == []
        store.refresh_lists()
        assert store.connections.reader().execute("select latest from deployment_summary").fetchall() == [
            (row.number,) for row in store.executions(number)
        ]
    assert list(store.check()) == []
    assert store.connections.reader().execute("select execution_count from tenant").fetchall() == [(1,)]
    store.close()
