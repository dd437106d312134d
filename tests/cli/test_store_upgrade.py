"""``phaseline store upgrade`` on files (rules ST11, UP3)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.cli.terminal import Terminal
from tests.store.old_stores import unpack

from phaseline.store.database.schema import SCHEMA_VERSION


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
