"""The lock beside a store: one holder, named, freed with it."""

import fcntl
import threading
from pathlib import Path

import pytest

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import Owner
from phaseline.store.sqlite.owner_lock import NOTE_BYTES, PATIENCE_S, OwnerLock


def test_a_held_lock_names_its_holder_and_a_free_one_nobody(tmp_path: Path) -> None:
    lock = OwnerLock(str(tmp_path / "lock"))
    assert lock.holder() is None
    lock.take("phaseline install", 5)
    holder = OwnerLock(lock.path).holder()
    assert holder is not None
    assert (holder.command, holder.since) == ("phaseline install", 5)
    lock.release()
    lock.release()
    assert OwnerLock(lock.path).holder() is None


def test_a_lock_may_be_taken_again(tmp_path: Path) -> None:
    lock = OwnerLock(str(tmp_path / "lock"))
    for command in ("the first, with a longer name", "two"):
        lock.take(command, 5)
        holder = lock.holder()
        assert holder is not None
        assert holder.command == command
        lock.release()


def test_a_lock_that_is_only_looked_at_is_had_as_soon_as_that_is_over(tmp_path: Path) -> None:
    """Whoever looks who owns a store shares its lock for a moment, and may stand still in it."""
    lock = OwnerLock(str(tmp_path / "lock"))
    with Path(lock.path).open("w") as looks:
        fcntl.flock(looks, fcntl.LOCK_SH)
        ending = threading.Timer(2 * PATIENCE_S, fcntl.flock, [looks, fcntl.LOCK_UN])
        ending.start()
        lock.take("phaseline install", 5)
        ending.join()
    lock.release()


def test_a_very_long_command_fits(tmp_path: Path) -> None:
    lock = OwnerLock(str(tmp_path / "lock"))
    lock.take("\N{ROCKET}" * NOTE_BYTES, 5)
    holder = lock.holder()
    lock.release()
    assert holder is not None
    assert holder.pid > 0


@pytest.mark.parametrize("note", ["", "garbage", "{}", '{"pid": "x"}', "[1]"])
def test_a_holder_that_has_not_said_who_it_is_still_holds(tmp_path: Path, note: str) -> None:
    path = tmp_path / "lock"
    path.write_text(note)
    with path.open("r+") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert OwnerLock(str(path)).holder() == Owner(0, "", 0)
        with pytest.raises(ProblemsError) as caught:
            OwnerLock(str(path)).take("mine", 5)
    (problem,) = caught.value.problems
    assert (problem.code, problem.message) == ("PL-S004", "Another process owns the store")


def test_a_lock_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError) as caught:
        OwnerLock(str(tmp_path)).take("mine", 5)
    assert [problem.code for problem in caught.value.problems] == ["PL-S005"]
