"""A store from before there were schedules gets their tables, and keeps what it has (SC1)."""

from contextlib import closing
from pathlib import Path

from tests.store import builders as a
from tests.store.old_stores import unpack

from phaseline.model.rows.schedules import NewSchedule
from phaseline.model.schedules.schedule_spec import ScheduleSpec
from phaseline.store.sqlite.store import SqliteStore


def test_sc1_deployments_of_before_get_schedules(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    unpack(7, file)
    with closing(SqliteStore.open(file, a.FakeClock())) as store:
        assert store.schedules.all() == []
        row = store.deployments()[0]
        made = store.schedules.add(
            NewSchedule(row.number, "nightly", ScheduleSpec("heal", "2026-01-01 00:00:00")), a.ANN
        )
        assert made is not None
        assert store.schedules.all() == [made]
