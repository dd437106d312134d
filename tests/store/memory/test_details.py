"""The store in memory reads the same details as one in a file."""

import pytest
from tests.store.builders import FakeClock
from tests.use_cases.many_deployments import fill

from phaseline.model.rows.details import DetailQuery
from phaseline.store.memory.store import MemoryStore
from phaseline.store.sqlite.store import SqliteStore

COUNT = 90


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    made = (MemoryStore(FakeClock()), SqliteStore.open(str(tmp_path_factory.mktemp("file") / "store.db"), FakeClock()))
    for store in made:
        fill(store, COUNT)
    yield made
    for store in made:
        store.close()


def test_both_stores_read_the_same_of_executions(stores):
    memory, file = stores
    numbers = [row.number for row in file.executions()]
    deployments = [row.number for row in file.deployments()]
    wanted = DetailQuery(
        graphs_of=numbers, requests_of=numbers, events_of=numbers, event_types=("task_failed",), with_columns=True,
        states_of=deployments, executions_of=deployments, rounds_of=deployments, open_batches=True, open_requests=True,
    )  # fmt: skip
    ours, theirs = memory.listings.details(wanted), file.listings.details(wanted)
    assert ours.graphs == theirs.graphs
    assert ours.events == theirs.events
    assert ours.executions == theirs.executions
    assert ours.latest == theirs.latest
    for name in ("statuses", "states"):
        left, right = getattr(ours, name), getattr(theirs, name)
        assert {key: one().tolist() for key, one in left.items()} == {key: one().tolist() for key, one in right.items()}
    assert {key: one() for key, one in ours.requests.items()} == {key: one() for key, one in theirs.requests.items()}
    assert len(ours.open_requests()) == len(theirs.open_requests()) == 1
    assert ours.open_batches.keys() == theirs.open_batches.keys()
    assert ours.columns.keys() == theirs.columns.keys()


def test_unknown_numbers_have_no_details(stores):
    for store in stores:
        found = store.listings.details(DetailQuery(graphs_of=[10**6], topologies_of=[10**6], columns_of=[10**6]))
        assert (found.graphs, found.topologies, found.columns) == ({}, {}, {})
