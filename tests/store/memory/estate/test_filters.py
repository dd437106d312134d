"""Saved filters of tenants in the store in memory."""

from tests.store import builders as a

from phaseline.model.rows.estate import SavedFilter
from phaseline.store.memory.store import MemoryStore


def test_lb3_tenants_have_filters_of_their_own_with_one_name() -> None:
    store = MemoryStore(a.FakeClock())
    for tenant in ("mine", "other"):
        assert store.of(tenant).filters.add(SavedFilter("deployments", "x", f'["{tenant}"]', 1, ""), a.ANN)
    assert [row.rules for row in store.filters.all()] == ['["mine"]', '["other"]']
    assert store.of("mine").filters.remove("deployments", "x")
    assert [row.rules for row in store.filters.all()] == ['["other"]']
