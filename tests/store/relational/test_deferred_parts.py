"""Parts of a store that few commands need are made when first used, once."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from tests.store.builders import FakeClock

from phaseline.store.relational.deferred_parts import DeferredParts
from phaseline.store.sqlite.store import SqliteStore

PARTS = sorted(name for name in vars(DeferredParts) if not name.startswith("_"))


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_made_when_first_used_and_kept(tmp_path: Path, name: str) -> None:
    with closing(SqliteStore.open(tmp_path / "a.db", FakeClock())) as store:
        assert name not in vars(store)
        part = getattr(store, name)
        assert type(part).__module__.startswith(("phaseline.store.sql.", "phaseline.store.relational."))
        if name != "orders":  # it holds nothing
            assert getattr(store, name) is part
