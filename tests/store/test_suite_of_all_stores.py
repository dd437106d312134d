"""The suite of all stores runs for each of them, and has no case of its own for any (rule ST2)."""

from pathlib import Path

import pytest
from tests.store.conftest import STORES

SUITE = sorted(Path(__file__).parent.glob("test_conformance*.py"))
OWN = ("SqliteStore", "PostgresStore", "MemoryStore", "sqlite3", "psycopg", "isinstance(store", "isinstance(owned")


def test_st2_the_suite_runs_for_every_store() -> None:
    assert STORES == ("sqlite", "postgresql", "memory")
    assert len(SUITE) >= 20


@pytest.mark.parametrize("path", SUITE, ids=lambda path: path.stem)
def test_st2_the_suite_has_no_case_of_its_own_for_a_store(path: Path) -> None:
    text = path.read_text()
    assert [name for name in OWN if name in text] == []
    assert "(store" in text or "(owned" in text or "(reopen" in text
