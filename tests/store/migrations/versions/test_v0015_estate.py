"""Keys of labels that were stored before they were kept in lower case (LB1)."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.store import builders as a
from tests.store.old_stores import unpack

from phaseline.model.blueprint.labels import Label
from phaseline.store.sqlite.store import SqliteStore


def test_lb1_keys_become_small_and_no_value_is_lost_or_doubled(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    unpack(7, file)
    with closing(sqlite3.connect(file)) as db, db:
        (number,) = db.execute("select min(number) from deployment where deleted_at = 0").fetchone()
        db.execute("delete from label where deployment = ?", (number,))
        rows = [(number, "Team", "web"), (number, "team", "web"), (number, "TEAM", "ops"), (number, "env", "Prod")]
        db.executemany("insert into label (deployment, key, value) values (?, ?, ?)", rows)
    with closing(SqliteStore.open(file, a.FakeClock())) as store:
        assert store.labels.of(number) == [Label("env", "Prod"), Label("team", "ops"), Label("team", "web")]
        assert (store.filters.all(), store.sites.all(), store.sites.of([number])) == ([], [], {})
