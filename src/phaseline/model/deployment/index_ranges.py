"""Instance numbers as ranges ``[first, count]``, the form in which executions store them in their parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import unique

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value


def ranges_of(numbers: Iterable[int] | np.ndarray) -> list[Value]:
    """Return numbers as ranges, ascending, each number once.

    >>> ranges_of([4, 0, 1, 2])
    [[0, 3], [4, 1]]
    """
    column = unique(np.array(list(numbers) if not isinstance(numbers, np.ndarray) else numbers, np.int64))
    if not len(column):
        return []
    firsts = np.flatnonzero(np.diff(column, prepend=column[0] - 2) != 1)
    counts = np.diff(firsts, append=len(column))
    return [[int(first), int(count)] for first, count in zip(column[firsts].tolist(), counts.tolist(), strict=True)]


def numbers_of(ranges: Value) -> np.ndarray:
    """Return the numbers (int32, ascending) in ranges; values that are not ranges are ignored.

    >>> numbers_of([[0, 3], [4, 1]]).tolist()
    [0, 1, 2, 4]
    """
    parts: list[np.ndarray] = []
    for pair in ranges if isinstance(ranges, list) else ():
        first, count = pair if isinstance(pair, list) and len(pair) == 2 else (0, 0)
        if isinstance(first, int) and isinstance(count, int):
            parts.append(np.arange(first, first + count, dtype=np.int32))
    return unique(np.concatenate(parts)) if parts else np.empty(0, np.int32)
