"""The whole store is no tenant's: types tell them apart (rules RF4, TN4)."""

from __future__ import annotations

import pytest
from tests.ports.signatures import differences, promised

from phaseline.ports.store import Store
from phaseline.ports.store_upkeep import StoreUpkeep
from phaseline.ports.tenant_store import StoreRows, TenantStore
from phaseline.store.memory.store import MemoryTenant
from phaseline.store.relational.whole_store import SqlTenant


@pytest.mark.parametrize("kind", [MemoryTenant, SqlTenant])
def test_every_tenants_store_takes_the_arguments_of_its_port(kind: type) -> None:
    assert differences(TenantStore, kind) == []


def test_tn4_a_whole_store_cannot_be_passed_where_a_tenants_is_needed() -> None:
    assert "tenant" in promised(TenantStore)
    assert "tenant" not in promised(Store)


def test_rf4_a_tenant_has_nothing_that_only_the_engine_or_an_operator_needs() -> None:
    assert {*promised(TenantStore)} == {*promised(StoreRows), "tenant"}
    assert {*promised(Store)} - {*promised(StoreRows), *promised(StoreUpkeep)} == {
        "of", "own", "counters", "notices", "deleted", "last_reload", "waiting", "commit", "set_process_group", "close",
        "listen", "refresh_lists", "has_waits", "next_schedule_at", "firings",
    }  # fmt: skip
