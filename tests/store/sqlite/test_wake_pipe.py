"""Processes of one machine wake the owner through a pipe; whatever is wrong with it, nobody waits or fails."""

import os
import subprocess
import sys
import threading
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.store import builders as a

from phaseline.model.rows.rows import RequestKind
from phaseline.store.sqlite.store import SqliteStore
from phaseline.store.sqlite.wake_pipe import WakePipe

LONG_S = 60
"""After so many seconds a test has failed."""


@pytest.fixture
def pipe(tmp_path: Path) -> WakePipe:
    return WakePipe(str(tmp_path / "store.db.wake"))


def test_rf6_whoever_listens_is_woken(pipe: WakePipe) -> None:
    woken = threading.Event()
    with pipe.listen(woken.set):
        pipe.write()
        assert woken.wait(LONG_S)
    assert not os.path.lexists(pipe.path), "the pipe goes with its reader"
    assert [thread for thread in threading.enumerate() if thread.name == "phaseline-wake-ups"] == []


def test_rf6_another_process_wakes_the_listener(pipe: WakePipe) -> None:
    woken = threading.Event()
    script = f"from phaseline.store.sqlite.wake_pipe import WakePipe; WakePipe({pipe.path!r}).write()"
    with pipe.listen(woken.set):
        subprocess.run([sys.executable, "-c", script], check=True)
        assert woken.wait(LONG_S)


def test_rf6_another_object_of_the_same_store_wakes_the_listener(path: Path, clock: a.FakeClock) -> None:
    woken = threading.Event()
    with closing(SqliteStore.open(path, clock)) as owner, closing(SqliteStore.open(path, clock)) as asker:
        with owner.listen(woken.set):
            asker.ask(RequestKind.PAUSE, 0, {}, a.ANN)
            assert woken.wait(LONG_S)
            assert len(owner.requests()) == 1
        asker.ask(RequestKind.PAUSE, 0, {}, a.ANN)
        assert len(owner.requests()) == 2


def test_a_transaction_of_several_wakes_another_process_once_it_is_there(path: Path, clock: a.FakeClock) -> None:
    woken = threading.Event()
    with closing(SqliteStore.open(path, clock)) as owner, closing(SqliteStore.open(path, clock)) as asker:
        with owner.listen(woken.set), asker.as_one():
            asker.ask(RequestKind.PAUSE, 0, {}, a.ANN)
            assert owner.requests() == []
        with owner.listen(woken.set):
            woken.clear()
            with asker.as_one():
                asker.ask(RequestKind.PAUSE, 0, {}, a.ANN)
            assert woken.wait(LONG_S)
            assert len(owner.requests()) == 2


def test_where_nobody_listens_nothing_is_made(pipe: WakePipe) -> None:
    pipe.write()
    assert not os.path.lexists(pipe.path)


def test_a_pipe_that_a_killed_owner_has_left_is_written_in_vain_and_used_again(pipe: WakePipe) -> None:
    os.mkfifo(pipe.path, 0o600)
    pipe.write()
    woken = threading.Event()
    with pipe.listen(woken.set):
        pipe.write()
        assert woken.wait(LONG_S)


def test_a_pipe_is_for_its_user_alone(pipe: WakePipe) -> None:
    with pipe.listen(lambda: None):
        assert Path(pipe.path).stat().st_mode & 0o777 == 0o600


def test_another_file_of_that_name_is_neither_written_nor_removed(pipe: WakePipe) -> None:
    Path(pipe.path).write_text("precious")
    with pipe.listen(lambda: None) as hears:
        assert not hears, "the owner looks by itself"
        pipe.write()
    assert Path(pipe.path).read_text() == "precious"


def test_a_link_of_that_name_is_not_followed(pipe: WakePipe, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("precious")
    Path(pipe.path).symlink_to(tmp_path / "other")
    with pipe.listen(lambda: None):
        pipe.write()
    assert (tmp_path / "other").read_text() == "precious"


def test_where_no_pipe_can_be_made_nobody_is_woken(tmp_path: Path) -> None:
    pipe = WakePipe(str(tmp_path / "missing" / "store.db.wake"))
    with pipe.listen(lambda: None):
        pipe.write()


def test_a_pipe_that_another_file_has_replaced_is_left_alone(pipe: WakePipe) -> None:
    with pipe.listen(lambda: None):
        Path(pipe.path).unlink()
        Path(pipe.path).write_text("new")
    assert Path(pipe.path).read_text() == "new"


def test_a_full_pipe_makes_nobody_wait(pipe: WakePipe) -> None:
    os.mkfifo(pipe.path)
    handle = os.open(pipe.path, os.O_RDWR | os.O_NONBLOCK)
    with suppress(BlockingIOError):
        while True:
            os.write(handle, b"a" * 4_096)
    pipe.write()
    os.close(handle)


def test_of_two_listeners_each_ends_by_itself(pipe: WakePipe) -> None:
    """As of an owner that does not know yet that another process has become the owner."""
    first, second = threading.Event(), threading.Event()
    with pipe.listen(second.set):
        with pipe.listen(first.set):
            pass
        pipe.write()
        assert not os.path.lexists(pipe.path), "the owner looks by itself"
