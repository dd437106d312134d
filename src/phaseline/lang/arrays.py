"""Values and memory of columns, which are arrays of numpy.

Which values occur in a column is found with methods that are fast for positions and small numbers: ``numpy.unique`` uses
hashes and imports another package at its first call; positions can be sorted quickly, and small numbers can be counted.

Several columns are allocated together in large pieces of memory: the system provides large memory pages faster than the
many small pages that they replace. numpy asks for large pages only for arrays of at least 4 MiB, and a column of half a
million numbers is smaller. A column that fills a piece gets its own piece, so code that replaces columns one by one
needs at most one additional piece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PIECE_BYTES = 1 << 23
"""Size in bytes of a piece of memory: columns are put into one piece until together they have at least this size."""
LEAST_BYTES = 1 << 22
"""Size in bytes from which on numpy asks for large pages; columns that are smaller together are allocated one by one."""
CELL = 64
"""Alignment in bytes: each column in a piece begins at a multiple of this number."""

FEW_VALUES = 16
"""Largest length of an array that is read as a Python list, because each numpy call costs about a microsecond."""


def unique(values: np.ndarray) -> np.ndarray:
    """Return an array with each different value of ``values`` once, ascending."""
    if len(values) < 2:
        return values
    ordered = np.sort(values)
    first = np.empty(len(ordered), bool)
    first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def as_slice(positions: np.ndarray) -> slice | np.ndarray:
    """Return positions as a slice if they are consecutive, so that columns are read without a copy.

    Up to ``FEW_VALUES`` positions are returned unchanged, because reading them is just as fast without a slice.

    >>> as_slice(np.arange(4, 44)), as_slice(np.array([4, 5]))
    (slice(4, 44, None), array([4, 5]))
    """
    count = len(positions)
    if count <= FEW_VALUES:
        return positions
    first = int(positions[0])
    if int(positions[-1]) - first != count - 1 or not every(positions[1:] > positions[:-1]):
        return positions
    return slice(first, first + count)


def present(numbers: np.ndarray) -> list[int]:
    """Return each different number in ``numbers`` once, ascending; the numbers must be small and not negative."""
    if not len(numbers):
        return []
    first = int(numbers[0])
    if len(numbers) == 1 or every(numbers == first):
        return [first]
    return np.bincount(numbers).nonzero()[0].tolist()


def some(mask: np.ndarray) -> bool:
    """Return True if at least one element of a bool array is True."""
    return True in mask.tolist() if len(mask) <= FEW_VALUES else bool(mask.any())


def every(mask: np.ndarray) -> bool:
    """Return True if all elements of a bool array are True, or if it is empty."""
    return False not in mask.tolist() if len(mask) <= FEW_VALUES else bool(mask.all())


def in_pieces(shapes: Sequence[tuple[np.dtype[np.generic], int]]) -> Iterator[np.ndarray]:
    """Yield a column of zeros for each (type, length); a piece of memory is allocated when its first column is requested.

    >>> [(column.dtype.name, len(column)) for column in in_pieces([(np.dtype(np.uint8), 3), (np.dtype(np.int32), 2)])]
    [('uint8', 3), ('int32', 2)]
    """
    together: list[tuple[np.dtype[np.generic], int, int]] = []
    held = 0
    for dtype, length in shapes:
        size = -(-length * dtype.itemsize // CELL) * CELL
        together.append((dtype, length, size))
        held += size
        if held >= PIECE_BYTES:
            yield from _of_one_piece(together, held)
            together, held = [], 0
    yield from _of_one_piece(together, held)


def _of_one_piece(shapes: Sequence[tuple[np.dtype[np.generic], int, int]], size: int) -> Iterator[np.ndarray]:
    if size < LEAST_BYTES or len(shapes) == 1:
        yield from (np.zeros(length, dtype) for dtype, length, _ in shapes)
        return
    piece, begin = np.zeros(size, np.uint8), 0
    for dtype, length, room in shapes:
        yield piece[begin : begin + length * dtype.itemsize].view(dtype)
        begin += room
