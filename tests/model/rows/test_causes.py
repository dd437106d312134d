"""Causes and waits as values (BB2, BB3)."""

import pytest

from phaseline.model.rows.causes import AwaitChanges, AwaitRow, CauseKey, entry_key


@pytest.mark.parametrize("other", [(8, 3, 0), (7, 4, 0), (7, 3, 1)])
def test_bb2_each_entry_and_each_of_its_generations_has_a_key_of_its_own(other: tuple[int, int, int]) -> None:
    assert entry_key(7, 3, 0) != entry_key(*other)
    assert entry_key(7, 3, 0) == entry_key(7, 3, 0)


def test_bb2_equal_causes_are_one_key_of_a_mapping() -> None:
    assert {CauseKey("group", 1, "x"): 5}[CauseKey("group", 1, "x")] == 5


@pytest.mark.parametrize(
    ("changes", "is_any"),
    [(AwaitChanges(), False), (AwaitChanges(over=(1,)), True), (AwaitChanges((AwaitRow(1, 2, 3, 4, 5),)), True)],
)
def test_bb3_only_changes_are_written(changes: AwaitChanges, is_any: bool) -> None:
    assert bool(changes) is is_any
