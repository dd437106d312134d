"""Ranges of subjects in a document that somebody else wrote."""

from typing import Any

import pytest

from phaseline.model.deployment.index_ranges import numbers_of


@pytest.mark.parametrize(
    ("ranges", "numbers"),
    [([[0, 2], [7, 1]], [0, 1, 7]), ([["a", 2], [3, 1]], [3]), ([[1, 2, 3], "x"], []), ("x", []), (None, [])],
)
def test_what_is_no_range_is_left_out(ranges: Any, numbers: list[int]) -> None:
    assert numbers_of(ranges).tolist() == numbers
