"""Runs over groups in SQL, beyond what every store promises (tests/store/test_conformance_of_group_runs.py)."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tests.store import builders as a

from phaseline.model.rows.groups import NewGroup, NewGroupRun
from phaseline.store.sqlite.store import SqliteStore


def test_gr3_a_run_stays_when_its_group_is_deleted(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "store.db", a.FakeClock())) as store:
        group = store.groups.create(NewGroup("shops"), a.ANN)
        assert group is not None
        row = store.group_runs.begin(NewGroupRun(group.number, "shops", "heal"), a.ANN)
        store.groups.remove(group)
        assert store.group_runs.of("shops") == [row]
