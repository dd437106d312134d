"""The lease of a store in a file: lost only if files are replaced or removed under its owner."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.store import builders as a

from phaseline.store.sqlite.store import SqliteStore


@pytest.fixture
def store(path: Path, clock: a.FakeClock) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(path, clock)) as store:
        yield store


def test_rf7_the_lease_of_a_file_is_kept_without_renewal(store: SqliteStore) -> None:
    with store.own("test") as lease:
        store.commit(a.turn())
        assert (lease.is_late(), lease.is_lost()) == (False, False)
        owner = store.owner()
    assert owner is not None
    assert owner.holder == lease.holder
    assert lease.epoch > 0


def test_rf7_a_lease_is_lost_when_another_process_has_raised_the_epoch(store: SqliteStore, path: Path) -> None:
    with store.own("test") as lease:
        assert not lease.is_lost()
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("update store set epoch = epoch + 1")
        assert lease.is_lost()
        assert f"epoch {lease.epoch + 1}" in lease.loss().problems[0].message
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("update store set epoch = epoch - 1")
        assert lease.is_lost(), "what is lost stays lost"


def test_rf7_a_lease_is_lost_when_the_file_was_replaced(store: SqliteStore, path: Path) -> None:
    with store.own("test") as lease:
        assert store.identity()
        path.rename(path.with_name("moved.db"))
        assert lease.is_lost()
        assert lease.loss().problems[0].code == "PL-S004"


def test_rf7_each_ownership_has_a_name_of_its_own(store: SqliteStore) -> None:
    with store.own("one") as first:
        pass
    with store.own("two") as second:
        pass
    assert first.holder != second.holder
