"""Schema 9 has definition files; programs of schema 8 would delete their contents, so they may only read (UP1)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.store.old_stores import unpack

from phaseline.store.migrations import upgrade


def test_up1_programs_of_schema_8_may_read_and_not_write(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    unpack(7, file)
    upgrade(str(file), "0009")
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("select * from store_schema").fetchone() == (9, 8, 9)
        assert db.execute("select count(*) from definition_file").fetchone() == (0,)
