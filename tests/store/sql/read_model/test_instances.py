"""A page of instances from a database is that of the store in memory."""

import pytest
from tests.store.builders import FakeClock
from tests.use_cases.many_deployments import fill

from phaseline.model.rows.row_queries import InstanceQuery
from phaseline.store.memory.store import MemoryStore
from phaseline.store.sqlite.store import SqliteStore


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    made = (MemoryStore(FakeClock()), SqliteStore.open(str(tmp_path_factory.mktemp("file") / "store.db"), FakeClock()))
    for store in made:
        fill(store, 200)
    yield made
    for store in made:
        store.close()


@pytest.mark.parametrize(
    "wanted",
    [
        InstanceQuery(limit=50),
        InstanceQuery(limit=50, after=("shop-00007", 1)),
        InstanceQuery(limit=50, is_last_first=True),
        InstanceQuery(limit=50, is_last_first=True, after=("shop-00100", 1)),
        InstanceQuery(node="app", limit=20),
        InstanceQuery(state="started", limit=20),
        InstanceQuery(state="Allocation"),
        InstanceQuery(node="host", state="creating"),
        InstanceQuery(node="nothing"),
        InstanceQuery(deployment=3),
    ],
)
def test_rf5_both_stores_select_the_same_page(stores, wanted):
    memory, file = stores
    assert file.listings.instances(wanted) == memory.listings.instances(wanted)


def test_both_stores_have_the_same_rosters(stores):
    memory, file = stores
    numbers = [row.number for row in file.deployments()]
    ours, theirs = memory.listings.rosters(numbers), file.listings.rosters(numbers)
    for number in numbers:
        assert ours[number].states.tolist() == theirs[number].states.tolist()
        assert list(ours[number].ids) == list(theirs[number].ids)
