"""Which failed executions still move resources is found out over several slices."""

import pytest
from tests.store import builders as a
from tests.store import test_conformance_of_resources as clusters
from tests.store.purges import purging

from phaseline.model.graph.status import ExecutionStatus
from phaseline.store.relational.whole_store import SqlStore

pytestmark = pytest.mark.parametrize("reopen", ["sqlite", "postgresql"], indirect=True)


def test_the_newest_path_of_each_resource_is_read_over_several_slices(store: SqlStore) -> None:
    number = clusters.cluster(store)
    store.grow(number, clusters.growth(0, "d0", "d1", "d2", types=True), a.ANN)
    with store.own("test"):
        for place in (0, 1, 2, 1):
            request = clusters.reach("Started", place)
            run = store.create_execution(a.execution(number, request), beside=lambda _: True).number
            store.commit(a.turn(20, executions=(a.status(run, ExecutionStatus.FAILED),)))
        purge, slices = purging(store), 0
        while not purge.is_over:
            purge.slice()
            slices += 1
    assert slices > 4
    assert [row.number for row in store.executions()] == [1, 3, 4]
