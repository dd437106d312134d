"""Each refusal of SQLite becomes the Problem that says what to do."""

import sqlite3

import pytest

from phaseline.model.problems.codes import CODES
from phaseline.store.sqlite.errors import as_problem


@pytest.mark.parametrize(
    ("name", "code", "word"),
    [
        ("SQLITE_NOTADB", "PL-S001", "not a Phaseline store"),
        ("SQLITE_CANTOPEN", "PL-S001", "opened"),
        ("SQLITE_CANTOPEN_ISDIR", "PL-S001", "opened"),
        ("SQLITE_ERROR", "PL-S001", "told by sqlite"),
        ("SQLITE_CORRUPT", "PL-S003", "damaged"),
        ("SQLITE_CORRUPT_INDEX", "PL-S003", "damaged"),
        ("SQLITE_BUSY", "PL-S005", "another program"),
        ("SQLITE_BUSY_SNAPSHOT", "PL-S005", "another program"),
        ("SQLITE_LOCKED", "PL-S005", "another program"),
        ("SQLITE_FULL", "PL-S005", "disk is full"),
        ("SQLITE_READONLY", "PL-S005", "read-only"),
        ("SQLITE_READONLY_DIRECTORY", "PL-S005", "read-only"),
        ("SQLITE_IOERR_FSYNC", "PL-S005", "SQLITE_IOERR_FSYNC"),
    ],
)
def test_an_error_of_sqlite_has_its_code(name: str, code: str, word: str) -> None:
    error = sqlite3.OperationalError("told by sqlite")
    error.sqlite_errorname = name
    (problem,) = as_problem(error, "/somewhere/store.db").problems
    assert problem.code == code
    assert code in CODES
    assert word in problem.message
    assert problem.mend
    assert problem.place.subject == "/somewhere/store.db"


def test_an_error_without_a_name_is_told_as_it_is() -> None:
    (problem,) = as_problem(sqlite3.OperationalError("could not decode"), "x").problems
    assert (problem.code, "could not decode" in problem.message) == ("PL-S001", True)
