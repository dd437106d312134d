"""What a store has of phases is read at once."""

from tests.store import builders as a


def test_rf5_phases_of_a_store_are_read_together(reopen):
    store = reopen()
    with store.own("test"):
        store.pause_phase("Acme.Create", a.ANN, "a test")
    found = store.listings.phase_tables()
    assert list(found.paused) == ["acme.create"]
    assert found.paused == store.paused_phases()
    assert (found.packages, dict(found.measures)) == (store.packages.all(), dict(store.measures()))
    assert found.data_keys == frozenset()
