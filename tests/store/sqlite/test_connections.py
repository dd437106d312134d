"""The connections to a store's file."""

from contextlib import closing
from pathlib import Path

import pytest
from tests.store import builders as a

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.sqlite.store import SqliteStore


def test_the_version_changes_when_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore.open(path, a.FakeClock())) as one, closing(SqliteStore.open(path, a.FakeClock())) as two:
        before = one.version()
        assert one.version() == before
        two.create_deployment(a.deployment())
        assert one.version() != before


def test_a_file_that_was_removed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        store.deployments()
        path.unlink()
        with pytest.raises(ProblemsError) as caught:
            store.connections.refuse_gone()
    assert caught.value.problems[0].code == "PL-S016"
