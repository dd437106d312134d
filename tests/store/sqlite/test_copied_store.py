"""A new file of a store that is filled with rows: nothing opens as a store before it is whole (ST12)."""

import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.store import builders as a
from tests.store.files import interrupted, refusal, stored

from phaseline.model.problems.problem import ProblemsError
from phaseline.store import transfer
from phaseline.store.relational.copying import UncopiedRowsError, copy_all
from phaseline.store.sqlite.copied_store import receive
from phaseline.store.sqlite.database_file import FileConnection
from phaseline.store.sqlite.store import SqliteStore


@pytest.fixture
def source(path: Path, clock: a.FakeClock) -> Path:
    stored(path, clock)
    return path


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def names(path: Path, clock: a.FakeClock) -> list[str]:
    with closing(SqliteStore.open(path, clock, makes=False)) as store:
        assert list(store.check()) == []
        assert store.notices == ()
        return [row.name for row in store.deployments()]


def missing(_path: Path, _clock: a.FakeClock) -> None:
    """There is nothing at the path."""


def empty(path: Path, _clock: a.FakeClock) -> None:
    path.touch()


def unused(path: Path, clock: a.FakeClock) -> None:
    with closing(SqliteStore.open(path, clock)) as store, store.own("an engine that had nothing to do"):
        store.know_phases({"boot": "{}"})


@pytest.mark.parametrize("before", [missing, empty, unused])
def test_st12_a_copy_is_made_where_no_store_is_yet(
    source: Path, tmp_path: Path, clock: a.FakeClock, before: Callable[[Path, a.FakeClock], None]
) -> None:
    target = tmp_path / "new.db"
    before(target, clock)
    transfer.copy(url(source), url(target), clock, print)
    assert names(target, clock) == ["shop"]
    if before is missing:
        assert target.stat().st_mode & 0o777 == 0o600
    assert sorted(each.name for each in tmp_path.glob("new.db*")) == ["new.db", "new.db.lock"]
    with closing(SqliteStore.open(target, clock)) as store:
        assert list(store.known_phases()) == []
        (life,) = store.incarnations.all()
        assert life.cause == f"copied from {source}"


def test_st12_a_folder_is_made_for_the_copy(source: Path, tmp_path: Path, clock: a.FakeClock) -> None:
    transfer.copy(url(source), url(tmp_path / "new" / "folder" / "store.db"), clock, print)
    assert names(tmp_path / "new" / "folder" / "store.db", clock) == ["shop"]


def test_st12_whoever_dies_while_copying_leaves_nothing_that_opens(
    source: Path, tmp_path: Path, clock: a.FakeClock
) -> None:
    seen = set()
    for number in range(1, 1_000):
        target = tmp_path / str(number) / "new.db"
        code = interrupted(lambda to=target: transfer.copy(url(source), url(to), clock, print), number)
        found = target.exists()
        if not found:
            for part in target.parent.glob("new.db.copying"):
                assert not part.stat().st_size or rows_of(part, tmp_path, clock) == ["shop"], "all or nothing"
            transfer.copy(url(source), url(target), clock, print)
        seen.add((found, code))
        assert names(target, clock) == ["shop"]
        assert found or not list(target.parent.glob("*.copying*"))
        assert names(source, clock) == ["shop"]
        if code == 0:
            break
    assert number > 20
    assert {(False, 9), (True, 9), (True, 0)} <= seen


def rows_of(part: Path, folder: Path, clock: a.FakeClock) -> list[str]:
    """The deployments in a copy of a file that a killed process has left."""
    shutil.copy2(part, folder / "part.db")
    with closing(SqliteStore.open(folder / "part.db", clock)) as store:
        return [row.name for row in store.deployments()]


