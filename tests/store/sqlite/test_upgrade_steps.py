"""The upgrade of a file with many deployments by a process that is killed (rule UP3)."""

import time
from contextlib import closing
from pathlib import Path

from tests.store import builders as a
from tests.store.files import python
from tests.store.unfilled import schema_9

from phaseline.model.rows.row_queries import ExecutionQuery
from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.sqlite.store import SqliteStore
from phaseline.store.versions import version_of_store

MANY, SOME, EACH = 20_000, 5_000, 2
PATIENCE_S = 60
CONTINUE = """if True:
    import sys
    from phaseline.store import open_store
    from tests.store.builders import FakeClock
    store = open_store(sys.argv[1], FakeClock())
    while store.continue_upgrade():
        pass
"""


def old_store(folder: Path, count: int) -> str:
    """URL of a store of schema 9."""
    schema_9(folder / "store.db", count, EACH)
    return f"sqlite:///{folder / 'store.db'}"


def wait_beyond(url: str, reached: int) -> int:
    """Wait until more deployments than ``reached`` are filled; return up to which one."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        done = next((each.done for each in version_of_store(url).fillings if each.name == "deployments"), 0)
        if done > reached:
            return done
    raise AssertionError("nothing is filled")


def test_up3_a_file_is_copied_then_filled_in_steps_that_a_kill_interrupts(tmp_path: Path) -> None:
    url, reached = old_store(tmp_path, MANY), 0
    for _ in range(3):
        with python(CONTINUE, url) as process:
            reached = wait_beyond(url, reached)
            process.kill()
            process.wait()
    assert [each.name for each in tmp_path.glob("store.db.before*.db")] == [f"store.db.before-v{SCHEMA_VERSION}.db"]
    assert not version_of_store(url).is_finished
    with closing(SqliteStore.open(tmp_path / "store.db", a.FakeClock())) as store:
        assert store.notices == ()
        assert store.listings.count(ExecutionQuery()) == len(store.executions())
        while store.continue_upgrade():
            pass
        living = len(store.deployments())
        with store._reading() as db:
            assert db.execute("select count(*) from deployment_summary where status <> ''").fetchone()[0] > MANY
            assert db.execute("select count(*) from deployment_summary").fetchone() == (living,)
            assert db.execute("select count(distinct deployment) from deployment_node").fetchone()[0] > MANY
    assert version_of_store(url).is_finished


def test_up3_two_processes_fill_a_file_at_once(tmp_path: Path) -> None:
    url = old_store(tmp_path, SOME)
    with python(CONTINUE, url) as one, python(CONTINUE, url) as other:
        assert [one.wait(), other.wait()] == [0, 0]
    with closing(SqliteStore.open(tmp_path / "store.db", a.FakeClock())) as store:
        assert store.listings.count(ExecutionQuery()) == len(store.executions())
        assert store.check() == []


def test_up3_opening_a_large_file_does_not_wait_until_it_is_filled(tmp_path: Path) -> None:
    url = old_store(tmp_path, MANY)
    with closing(SqliteStore.open(tmp_path / "store.db", a.FakeClock())) as store:
        notice, *_ = store.notices  # it is a copy of another file, too
        assert notice.endswith("; lists are slower until the rest of it is done: phaseline store upgrade")
    assert not version_of_store(url).is_finished
