"""Saved filters in SQLite are rows of a tenant."""

from contextlib import closing
from pathlib import Path

from tests.store import builders as a

from phaseline.model.rows.estate import SavedFilter
from phaseline.model.rows.rows import Actor
from phaseline.store.sqlite.store import SqliteStore


def test_lb3_whoever_is_named_a_filter_belongs_to_the_tenant_of_the_store(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "store.db", a.FakeClock())) as store:
        mine, other = store.of("mine"), store.of("other")
        assert mine.filters.add(SavedFilter("deployments", "x", "[]", 1, ""), Actor("eve", "other"))
        assert [row.created_by for row in mine.filters.all()] == ["eve"]
        assert (other.filters.all(), other.filters.remove("deployments", "x")) == ([], False)
