"""DP5: the records in memory are those of all tenants, and each sees its own."""

import pytest
from tests.store import builders as a

from phaseline.model.rows.dependencies import Dependency
from phaseline.store.memory.store import MemoryStore


def test_dp5_a_tenant_cannot_write_records_of_another_ones_deployment() -> None:
    store = MemoryStore(a.FakeClock())
    with store.own("test"):
        number, _ = store.of("other").create_deployment(a.deployment("app"))
    with pytest.raises(LookupError):
        store.of("default_tenant").dependencies.replace(number, [Dependency("capability", "outputs.x", "", "net")])
    assert store.of("other").dependencies.of(number) == []
