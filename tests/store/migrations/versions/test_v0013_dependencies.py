"""Schema 13: a store of before gets an empty table, and programs of before may read it but not write."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.store.old_stores import SCHEMAS, unpack

from phaseline.store.migrations import upgrade


def test_dp5_an_upgraded_store_has_no_records_and_refuses_writers_of_before(path: Path) -> None:
    unpack(max(SCHEMAS), path)
    upgrade(str(path), "0013")
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("select count(*) from dependency").fetchone() == (0,)
        assert db.execute("select version, min_reader, min_writer from store_schema").fetchone() == (13, 11, 13)
