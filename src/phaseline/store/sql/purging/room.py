"""The limit of the work of one slice of a purge, counted in bytes.

Deleting takes time in proportion to the bytes of the rows, and each row that is deleted or only read takes a time of
its own. So all work is counted in bytes: those of texts and columns, and a fixed number for each row.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

SLICE_BYTES = 256 * 1024
"""Bytes of work in one slice, so that a slice takes at most 50 ms (ADR 0046)."""
ROW_BYTES = 128
"""Bytes counted for a deleted row, beside those of its texts and columns."""
LOOKED_BYTES = 16
"""Bytes counted for a row that is only looked at."""
READ_BYTES = 512
"""Bytes counted for a row whose columns of numbers are unpacked in Python."""
PAGE_ROWS = 128
"""Number of rows that ``paged`` reads at a time."""


class Room:
    """The bytes of work that are left in a slice."""

    __slots__ = ("_end", "_whole", "left")

    def __init__(self, whole: int = SLICE_BYTES, longest_s: float = inf) -> None:
        """Begin a slice of ``whole`` bytes of work, which ends after ``longest_s`` seconds even if some are left.

        It does not end before some work was counted, so that each slice does something.
        """
        self.left = self._whole = whole
        self._end = inf if longest_s == inf else time.monotonic() + longest_s

    @property
    def is_left(self) -> bool:
        """True if the slice may do more."""
        if self._end == inf or self.left == self._whole:
            return self.left > 0
        return self.left > 0 and time.monotonic() < self._end

    @property
    def looks(self) -> int:
        """The number of rows that may still be looked at, at least 1."""
        return max(1, self.left // LOOKED_BYTES)

    def look_at(self, rows: int) -> None:
        """Count rows that were only looked at."""
        self.left -= rows * LOOKED_BYTES

    def spend(self, size_bytes: int) -> None:
        """Count work of this many bytes."""
        self.left -= size_bytes


def paged(db: Connection, statement: str, values: Sequence[Any], width: int = 1) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query, of which few may be needed, some at a time.

    The first ``width`` columns are the key, which has no negative numbers. The last parameters of the statement, after
    ``values``, are the key after which the rows begin and their largest number.
    """
    after: Sequence[Any] = (-1,) * width
    while True:
        rows = db.execute(statement, (*values, *after, PAGE_ROWS)).fetchall()
        yield from rows
        if len(rows) < PAGE_ROWS:
            return
        after = rows[-1][:width]
