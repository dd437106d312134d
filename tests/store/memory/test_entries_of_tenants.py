"""The entries of the suite of tenants are no empty ones: each does something with a tenant's own things (rules K2, ST13)."""

import pytest
from tests.store import builders as a
from tests.store.tenant_worlds import fill, outcome
from tests.store.test_conformance_of_tenants import WRITES, seen

from phaseline.store.memory.store import MemoryStore


@pytest.mark.parametrize("name", sorted(WRITES.keys() - {"purging", "packages.collect"}))
def test_k2_st13_each_entry_does_something_with_a_thing_of_the_tenants_own(name: str) -> None:
    store = MemoryStore(a.FakeClock())
    own, call = fill(store, "other", "foreign"), WRITES[name]
    stranger, before = outcome(lambda: call(store.of("acme"), own)), seen(store.of("other"), own)
    told = outcome(lambda: call(store.of("other"), own))
    assert (told, seen(store.of("other"), own)) != (stranger, before)
