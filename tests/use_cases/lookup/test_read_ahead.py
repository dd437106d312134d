"""What was read ahead answers as the store does."""

import pytest
from tests.store.builders import FakeClock
from tests.use_cases.many_deployments import fill

from phaseline.model.rows.details import DetailQuery
from phaseline.store.sqlite.store import SqliteStore
from phaseline.use_cases.lookup.read_ahead import ReadAhead, read_calls


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    found = SqliteStore.open(str(tmp_path_factory.mktemp("file") / "store.db"), FakeClock())
    fill(found, 90)
    yield found
    found.close()


def same(ours, theirs, row):
    """Both answer the same about an execution."""
    assert list(ours.graphs(row.number)) == list(theirs.graphs(row.number))
    assert [one.id for one in ours.batches(execution=row.number)] == [
        one.id for one in theirs.batches(execution=row.number)
    ]
    for graph in theirs.graphs(row.number):
        assert ours.entry_statuses(graph.id).now.tolist() == theirs.entry_statuses(graph.id).now.tolist()
        assert ours.notes(graph.id) == theirs.notes(graph.id)
        assert ours.notes(graph.id, among=[0]) == theirs.notes(graph.id, among=[0])
        assert ours.messages(graph.id) == theirs.messages(graph.id)
    assert ours.requests_of(row.number) == theirs.requests_of(row.number)


def test_rf5_what_was_not_read_ahead_is_asked_of_the_store(store):
    for row in store.executions():
        same(ReadAhead(store), store, row)


def test_rf5_all_calls_of_an_execution_are_read_ahead(store):
    for row in store.executions():
        same(read_calls(store, row), store, row)


def test_rf5_details_of_many_executions_are_read_ahead(store):
    rows = store.executions()
    reads = ReadAhead(store)
    reads.know(rows)
    numbers = [row.number for row in rows]
    reads.read(DetailQuery(graphs_of=numbers, requests_of=numbers, open_batches=True))
    reads.read(
        DetailQuery(
            notes_of=[graph.id for number in numbers for graph in reads.graphs(number)],
            batches_of=reads.ranges_of(numbers),
        )
    )
    for row in rows:
        same(reads, store, row)
