"""One row that cannot be read hides no other: each list shows what is left, and a deployment can be removed."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from tests.simulation.test_sound_stores import Life

from phaseline import Phaseline, ProblemsError

LISTS: Mapping[str, Callable[[Phaseline], int]] = {
    "deployments": lambda shop: len(shop.deployments.list().items),
    "executions": lambda shop: len(shop.executions.list().items),
    "instances": lambda shop: len(shop.instances.list().items),
    "stuck": lambda shop: len(shop.instances.stuck().items),
    "resources": lambda shop: len(shop.resources.list().resources),
    "blueprints": lambda shop: len(shop.blueprints.list()),
    "plans": lambda shop: len(shop.plans.list()),
    "secrets": lambda shop: len(shop.secrets.list()),
    "packages": lambda shop: len(shop.plugins.packages()),
    "plugins": lambda shop: len(shop.plugins.list()),
    "snapshots": lambda shop: len(shop.snapshots.list()),
    "abandoned": lambda shop: len(shop.abandoned.list()),
    "phases": lambda shop: len(shop.phases.list()),
    "status": lambda shop: int(bool(shop.status())),
    "hooks": lambda shop: int(bool(shop.hooks.list())),
}
LOST_WITH_IT = {"instances": 6, "stuck": 1, "resources": 1, "abandoned": 1, "snapshots": 1, "plans": 1}
"""So many rows of a list one damaged row may take along: those of its own deployment."""
JUNK = ("'{'", "x'ff00fe'")
NAMES = ("name", "tenant", "id", "created_by", "deleted_by", "actor", "digest", "status", "wrapped")
"""Columns of which any text is a value, or that say which row it is."""


@pytest.fixture
def life(tmp_path: Path) -> Life:
    """A store with two of everything."""
    life = Life(tmp_path, 1)
    shop = life.shop
    for name in ("one", "two"):
        file = str(tmp_path / "small.yaml")
        shop.executions.install(file, name, labels=["a=b"])
        shop.executions.start("check_status", name)
        shop.snapshots.create(name, "snap")
        shop.blueprints.upload(file, f"kept{name}")
        shop.secrets.create(f"word-{name}", "xyzzy")
        shop.resources.apply(records=life.records()[:1], cluster=f"c{name}")
        shop.deployments.create(file, f"gone{name}")
        shop.deployments.abandon(f"gone{name}")
    shop.engine.run(until_idle=True)
    shop.close()
    with closing(sqlite3.connect(tmp_path / "store.db")) as db:
        db.execute("pragma wal_checkpoint(truncate)")
    shutil.copy(tmp_path / "store.db", tmp_path / "good.db")
    return life


def lists(life: Life) -> dict[str, int]:
    with life.opened() as shop:
        return {name: look(shop) for name, look in LISTS.items()}


def damages(good: Path) -> Iterator[str]:
    """Statements each of which makes one value of one row unreadable."""
    with closing(sqlite3.connect(good)) as db:
        tables = [row[0] for row in db.execute("select name from sqlite_master where type = 'table'")]
        for table in sorted(tables):
            columns = db.execute(f"pragma table_info({table})").fetchall()
            key = columns[0][1]
            (first,) = db.execute(f"select min({key}) from {table}").fetchone()
            if first is None or table.startswith("sqlite") or table in ("store", "alembic_version", "incarnation"):
                continue
            texts = [column[1] for column in columns if column[2] in ("text", "blob") and column[1] not in NAMES]
            for last in ("min", "max"):
                where = f"where {key} = (select {last}({key}) from {table})"
                yield from (
                    f"update or ignore {table} set {column} = {junk} {where}" for column in texts for junk in JUNK
                )


@pytest.mark.parametrize("part", range(4))
def test_a_value_that_cannot_be_read_hides_nothing_else(life: Life, part: int) -> None:
    good, store = life.folder / "good.db", life.folder / "store.db"
    whole = lists(life)
    assert {name for name, count in whole.items() if count} >= LISTS.keys() - {"plans", "packages"}
    for statement in list(damages(good))[part::4]:
        shutil.copy(good, life.folder / "next.db")
        with closing(sqlite3.connect(life.folder / "next.db")) as db, db:
            db.execute(statement)
        for tail in ("-wal", "-shm"):
            Path(f"{store}{tail}").unlink(missing_ok=True)
        (life.folder / "next.db").replace(store)
        for name, count in lists(life).items():
            assert count >= whole[name] - LOST_WITH_IT.get(name, 0), (statement, name)


@pytest.mark.parametrize(
    "damage",
    [
        "update topology set ids = cast(replace(ids, 'app', 'a' || char(0) || 'pp') as blob)",
        "update topology set nodes = '{'",
        "update blueprint set body = '{'",
        "update deployment set plugin_folders = '{'",
        "update state_page set states = 'x'",
        "delete from topology",
    ],
)
def test_a_deployment_that_cannot_be_read_is_told_with_its_reason_and_can_be_removed(life: Life, damage: str) -> None:
    key = "number" if " deployment " in damage else "deployment"
    with closing(sqlite3.connect(life.folder / "store.db")) as db, db:
        db.execute(f"{damage} where {key} = (select number from deployment where name = 'one')")
    with life.opened() as shop:
        rows = {row.name: row for row in shop.deployments.list().items}
        assert rows.keys() == {"one", "two", "cone", "ctwo"}
        page = shop.instances.list()
        assert {one.deployment for one in page.items} >= {"two"}
        assert rows["one"].flaw or page.flaws or "blueprint" in damage
        assert all("'one' cannot be read" in flaw and "delete one --force" in flaw for flaw in page.flaws)
        assert (rows["one"].status == "unreadable") == bool(rows["one"].flaw)
        with pytest.raises(ProblemsError) as caught:
            shop.deployments.delete("one")
        assert [problem.code for problem in caught.value.problems] == ["PL-C015"]
        assert shop.deployments.delete("one", force=True).name == "one"
        assert [row.name for row in shop.deployments.list().items] == ["cone", "ctwo", "two"]
        assert shop.executions.uninstall("two").is_good
