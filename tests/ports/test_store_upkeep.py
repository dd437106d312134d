"""What an operator does with the whole store is a part of the whole store's port."""

from tests.ports.signatures import promised

from phaseline.ports.store import Store
from phaseline.ports.store_upkeep import StoreUpkeep
from phaseline.ports.tenant_store import TenantStore


def test_rf4_a_tenant_cannot_maintain_the_store() -> None:
    own = {"incarnations", "secrets"}  # of which a tenant has the part that reads
    assert {*promised(StoreUpkeep)} <= {*promised(Store)}
    assert {*promised(StoreUpkeep)} & {*promised(TenantStore)} == own
