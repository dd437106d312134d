"""Allocate several columns together in large pieces of memory, which is faster than one by one.

The system provides large memory pages faster than the many small pages that they replace. numpy asks for large pages
only for arrays of at least 4 MiB, and a column of half a million numbers is smaller. A column that fills a piece gets
its own piece, so code that replaces columns one by one needs at most one additional piece.
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
