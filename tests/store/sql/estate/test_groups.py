"""Deployment groups in SQL, beyond what every store promises (tests/store/test_conformance_of_groups.py)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.store import builders as a

from phaseline.model.rows.groups import NewGroup
from phaseline.store.sqlite.store import SqliteStore


def test_gr11_no_row_of_a_member_outlives_its_group_or_its_deployment(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    with closing(SqliteStore.open(file, a.FakeClock())) as store:
        rows = [store.groups.create(NewGroup(name), a.ANN) for name in ("x", "y")]
        numbers = [store.create_deployment(a.deployment(name))[0] for name in ("a", "b")]
        for row in rows:
            assert row is not None
            store.groups.join(row, numbers)
        assert rows[0] is not None
        store.groups.remove(rows[0])
        store.delete_deployment(numbers[0], a.ANN)
        with closing(sqlite3.connect(file)) as db:
            assert db.execute("select deployment from group_member").fetchall() == [(numbers[1],)]
