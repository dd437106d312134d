"""Schedules in the store in memory, beyond what every store promises (tests/store/test_conformance_of_schedules.py)."""

from __future__ import annotations

from tests.store import builders as a

from phaseline.model.rows.schedules import NewSchedule
from phaseline.model.schedules.schedule_spec import ScheduleSpec
from phaseline.store.memory.store import MemoryStore


def test_sc1_parts_of_several_tenants_give_each_schedule_a_number_of_its_own() -> None:
    store = MemoryStore(a.FakeClock())
    spec = ScheduleSpec("heal", "2026-01-01 00:00:00")
    numbers = []
    for tenant in ("acme", "other", "acme"):
        own = store.of(tenant)
        deployment, _ = own.create_deployment(a.deployment(f"shop-{len(numbers)}"))
        made = own.schedules.add(NewSchedule(deployment, "nightly", spec), a.ANN)
        assert made is not None
        numbers.append(made.number)
    assert len(set(numbers)) == 3
    assert [row.tenant for row in store.schedules.all()] == ["acme", "other", "acme"]
