"""``phaseline store upgrade`` on files (rules ST11, UP3)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.cli.terminal import Terminal
from tests.store import builders as a
from tests.store.old_stores import unpack
from tests.store.unfilled import empty
from tests.use_cases.many_deployments import fill

from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.relational.filling import FillingSteps
from phaseline.store.sqlite.store import SqliteStore


def user_version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("pragma user_version").fetchone()[0])


def test_st11_an_older_file_is_told_and_upgraded_when_asked(terminal: Terminal) -> None:
    path = terminal.folder / "old.db"
    unpack(5, path)
    terminal.environment["PHASELINE_STORE_URL"] = f"sqlite:///{path}"
    code, found = terminal.ask("store", "upgrade", "--check")
    assert (code, found["schema"], found["known"], user_version(path)) == (1, 5, SCHEMA_VERSION, 5)
    assert terminal.ask("store", "upgrade", "--status")[0] == 0
    assert user_version(path) == 5
    code, found = terminal.ask("store", "upgrade")
    assert (code, found["upgraded_from"], found["schema"]) == (0, 5, SCHEMA_VERSION)
    assert user_version(path) == SCHEMA_VERSION
    assert terminal.ask("store", "upgrade", "--check")[0] == 0
    assert "no upgrade is due" in terminal.run("store", "upgrade").output


def test_up3_the_status_tells_what_is_left_how_far_it_is_and_who_has_worked_on_it(terminal: Terminal) -> None:
    path = terminal.folder / "new.db"
    terminal.environment["PHASELINE_STORE_URL"] = f"sqlite:///{path}"
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        fill(store, 98)
        with store._transaction() as db:
            empty(db)
            assert FillingSteps(25).step(db, 60_000)
    code, found = terminal.ask("store", "upgrade", "--status")
    assert (code, found["schema"], found["known"], found["upgraded_from"], found["steps"]) == (
        0,
        SCHEMA_VERSION,
        SCHEMA_VERSION,
        0,
        0,
    )
    first, second = found["fillings"]
    assert first.pop("worker").startswith("process ")
    assert first == {
        "name": "deployments", "done": 25, "total": 100, "percent": 25, "at": "1970-01-01T00:01:00.000Z",
    }  # fmt: skip
    assert second["name"] == "executions"
    assert (second["done"], second["percent"], second["at"], second["worker"]) == (0, 0, None, "")
    text = terminal.run("store", "upgrade", "--status").output
    assert f"schema {SCHEMA_VERSION}; its upgrade is not finished: phaseline store upgrade." in text
    assert "  deployments: 25 of 100 (25 %), last at " in text
    assert terminal.ask("store", "upgrade", "--check")[0] == 1
    code, found = terminal.ask("store", "upgrade")
    assert (code, found["fillings"], found["upgraded_from"]) == (0, [], 0)
    assert found["steps"] >= 2
    assert terminal.ask("store", "upgrade", "--check")[0] == 0
    assert terminal.ask("store", "check")[0] == 0


def test_up3_the_last_steps_are_told(terminal: Terminal) -> None:
    path = terminal.folder / "new.db"
    terminal.environment["PHASELINE_STORE_URL"] = f"sqlite:///{path}"
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        a.installed(store)
        with store._transaction() as db:
            empty(db)
    assert f"schema {SCHEMA_VERSION}; its upgrade is finished." in terminal.run("store", "upgrade").output
    assert "no upgrade is due" in terminal.run("store", "upgrade").output
