"""Waits in a database: written in sets, each once (BB3)."""

from contextlib import closing
from pathlib import Path

from tests.store import builders as a

from phaseline.model.rows.causes import AwaitChanges, AwaitRow
from phaseline.store.sql.estate.causes import write_awaits
from phaseline.store.sqlite.store import SqliteStore


def test_bb3_a_thousand_waits_are_dropped_by_two_statements(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "store.db", a.FakeClock())) as store, store.own("an engine"):
        _, run = a.installed(store)
        rows = tuple(AwaitRow(run, 1, place, 100 + place, 5) for place in range(1_000))
        db = store.connections.writer()
        write_awaits(db, AwaitChanges((*rows, *rows)))
        assert db.execute("select count(*) from awaiting").fetchone() == (1_000,)
        statements: list[str] = []
        db.set_trace_callback(statements.append)
        write_awaits(db, AwaitChanges(over=tuple(range(100, 1_100))))
        db.set_trace_callback(None)
        assert len(statements) == 2
        assert db.execute("select count(*) from awaiting").fetchone() == (0,)
        db.rollback()


def test_bb3_a_wait_of_an_execution_that_is_gone_is_not_written(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "store.db", a.FakeClock())) as store, store.own("an engine"):
        db = store.connections.writer()
        write_awaits(db, AwaitChanges((AwaitRow(99, 1, 0, 1, 5),)))
        assert db.execute("select count(*) from awaiting").fetchone() == (0,)
        db.rollback()
