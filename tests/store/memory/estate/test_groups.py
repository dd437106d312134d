"""Deployment groups in the store in memory, beyond what every store promises (tests/store/test_conformance_of_groups.py)."""

from __future__ import annotations

from tests.store import builders as a

from phaseline.model.rows.groups import NewGroup
from phaseline.store.memory.store import MemoryStore


def test_gr1_parts_of_several_tenants_give_each_group_a_number_of_its_own() -> None:
    store = MemoryStore(a.FakeClock())
    rows = [store.of(tenant).groups.create(NewGroup(f"shops-{at}"), a.ANN) for at, tenant in enumerate(("a", "b", "a"))]
    assert len({row.number for row in rows if row is not None}) == 3
    assert [row.tenant for row in store.groups.all()] == ["a", "b", "a"]
