"""Parts of a store that few commands need are made when they are used."""

import pytest
from tests.store.builders import FakeClock

from phaseline.store.relational.lazy_shelves import Seldom
from phaseline.store.sqlite.store import SqliteStore

SHELVES = [name for name, one in vars(Seldom).items() if hasattr(one, "attrname")]


@pytest.mark.parametrize("name", SHELVES)
def test_a_shelf_is_made_once_when_it_is_used(tmp_path, name):
    store = SqliteStore.open(str(tmp_path / "store.db"), FakeClock())
    assert name not in vars(store)
    assert getattr(store, name) is getattr(store, name)
    store.close()


def test_all_shelves_of_a_database_are_among_them():
    assert {"labels", "listings", "packages", "secrets", "stored_blueprints"} <= set(SHELVES)
