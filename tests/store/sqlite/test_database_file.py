"""Writers wait for their turn."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import chain, repeat
from pathlib import Path

import pytest

from phaseline.store.sqlite.database_file import LONGEST_TRY_S, TURN_PATIENCE_S, in_turn


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "one.db"


@pytest.fixture
def holder(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as db:
        db.execute("begin immediate")
        yield db


def test_a_machine_that_stood_still_does_not_use_up_the_patience(file: Path, holder: sqlite3.Connection) -> None:
    """All processes find the deadline past at once; the one that writes ends its transaction a moment later."""
    tries = 0
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as db:

        def work() -> str:
            nonlocal tries
            tries += 1
            if tries == 3:
                holder.execute("commit")
            db.execute("begin immediate")
            return "mine"

        clock = chain([0.0], repeat(2 * TURN_PATIENCE_S))
        assert in_turn(work, TURN_PATIENCE_S, lambda: next(clock)) == "mine"


def test_patience_ends_while_somebody_else_writes_on(file: Path, holder: sqlite3.Connection) -> None:
    times = iter(range(1_000))
    with (
        closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as db,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        in_turn(lambda: db.execute("begin immediate"), 5 * LONGEST_TRY_S, lambda: float(next(times)))
    assert next(times) == 6
    assert holder.in_transaction
