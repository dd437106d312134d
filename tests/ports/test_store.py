"""The store's port: all stores take the same arguments, so that callers need not know which one they have (risk K3)."""

from __future__ import annotations

import pytest
from tests.ports.signatures import differences

from phaseline.ports.store import Store
from phaseline.store.memory.store import MemoryStore
from phaseline.store.sqlite.store import SqliteStore


@pytest.mark.parametrize("kind", [MemoryStore, SqliteStore])
def test_every_store_takes_the_arguments_of_its_port(kind: type) -> None:
    assert differences(Store, kind) == []
