"""What schedules start in the store in memory, besides what every store promises."""

import pytest
from tests.store import builders as a

from phaseline.store.memory.store import MemoryStore


def test_sc6_only_the_owner_of_a_store_in_memory_looks_for_what_is_due() -> None:
    store = MemoryStore(a.FakeClock())
    with pytest.raises(RuntimeError, match="only the owner"):
        store.firings.due(9, 5)
    with store.own("an engine"):
        assert [*store.firings.due(9, 5)] == []
    assert store.next_schedule_at is None
