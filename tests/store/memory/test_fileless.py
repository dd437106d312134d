"""The store in memory has no file to maintain."""

import pytest
from tests.store import builders as a

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.memory.store import MemoryStore


def test_there_is_nothing_to_check_to_measure_and_to_compact() -> None:
    store = MemoryStore(a.FakeClock())
    assert (list(store.check()), store.sizes(), store.compact().after) == ([], (0, 0), 0)


def test_a_backup_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]  # pytest's own
    with pytest.raises(ProblemsError) as caught:
        MemoryStore(a.FakeClock()).backup(str(tmp_path / "copy.db"))
    assert caught.value.problems[0].code == "PL-S006"
