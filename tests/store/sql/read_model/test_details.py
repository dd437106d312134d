"""Details read by one statement are what the methods of a store return one by one."""

import pytest
from tests.store.builders import FakeClock
from tests.use_cases.many_deployments import fill

from phaseline.model.rows.details import BatchRange, DetailQuery
from phaseline.store.sqlite.store import SqliteStore


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    found = SqliteStore.open(str(tmp_path_factory.mktemp("file") / "store.db"), FakeClock())
    fill(found, 90)
    yield found
    found.close()


def test_rf5_all_details_are_one_statement(store):
    numbers = [row.number for row in store.executions()]
    graphs = [graph.id for number in numbers for graph in store.graphs(number)]
    deployments = [row.number for row in store.deployments()]
    said = []
    reader = store.connections.reader()
    reader.set_trace_callback(said.append)
    found = store.listings.details(
        DetailQuery(
            graphs_of=numbers, requests_of=numbers, notes_of=graphs, with_columns=True, inputs_of=deployments,
            topologies_of=deployments, states_of=deployments, batches_of=dict.fromkeys(numbers, BatchRange(0, 0)),
            documents_of={number: [0, 1] for number in deployments},
        )
    )  # fmt: skip
    reader.set_trace_callback(None)
    assert len([text for text in said if not text.lower().startswith(("begin", "rollback"))]) == 1
    for number in numbers:
        assert list(found.graphs.get(number, ())) == list(store.graphs(number))
        assert found.requests[number]() == store.requests_of(number)
        ids = [row.id for row in store.batches(execution=number)]
        mine = {one().id for graph in store.graphs(number) for one in found.batches.get(graph.id, ())}
        assert sorted(mine) == ids
    for graph in graphs:
        assert found.statuses[graph]().tolist() == store.statuses(graph).tolist()
        assert found.notes[graph]() == store.notes(graph)
        assert found.columns[graph]().subject.tolist() == store.graph(graph).subject.tolist()
    for number in deployments:
        assert found.inputs[number]() == store.inputs(number)
        assert list(found.topologies[number]().ids) == list(store.topology(number).ids)
        assert found.states[number]().tolist() == store.states(number).tolist()
        assert found.state_names[number] == store.state_names(number)
        assert found.documents[number]() == store.documents(number, [0, 1])
