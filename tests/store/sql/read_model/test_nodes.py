"""The beginning of an instance's id leads to its deployments."""

import pytest
from tests.store.builders import FakeClock
from tests.use_cases.many_deployments import fill

from phaseline.store.memory.store import MemoryStore
from phaseline.store.sqlite.store import SqliteStore


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    made = (MemoryStore(FakeClock()), SqliteStore.open(str(tmp_path_factory.mktemp("file") / "store.db"), FakeClock()))
    for store in made:
        fill(store, 30)
    yield made
    for store in made:
        store.close()


@pytest.mark.parametrize("beginning", ["", "h", "host", "host_", "host_0000003", "app_1", "cluster-00000-1", "no", "_"])
@pytest.mark.parametrize("kind", ["", "resources"])
def test_rf5_ids_are_found_by_their_beginning(stores, beginning, kind):
    memory, file = stores
    ours = [(row.name, list(ids)) for row, ids in memory.listings.with_ids(beginning, kind=kind)]
    assert [(row.name, list(ids)) for row, ids in file.listings.with_ids(beginning, kind=kind)] == ours
    assert len(file.listings.with_ids(beginning, kind=kind, limit=1)) == min(1, len(ours))


def test_names_of_nodes_are_those_of_all_deployments(stores):
    for store in stores:
        assert {"app", "host", "Disk"} <= store.listings.node_names()
        assert store.listings.node_names(store.deployment("shop-00001").number) == {"app", "host"}