def test_st12_a_file_of_whoever_died_among_the_rows_is_no_store(
    source: Path, tmp_path: Path, clock: a.FakeClock
) -> None:
    target = tmp_path / "new.db"

    def fill(db: FileConnection) -> None:
        db.executemany("insert into label values (?, 'key', ?)", ((at, "x" * 1_000) for at in range(10_000)))
        os._exit(9)

    assert interrupted(lambda: receive(str(target), "", fill, "a test", 7), 1_000_000) == 9
    part = target.with_name("new.db.copying")
    assert part.stat().st_size > 1_000_000
    assert not target.exists()
    with pytest.raises(ProblemsError) as caught:
        rows_of(part, tmp_path, clock)
    assert refusal(caught)[0] == "PL-S001"
    transfer.copy(url(source), url(target), clock, print)
    assert names(target, clock) == ["shop"]
    assert not part.exists()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (stored, "PL-S017"),
        (lambda path, _clock: path.write_text("no store at all"), "PL-S001"),
        (lambda path, _clock: path.mkdir(), "PL-S001"),
    ],
)
def test_st12_what_is_there_is_not_replaced(
    source: Path, tmp_path: Path, clock: a.FakeClock, content: Callable[[Path, a.FakeClock], object], code: str
) -> None:
    target = tmp_path / "new.db"
    content(target, clock)
    before = None if target.is_dir() else target.read_bytes()
    with pytest.raises(ProblemsError) as caught:
        transfer.copy(url(source), url(target), clock, print)
    assert refusal(caught)[0] == code
    assert before is None or target.read_bytes() == before
    assert not list(tmp_path.glob("*.copying*"))


def test_st12_an_unused_store_that_others_use_is_not_replaced(source: Path, tmp_path: Path, clock: a.FakeClock) -> None:
    target = tmp_path / "new.db"
    with closing(SqliteStore.open(target, clock)) as store, store.own("an engine"):
        with pytest.raises(ProblemsError) as caught:
            transfer.copy(url(source), url(target), clock, print)
        assert refusal(caught)[0] == "PL-S004"


def test_st12_what_others_store_there_meanwhile_stays(source: Path, tmp_path: Path, clock: a.FakeClock) -> None:
    for target, code in ((tmp_path / "missing.db", "PL-S017"), (tmp_path / "unused.db", "PL-S017")):
        if target.name == "unused.db":
            SqliteStore.open(target, clock).close()
        with closing(SqliteStore.open(source, clock)) as store, store.snapshot() as rows:

            def fill(db: FileConnection, target: Path = target) -> None:
                copy_all(rows, db)
                with closing(SqliteStore.open(target, clock)) as other:
                    other.create_deployment(a.deployment("theirs"))

            with pytest.raises(ProblemsError) as caught:
                receive(str(target), store.identity(), fill, "a test", 7)
        assert refusal(caught)[0] == code
        assert names(target, clock) == ["theirs"]


def test_st12_rows_that_do_not_fit_leave_nothing(tmp_path: Path) -> None:
    def fill(db: FileConnection) -> None:
        for _ in range(2):
            db.execute("insert into label values (1, 'key', 'value')")

    with pytest.raises(UncopiedRowsError, match="UNIQUE"):
        receive(str(tmp_path / "new.db"), "", fill, "a test", 7)
    assert [each.name for each in tmp_path.iterdir()] == ["new.db.lock"]


def test_st12_a_path_where_the_store_was_before_gets_a_later_epoch(
    source: Path, tmp_path: Path, clock: a.FakeClock
) -> None:
    target = tmp_path / "new.db"
    transfer.copy(url(source), url(target), clock, print)
    with closing(SqliteStore.open(target, clock)) as store:
        for _ in range(5):
            with store.own("an engine") as former:
                store.commit(a.turn())
    target.unlink()
    transfer.copy(url(source), url(target), clock, print)
    assert names(target, clock) == ["shop"], "it is not taken for an older state of the store"
    with closing(SqliteStore.open(target, clock)) as store, store.own("an engine") as later:
        assert later.epoch > former.epoch
