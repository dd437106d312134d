"""Numbers that occur in a column, and columns that lie together in pieces of memory."""

import numpy as np
import pytest

from phaseline.lang.arrays import LEAST_BYTES, PIECE_BYTES, in_pieces, present

BYTE, WIDE = np.dtype(np.uint8), np.dtype(np.int64)


@pytest.mark.parametrize("numbers", [[], [3], [2, 2, 2], [5, 0, 5, 3]])
def test_the_numbers_that_occur_are_those_of_a_set(numbers: list[int]) -> None:
    assert present(np.array(numbers, np.uint8)) == sorted(set(numbers))


def test_columns_that_are_large_together_lie_in_one_piece_and_begin_apart() -> None:
    length = LEAST_BYTES // 8
    first, second, third = in_pieces([(BYTE, length), (WIDE, length), (BYTE, 5)])
    assert first.base is second.base is third.base is not None
    assert [len(one) for one in (first, second, third)] == [length, length, 5]
    first[:], second[:], third[:] = 1, -1, 2
    assert [set(one.tolist()) for one in (first, second, third)] == [{1}, {-1}, {2}]


def test_small_columns_and_one_that_fills_a_piece_have_memory_of_their_own() -> None:
    small, *_ = in_pieces([(BYTE, 3), (WIDE, 3)])
    large, other = in_pieces([(WIDE, PIECE_BYTES // 8), (BYTE, 3)])
    assert small.base is None
    assert large.base is None
    assert other.base is None


def test_columns_of_a_piece_are_zero_and_none_is_made_before_it_is_asked_for() -> None:
    asked = in_pieces([(WIDE, PIECE_BYTES // 8), (WIDE, 1 << 60)])
    assert not next(asked).any()
