"""Summaries are written when their owner is idle; until then lists compute them."""

from tests.store import builders as a

from phaseline.model.graph.status import ExecutionStatus
from phaseline.store.sql.turn_writer import FEW_STALE
from phaseline.store.sqlite.store import SqliteStore


def stored(store):
    rows = store.connections.reader().execute("select status, states, is_calm from deployment_summary").fetchall()
    return sorted(rows)


def test_rf5_a_turn_marks_the_summary_and_an_idle_owner_writes_it(tmp_path):
    store = SqliteStore.open(str(tmp_path / "store.db"), a.FakeClock())
    number, run = a.installed(store)
    assert stored(store) == [("not_installed", '{"0":8}', 1)]
    with store.own("test"):
        store.commit(a.turn(executions=(a.status(run, ExecutionStatus.RUNNING),), states=(a.entered(number, (7,), 0),)))
        assert stored(store) == [("not_installed", '{"0":8}', 1)]
        assert store.listings.summaries([number])[number].states == {"uninitialized": 7, "started": 1}
        store.commit(a.turn(executions=(a.status(run, ExecutionStatus.FAILED),)))
        assert stored(store) == [("", '{"0":8}', 0)]
        computed = store.listings.summaries([number])
        store.refresh_lists()
        assert stored(store) == [("requires_attention", '{"0":7,"7":1}', 0)]
        assert store.listings.summaries([number]) == computed
    store.close()


def test_rf5_a_process_that_stops_owning_leaves_few_summaries_to_be_computed(tmp_path):
    store = SqliteStore.open(str(tmp_path / "store.db"), a.FakeClock())
    for place in range(FEW_STALE):
        _, run = a.installed(store, f"shop-{place}")
        with store.own("test"):
            store.commit(a.turn(executions=(a.status(run, ExecutionStatus.COMPLETED),)))
        expected = place + 1 if place + 1 < FEW_STALE else 0
        assert len([row for row in stored(store) if row[0] == ""]) == expected
    store.close()


def test_rf5_summaries_of_deployments_with_open_executions_keep_no_others_from_being_written(tmp_path):
    store = SqliteStore.open(str(tmp_path / "store.db"), a.FakeClock())
    number, run = a.installed(store)
    with store.own("test"):
        store.commit(a.turn(executions=(a.status(run, ExecutionStatus.COMPLETED),)))
        store.create_execution(a.execution(number))
        store.refresh_lists()
        assert stored(store)[0][0] == ""
        assert not store._turns.has_summaries_to_write
    store.close()
