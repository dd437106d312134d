"""A store that is put back from a backup: whole or not at all, whatever happens on the way (rule BK4)."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest
from tests.store import builders as a
from tests.store.files import interrupted, refusal

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.incarnations import Names
from phaseline.model.rows.rows import RequestKind
from phaseline.store.relational.incarnations import begin_another
from phaseline.store.sqlite.database_file import connect
from phaseline.store.sqlite.restore import restore
from phaseline.store.sqlite.store import SqliteStore
from phaseline.testing.clock import VirtualClock

OLD_STORE = Path(__file__).parents[1] / "data" / "store-v1.db"
ANN = a.ANN


@pytest.fixture
def backup(path: Path, clock: a.FakeClock) -> Path:
    """A copy from when the only deployment was there; it is deleted in the store at ``path``."""
    copy = path.with_name("backup.db")
    with closing(SqliteStore.open(path, clock)) as store:
        number, run = a.installed(store)
        store.backup(str(copy))
        a.end(store, run)
        store.delete_deployment(number)
    return copy


def names(path: Path, clock: a.FakeClock) -> list[str]:
    with closing(SqliteStore.open(path, clock, makes=False)) as store:
        assert list(store.check()) == []
        return [row.name for row in store.deployments()]


def test_bk4_whoever_dies_while_restoring_leaves_the_one_store_or_the_other(
    path: Path, backup: Path, clock: a.FakeClock, tmp_path: Path
) -> None:
    seen = set()
    for number in range(1, 1_000):
        here = tmp_path / str(number) / "store.db"
        shutil.copytree(
            path.parent, here.parent, ignore=lambda _folder, names: [one for one in names if one.isdecimal()]
        )
        code = interrupted(lambda to=here: restore(str(to.with_name("backup.db")), str(to), 7), number)
        found = names(here, clock)
        assert found in ([], ["shop"])
        assert here.read_bytes()[18:20] == b"\2\2", "it has a write-ahead log"
        seen.add((bool(found), code))
        restore(str(here.with_name("backup.db")), str(here), 8)
        assert names(here, clock) == ["shop"]
        assert not list(here.parent.glob("*.restoring*"))
        shutil.rmtree(here.parent)
        if code == 0:
            break
    assert number > 20
    assert {(False, 9), (True, 9), (True, 0)} <= seen


def test_bk4_the_store_before_is_kept_and_can_be_put_back(path: Path, backup: Path, clock: a.FakeClock) -> None:
    first = restore(str(backup), str(path), 7)
    assert names(path, clock) == ["shop"]
    second = restore(first.kept, str(path), 8)
    assert names(path, clock) == []
    assert (first.kept, second.kept) == (f"{path}.before-restore.db", f"{path}.before-restore-2.db")
    assert Path(second.kept).stat().st_mode & 0o777 == 0o600
    assert (first.waiting, second.waiting) == (1, 0)


def test_bk4_a_store_that_others_have_open_is_not_replaced(path: Path, backup: Path, clock: a.FakeClock) -> None:
    with closing(SqliteStore.open(path, clock)) as looking:
        assert list(looking.deployments()) == []
        with pytest.raises(ProblemsError) as caught:
            restore(str(backup), str(path), 7)
        assert refusal(caught)[0] == "PL-S005"
        with looking.own("an engine"), pytest.raises(ProblemsError) as caught:
            restore(str(backup), str(path), 7)
        assert refusal(caught)[0] == "PL-S004"
    assert names(path, clock) == []
    assert sorted(each.name for each in path.parent.glob("store.db.*")) == ["store.db.lock"]


def test_bk4_a_damaged_store_is_kept_to_the_byte_and_replaced(path: Path, backup: Path, clock: a.FakeClock) -> None:
    path.write_bytes(b"no store at all" * 1_000)
    told = restore(str(backup), str(path), 7)
    assert Path(told.kept).read_bytes() == b"no store at all" * 1_000
    assert names(path, clock) == ["shop"]


def test_bk4_a_store_is_restored_where_there_is_none(path: Path, backup: Path, clock: a.FakeClock) -> None:
    there = path.parent / "new" / "folder" / "store.db"
    assert restore(str(backup), str(there), 7).kept == ""
    assert names(there, clock) == ["shop"]


def test_bk4_a_backup_of_an_older_version_is_brought_up_to_date(path: Path) -> None:
    clock = VirtualClock(1)
    told = restore(str(OLD_STORE), str(path), 7)
    assert told.waiting == 2
    with closing(SqliteStore.open(path, clock)) as store:
        assert [row.name for row in store.deployments()] == ["late", "old", "shop"]
        assert store.incarnations.held() == 3
        assert list(store.requests()) == []
        (one,) = store.incarnations.all()
        assert (one.first_graph, one.first_batch) == (3, 7)
    assert not list(OLD_STORE.parent.glob("store-v1.db-*"))


def test_an_older_store_keeps_its_tokens(path: Path) -> None:
    shutil.copyfile(OLD_STORE, path)
    with closing(SqliteStore.open(path, VirtualClock(1))) as store:
        assert list(store.incarnations.all()) == []
        assert store.incarnations.held() == 0
        assert Names(store.identity(), store.incarnations.all()).present == store.identity()


def test_bk5_requests_from_before_wait_and_are_asked_anew(path: Path, clock: a.FakeClock) -> None:
    with closing(SqliteStore.open(path, clock)) as store:
        _, run = a.installed(store)
        store.ask(RequestKind.CANCEL, run, {"id": "install-1"}, ANN)
        store.ask(RequestKind.STOP, 0, {"pid": 1}, ANN)
        seen = store.requests()[-1].number
        with closing(connect(str(path))) as db:
            begin_another(db, "test", 7)
        assert list(store.requests(seen)) == []
        with pytest.raises(ProblemsError) as caught:
            store.ask(RequestKind.CANCEL, run, {"id": "install-1"}, ANN)
        assert refusal(caught)[0] == "PL-S013"
        new = store.ask(RequestKind.EDIT, 0, {}, ANN)
        assert [row.number for row in store.requests(seen)] == [new]
        assert [row.id for row in store.incarnations.go_on(ANN, 8)] == ["install-1"]
        kinds = [row.kind for row in store.requests(new)]
        assert kinds == [RequestKind.START, RequestKind.START, RequestKind.CANCEL]


def test_bk4_a_new_store_in_the_place_of_a_removed_one_has_one_life(path: Path, clock: a.FakeClock) -> None:
    for _ in range(2):
        with closing(SqliteStore.open(path, clock)) as store, store.own("test"):
            store.commit(a.turn())
        path.unlink()
    with closing(SqliteStore.open(path, clock)) as store:
        assert list(store.incarnations.all()) == []


def test_bk4_power_that_fails_before_anything_is_stored_makes_no_restore(path: Path, clock: a.FakeClock) -> None:
    SqliteStore.open(path, clock).close()
    before = path.read_bytes()
    with closing(SqliteStore.open(path, clock)) as store, store.own("test"):
        pass
    path.write_bytes(before)  # the epoch of an owner that stored nothing need not have reached the disk
    with closing(SqliteStore.open(path, clock)) as store:
        assert list(store.incarnations.all()) == []
