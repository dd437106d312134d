"""Causes in memory: a part of a turn that is undone leaves none (BB1, BB2)."""

import pytest
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.causes import CauseKey
from phaseline.store.memory.store import MemoryStore

CAUSE = CauseKey("component", 1, "1/0/0")


def refused(store: MemoryStore) -> None:
    with store.as_one():
        store.create_deployment(altered(a.deployment("inner"), cause=CAUSE))
        store.create_deployment(a.deployment("inner"))


def test_bb2_a_cause_can_be_given_again_after_what_it_made_was_undone() -> None:
    store = MemoryStore(a.FakeClock())
    with pytest.raises(ProblemsError):
        refused(store)
    assert store.causes.caused("component", 1) == []
    store.create_deployment(altered(a.deployment("inner"), cause=CAUSE))
    assert len(store.causes.caused("component", 1)) == 1
    with pytest.raises(ValueError, match="stored already"):
        store.create_deployment(altered(a.deployment("other"), cause=CAUSE))
