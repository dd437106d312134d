"""Parts of what an upgrade leaves to be filled."""

from contextlib import closing
from pathlib import Path

import pytest
from tests.store import builders as a
from tests.store.unfilled import empty

from phaseline.store.sql.read_model import filling
from phaseline.store.sqlite.store import SqliteStore


def test_up3_a_part_ends_before_it_has_too_many_instances(tmp_path: Path) -> None:
    apps = filling.INSTANCES_TOGETHER // 2
    with closing(SqliteStore.open(tmp_path / "store.db", a.FakeClock())) as store:
        numbers = [store.create_deployment(a.deployment(f"shop-{at}", hosts=1, apps=apps))[0] for at in range(3)]
        gone = store.create_deployment(a.deployment("gone"))[0]
        store.delete_deployment(gone)
        with store._transaction() as db:
            empty(db)
            assert filling.fill_deployments(db, 0, gone, 10) == numbers[1]
            assert filling.fill_deployments(db, numbers[1], gone, 10) == gone
        assert list(store.check()) == []


def test_up3_unreadable_topologies_are_left_out(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "store.db", a.FakeClock())) as store:
        good, bad = (store.create_deployment(a.deployment(name))[0] for name in ("good", "bad"))
        with store._transaction() as db:
            db.execute("update topology set nodes = 'no JSON' where deployment = ?", (bad,))
            empty(db)
            assert filling.rows_of_topologies(db, {good: "default", bad: "default"}).keys() == {good}
            assert filling.fill_deployments(db, 0, bad, 10) == bad
            assert db.execute("select count(*) from deployment_summary").fetchone() == (2,)
            assert db.execute("select distinct deployment from deployment_node").fetchall() == [(good,)]


@pytest.mark.parametrize(("count", "reached"), [(1, 1), (2, 2), (3, 2)])
def test_up3_executions_are_counted_up_to_the_last_one(tmp_path: Path, count: int, reached: int) -> None:
    with closing(SqliteStore.open(tmp_path / "store.db", a.FakeClock())) as store:
        a.installed(store)
        a.installed(store, "other")
        with store._transaction() as db:
            empty(db)
            assert filling.count_executions(db, 0, 2, count) == reached
            assert db.execute("select execution_count from tenant").fetchall() == [(min(count, 2),)]
