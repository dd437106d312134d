"""The memory of removed definitions is released."""

from phaseline.model.packages.installed import StoredDefinition
from phaseline.store.memory.store import MemoryStore
from phaseline.testing.clock import VirtualClock


def test_the_content_of_a_replaced_version_is_forgotten() -> None:
    shelf = MemoryStore(VirtualClock()).definitions
    shelf.add(StoredDefinition("acme", "1", {"plugin.yaml": "a"}), {"a": b"one"})
    shelf.add(StoredDefinition("acme", "1", {"plugin.yaml": "b"}), {"b": b"two"})
    assert shelf._contents == {"b": b"two"}
    assert shelf.remove("acme", "1")
    assert shelf._contents == {}
