"""Statistics of many lanes are those of each."""

from tests.store.builders import FakeClock
from tests.use_cases.many_deployments import CREATE, START, fill

from phaseline.model.rows.details import DetailQuery
from phaseline.store.sqlite.store import SqliteStore


def test_rf5_many_lanes_are_read_as_one(tmp_path):
    store = SqliteStore.open(str(tmp_path / "store.db"), FakeClock())
    fill(store, 90)
    lanes = [CREATE, START, "no.such"]
    found = store.listings.details(DetailQuery(lanes=lanes, last_calls=5)).lanes
    for lane in lanes:
        one = store.runs_of(lane, last=5)
        assert (found[lane].count, found[lane].took_ms) == (one.count, one.took_ms)
        assert [row.id for row in found[lane].last] == [row.id for row in one.last]
    assert found[CREATE].count > len(found[CREATE].last) == 5
    store.close()
