"""Columns that grow at the end: one buffer for each name, with the live part as a view.

A large addition grows the buffers to the exact size, small ones grow them by half, so that ten thousand small graphs
cost as much as one large graph.

Rows after the live part are zero, as in untouched memory from the system. So a column that stays zero costs neither time
nor memory, and most entries never sleep and are never retried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.engine.dependency_counts import count_into
from phaseline.lang.array_allocation import in_pieces

if TYPE_CHECKING:
    from collections.abc import Mapping

ZERO = 0
"""The value of every row before it is written."""
SMALLEST = 64
"""The initial number of rows in a buffer."""


class Shifted:
    """An array plus a number, added during the write; a sum made before would take additional memory for a while."""

    __slots__ = ("by", "values")

    def __init__(self, values: np.ndarray, by: int) -> None:
        """``by`` is added to each of the values."""
        self.values, self.by = values, by

    def __len__(self) -> int:
        """The number of values."""
        return len(self.values)


class Counted:
    """The number of times that ``targets`` names each row, counted during the write."""

    __slots__ = ("targets",)

    def __init__(self, targets: np.ndarray) -> None:
        """Row numbers, counted from the first row that is written."""
        self.targets = targets


class RepeatedValues:
    """Values that repeat, expanded during the write."""

    __slots__ = ("runs",)

    def __init__(self, runs: list[tuple[int, int]]) -> None:
        """(value, number of repetitions), one run after the other."""
        self.runs = runs


class Like:
    """A column with the same values as an earlier column."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        """``name``: the name of the other column."""
        self.name = name


def write(part: np.ndarray, value: Any) -> None:
    """Fill a part of a column with a scalar, an array or a ``Shifted`` one; ``Counted`` is added to it, ``RepeatedValues`` fill it."""
    if type(value) is Counted:
        count_into(part, value.targets)
    elif type(value) is RepeatedValues:
        low = 0
        for repeated, count in value.runs:
            part[low : low + count] = repeated
            low += count
    elif type(value) is Shifted:
        part[:] = value.values
        if value.by:
            part += value.by
    else:
        part[:] = value


class Columns:
    """Arrays of equal length by name; attribute access gives the live view."""

    def __init__(self, dtypes: Mapping[str, Any]) -> None:
        """Empty columns of the given dtypes."""
        self._buffers = {name: np.zeros(SMALLEST, dtype) for name, dtype in dtypes.items()}
        self.count = 0

    def views(self) -> dict[str, np.ndarray]:
        """{name: live part}; valid until the next ``extend`` or ``keep``."""
        count = self.count
        return {name: buffer[:count] for name, buffer in self._buffers.items()}

    def extend(self, count: int, values: Mapping[str, Any]) -> None:
        """Add ``count`` rows; ``values`` gives a scalar, an array, a ``Shifted``, ``Counted``, ``RepeatedValues`` or ``Like`` one for each name."""
        low, high = self.count, self.count + count
        if self._buffers and high > len(next(iter(self._buffers.values()))):
            self._grow(max(high, low + low // 2))
        for name, buffer in self._buffers.items():
            value = values[name]
            if value is not ZERO:
                write(buffer[low:high], self._meant(value, low, high))
        self.count = high

    def _grow(self, room: int) -> None:
        """Grow the buffers to this number of rows."""
        old = dict(self._buffers)
        for name, grown in zip(tuple(old), in_pieces([(buffer.dtype, room) for buffer in old.values()]), strict=True):
            grown[: self.count] = old.pop(name)[: self.count]
            self._buffers[name] = grown

    def put(self, low: int, count: int, values: Mapping[str, Any]) -> None:
        """Write ``count`` rows over those from ``low`` on; views stay valid."""
        high = low + count
        for name, buffer in self._buffers.items():
            value = values[name]
            if type(value) is Counted:
                buffer[low:high] = ZERO
            write(buffer[low:high], self._meant(value, low, high))

    def _meant(self, value: Any, low: int, high: int) -> Any:
        """The value itself, or for ``Like`` the rows of the other column."""
        return self._buffers[value.name][low:high] if type(value) is Like else value

    def keep(self, chosen: np.ndarray) -> None:
        """Keep only the rows where ``chosen`` (bool) is true."""
        self._buffers = {name: buffer[: self.count][chosen] for name, buffer in self._buffers.items()}
        self.count = int(chosen.sum())
