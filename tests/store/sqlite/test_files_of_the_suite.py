"""What the suite of all stores leaves out, because only a file can be looked at or damaged from outside."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.store import builders as a
from tests.store.test_conformance_of_blueprints import stored
from tests.store.test_conformance_of_checks import FAILED, made
from tests.store.test_conformance_of_listings import on_paths

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.rows import Reshaped, TurnPayload
from phaseline.store.sqlite.store import SqliteStore


def test_b8_content_that_was_changed_from_outside_is_told(path: Path) -> None:
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        stored(store, "shop", {"b": b"1"})
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("update stored_content set size_bytes = 2")
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        assert [finding.where for finding in store.check()] == ["stored_content"]


def test_damaged_results_are_told(path: Path) -> None:
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        number, _ = a.installed(store)
        with store.own("test"):
            store.commit(a.turn(payload=TurnPayload(checks=[made(number, {1: FAILED}, bodies={1: "x"})])))
        with closing(sqlite3.connect(path)) as db:
            db.execute("update check_page set results = x'00', times = x'00'")
            db.execute("update check_body set body = '{'")
            db.commit()
        assert {finding.where for finding in store.check()} == {"check_page", "check_body"}


def test_a_deployment_that_an_older_version_has_stored_says_the_same(tmp_path):
    path = str(tmp_path / "store.db")
    store = SqliteStore.open(path, a.FakeClock())
    number, _ = on_paths(store)
    before = store.listings.summaries([number])[number]
    store.close()
    with sqlite3.connect(path) as db:
        db.execute("update topology set nodes = json_remove(nodes, '$.targets')")
    db.close()
    store = SqliteStore.open(path, a.FakeClock())
    assert store.listings.summaries([number])[number] == before
    store.close()


def statements(store, look):
    """How many statements a question takes."""
    said = []
    reader = store.connections.reader()
    reader.set_trace_callback(said.append)
    look()
    reader.set_trace_callback(None)
    return len(said)


@pytest.mark.parametrize("question", ["summaries", "rosters"])
def test_many_deployments_are_asked_with_as_many_statements_as_one(tmp_path, question):
    store = SqliteStore.open(str(tmp_path / "store.db"), a.FakeClock())
    numbers = [a.installed(store, f"shop-{place}")[0] for place in range(20)]
    look = getattr(store.listings, question)
    assert statements(store, lambda: look(numbers)) == statements(store, lambda: look(numbers[:1]))
    assert list(look(numbers)) == numbers
    store.close()


def test_a_reader_in_another_process_sees_it_too(path: Path, clock: a.FakeClock) -> None:
    store, reader = SqliteStore.open(path, clock), SqliteStore.open(path, clock)
    number, _ = a.installed(store)
    held = reader.topology(number)
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(reshaped=(Reshaped(number, altered(held, counts={"x": 1})),))))
    assert dict(reader.topology(number).counts) == {"x": 1}
    store.close()
    reader.close()
