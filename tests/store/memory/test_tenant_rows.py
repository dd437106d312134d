"""Which rows an object of the store in memory finds (rule RF4)."""

import pytest
from tests.store import builders as a
from tests.store.tenant_worlds import fill

from phaseline.store.memory.store import MemoryStore
from phaseline.store.memory.tables import MemoryTables
from phaseline.store.memory.tenant_rows import MemoryTenantRows


def test_rf4_unknown_numbers_become_numbers_that_no_row_has() -> None:
    rows = MemoryTenantRows(MemoryTables(), "acme")
    assert [rows.deployment(7), rows.execution(7), rows.graph(7)] == [-7, -7, -7]
    assert [rows.deployment(-7), rows.execution(0)] == [-7, 0], "one that was replaced stays replaced"
    with pytest.raises(LookupError, match="no graph 7"):
        rows.require(rows.graph(7), "graph")


def test_rf4_the_whole_store_finds_every_number() -> None:
    store = MemoryStore(a.FakeClock())
    found = fill(store, "acme", "mine")
    assert store.topology(found.deployment) is store.of("acme").topology(found.deployment)
    with pytest.raises(LookupError):
        store.of("other").topology(found.deployment)
