"""Columns that grow at the end: one buffer for each name, the live part seen as a view.

A large addition is made to measure, small ones grow the buffers by half, so that ten thousand small graphs
cost what one large graph costs.

Rows behind the live part are zero, as the system gives memory that nobody has touched: a column that stays zero, as most
entries never fall asleep or are retried, costs neither time nor memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.engine.dependency_counts import count_into
from phaseline.lang.array_allocation import in_pieces

if TYPE_CHECKING:
    from collections.abc import Mapping

ZERO = 0
"""What every row is before it is written."""
SMALLEST = 64
"""Rows that a buffer has room for from the beginning."""


class Shifted:
    """An array plus a number, added where it is written: a sum made before would lie beside the column for a while."""

    __slots__ = ("by", "values")

    def __init__(self, values: np.ndarray, by: int) -> None:
        """``by`` is added to each of the values."""
        self.values, self.by = values, by

    def __len__(self) -> int:
        """How many values there are."""
        return len(self.values)


class Counted:
    """How often each row is named by ``targets``, counted where it is written."""

    __slots__ = ("targets",)

    def __init__(self, targets: np.ndarray) -> None:
        """Row numbers, counted from the first row that is written."""
        self.targets = targets


class RepeatedValues:
    """Values that repeat, written where they belong."""

    __slots__ = ("runs",)

    def __init__(self, runs: list[tuple[int, int]]) -> None:
        """(value, how many times), one behind the other."""
        self.runs = runs


class Like:
    """The same as another column, which stands before this one."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        """The name of the other."""
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
        """Have room for so many rows."""
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
        """The value itself, or the rows of the column that it is to be like."""
        return self._buffers[value.name][low:high] if type(value) is Like else value

    def keep(self, chosen: np.ndarray) -> None:
        """Keep only the rows where ``chosen`` (bool) is true."""
        self._buffers = {name: buffer[: self.count][chosen] for name, buffer in self._buffers.items()}
        self.count = int(chosen.sum())
