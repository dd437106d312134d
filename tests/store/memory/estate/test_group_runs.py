"""Runs over groups in the store in memory, beyond what every store promises (tests/store/test_conformance_of_group_runs.py)."""

from __future__ import annotations

from tests.store import builders as a

from phaseline.model.rows.groups import NewGroupRun
from phaseline.store.memory.store import MemoryStore


def test_gr3_parts_of_several_tenants_give_each_run_a_number_of_its_own() -> None:
    store = MemoryStore(a.FakeClock())
    rows = [store.of(tenant).group_runs.begin(NewGroupRun(1, "shops", "heal"), a.ANN) for tenant in ("a", "b", "a")]
    assert [row.number for row in rows] == [1, 2, 3]
    assert [row.tenant for row in store.group_runs.of("shops")] == ["a", "b", "a"]
