"""Schema 12 has causes and waits; programs of schema 11 would leave entries asleep, so they may only read (UP1, BB2, BB3)."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.store import builders as a
from tests.store.old_stores import unpack

from phaseline.store.migrations import upgrade
from phaseline.store.sqlite.store import SqliteStore


def test_up1_programs_of_schema_11_may_read_and_not_write(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    unpack(7, file)
    upgrade(str(file), "0012")
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("select * from store_schema").fetchone() == (12, 11, 12)


def test_bb2_what_was_stored_before_has_no_cause(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    unpack(7, file)
    with closing(SqliteStore.open(file, a.FakeClock())) as store:
        numbers = [row.number for row in store.executions()]
        assert numbers
        assert (store.causes.of_executions(numbers), store.causes.awaiting()) == ([], [])
