"""Numbers that occur: the small forms agree with the large one."""

import numpy as np
import pytest

from phaseline.lang.arrays import present


@pytest.mark.parametrize("numbers", [[], [3], [2, 2, 2], [5, 0, 5, 3]])
def test_the_numbers_that_occur_are_those_of_a_set(numbers: list[int]) -> None:
    assert present(np.array(numbers, np.uint8)) == sorted(set(numbers))
