"""Unfinished executions are the same, whatever keeps them."""

import pytest
from tests.store.builders import FakeClock
from tests.use_cases.many_deployments import fill

from phaseline.model.graph.status import ExecutionStatus
from phaseline.store.memory.store import MemoryStore
from phaseline.store.sqlite.store import SqliteStore
from phaseline.use_cases.queries.unfinished import unfinished


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    made = (MemoryStore(FakeClock()), SqliteStore.open(str(tmp_path_factory.mktemp("file") / "store.db"), FakeClock()))
    for store in made:
        fill(store, 200)
    yield made
    for store in made:
        store.close()


def test_rf5_both_stores_have_the_same_unfinished_executions(stores):
    memory, file = stores
    found = unfinished(file)
    assert found == unfinished(memory)
    assert {ExecutionStatus.RUNNING, ExecutionStatus.FAILED, ExecutionStatus.ATTENTION} <= {row.status for row in found}


def test_unfinished_executions_of_one_deployment_are_among_those_of_all(stores):
    _, file = stores
    everything = unfinished(file)
    for number in {row.deployment for row in everything}:
        assert unfinished(file, number) == [row for row in everything if row.deployment == number]
