"""The store's port: all stores take the same arguments, so that callers need not know which one they have (risk K3)."""

from __future__ import annotations

import pytest
from tests.ports.signatures import differences

from phaseline.ports.store import Store
from phaseline.store.memory.store import MemoryStore
from phaseline.store.postgres.store import PostgresStore
from phaseline.store.sqlite.store import SqliteStore


@pytest.mark.parametrize("kind", [MemoryStore, SqliteStore, PostgresStore])
def test_st3_every_store_has_all_methods_of_its_port_with_their_arguments(kind: type) -> None:
    assert differences(Store, kind) == []
