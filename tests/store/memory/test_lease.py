"""The lease of a store in memory is never lost, whatever happens to its store."""

from tests.store import builders as a

from phaseline.store.memory.store import MemoryStore


def test_rf7_a_lease_in_memory_is_never_lost() -> None:
    store = MemoryStore(a.FakeClock())
    with store.own("one") as lease:
        owner = store.owner()
        store.disown()
        assert (lease.is_late(), lease.is_lost()) == (False, False)
    assert owner is not None
    assert owner.holder == lease.holder
    assert lease.loss().problems[0].code == "PL-S004"
