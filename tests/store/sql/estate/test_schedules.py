"""Schedules in SQL, beyond what every store promises (tests/store/test_conformance_of_schedules.py)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.store import builders as a

from phaseline.model.rows.schedules import NewSchedule
from phaseline.model.schedules.schedule_spec import ScheduleSpec
from phaseline.store.sqlite.store import SqliteStore


def test_sc1_the_history_of_a_schedule_is_removed_with_it(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    with closing(SqliteStore.open(file, a.FakeClock())) as store:
        number, _ = store.create_deployment(a.deployment())
        spec = ScheduleSpec("heal", "2026-01-01 00:00:00")
        rows = [store.schedules.add(NewSchedule(number, name, spec), a.ANN) for name in ("a", "b", "c")]
        with closing(sqlite3.connect(file)) as db, db:
            db.execute(
                "insert into schedule_run select number, 1, 1, 1, 1, 0, 'missed', '' from schedule where name in ('a', 'b')"
            )
        assert rows[0] is not None
        assert store.schedules.remove(rows[0])
        left = "select schedule from schedule_run"
        with closing(sqlite3.connect(file)) as db:
            assert len(db.execute(left).fetchall()) == 1
        store.delete_deployment(number, a.ANN)
        with closing(sqlite3.connect(file)) as db:
            assert db.execute(left).fetchall() == db.execute("select 1 from schedule").fetchall() == []
