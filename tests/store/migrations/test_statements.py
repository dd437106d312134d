"""A migration's statements on a file; on PostgreSQL they are tested by ``tests/store/postgres/test_upgrade.py``."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.store.old_stores import unpack

from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.migrations import upgrade


def test_up1_the_version_and_who_may_use_the_store_are_recorded(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    unpack(7, file)
    upgrade(str(file))
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("pragma user_version").fetchone() == (SCHEMA_VERSION,)
        assert db.execute("select version from store_schema").fetchone() == (SCHEMA_VERSION,)
