"""A store in memory and the parts of its tenants share their data."""

from tests.store import builders as a

from phaseline.model.rows.rows import DEFAULT_TENANT
from phaseline.store.memory.store import MemoryStore


def test_rf4_the_parts_of_a_store_see_what_the_others_write() -> None:
    store = MemoryStore(a.FakeClock())
    part = store.of(DEFAULT_TENANT)
    number, _ = a.installed(store)
    assert [row.number for row in part.deployments()] == [number]
    part.delete_deployment(a.installed(part, "other")[0] + 1)
    assert [row.name for row in store.deployments()] == ["other", "shop"]


def test_an_execution_is_asked_to_start_unless_the_store_has_an_owner() -> None:
    store = MemoryStore(a.FakeClock())
    part = store.of("acme")
    with store.own("a test"):
        a.installed(part)
    assert (part.is_owner, part.requests()) == (False, [])
    a.installed(part, "other")
    assert [row.actor.tenant for row in part.requests()] == ["acme"]
