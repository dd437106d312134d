"""A store from before there were deployment groups gets their tables, and keeps what it has (GR1)."""

from contextlib import closing
from pathlib import Path

from tests.store import builders as a
from tests.store.old_stores import unpack

from phaseline.model.rows.groups import NewGroup
from phaseline.store.sqlite.store import SqliteStore


def test_gr1_deployments_of_before_join_groups(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    unpack(7, file)
    with closing(SqliteStore.open(file, a.FakeClock())) as store:
        assert store.groups.all() == []
        row = store.groups.create(NewGroup("shops"), a.ANN)
        assert row is not None
        first = store.deployments()[0]
        assert store.groups.join(row, [first.number]) == 1
        assert [member.name for member in store.groups.members(row)] == [first.name]
