"""Allocation of columns together in large pieces of memory.

From 4 MiB on numpy asks the system for large pages. The first touch of a large page costs as much as that of a few small
ones, and a column of half a million numbers is too short for one. A column that fills a piece gets its own piece, so
that code which replaces columns one by one holds at most one piece more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PIECE_BYTES = 1 << 23
"""Columns are put together until they have as much."""
LEAST_BYTES = 1 << 22
"""From where on numpy asks for large pages: below it, a column is an array like any other."""
CELL = 64
"""Bytes to a multiple of which a column begins."""


def in_pieces(shapes: Sequence[tuple[np.dtype[np.generic], int]]) -> Iterator[np.ndarray]:
    """Yield a column of zeros for each (type, length), made when it is asked for.

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
