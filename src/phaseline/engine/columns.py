"""Columns to which rows can be added: one buffer for each name; a view shows the rows in use.

A large addition enlarges the buffers to the exact size, small additions enlarge them by half. So ten thousand small
graphs cost as much as one large graph.

Unused rows are zero, as memory from the system is. So a column that stays zero costs neither time nor memory; this
matters because most entries never sleep and are never retried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.engine.dependency_counts import count_into
from phaseline.lang.arrays import in_pieces

if TYPE_CHECKING:
    from collections.abc import Mapping

ZERO = 0
"""The value of every row before it is written."""
SMALLEST = 64
"""Initial number of rows in a buffer."""


class Shifted:
    """An array and a number that is added to each value while the array is copied; saves a temporary array for the sum."""

    __slots__ = ("by", "values")

    def __init__(self, values: np.ndarray, by: int) -> None:
        """Keep the array; ``by`` is the number that is added to each value."""
        self.values, self.by = values, by

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self.values)


class Counted:
    """A column that counts, for each row, how often the row occurs in ``targets``; counted while the column is written."""

    __slots__ = ("targets",)

    def __init__(self, targets: np.ndarray) -> None:
        """Keep the row numbers, which count from the first row that is written."""
        self.targets = targets


class RepeatedValues:
    """A column of runs of equal values, expanded while the column is written."""

    __slots__ = ("runs",)

    def __init__(self, runs: list[tuple[int, int]]) -> None:
        """Keep the runs: (value, number of repetitions), in the order of the rows."""
        self.runs = runs


class Like:
    """A column with the same values as another column that was written before."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        """Keep the name of the other column."""
        self.name = name


def write(part: np.ndarray, value: Any) -> None:
    """Write ``value`` into a part of a column.

    A ``Counted`` adds its counts to the present values; all others replace them.
    """
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
    """Growing arrays of equal length, by name."""

    def __init__(self, dtypes: Mapping[str, Any]) -> None:
        """Create empty columns; ``dtypes`` is {name: dtype}."""
        self._buffers = {name: np.zeros(SMALLEST, dtype) for name, dtype in dtypes.items()}
        self.count = 0

    def views(self) -> dict[str, np.ndarray]:
        """Return {name: view of the rows in use}; the views are valid until the next ``extend`` or ``keep``."""
        count = self.count
        return {name: buffer[:count] for name, buffer in self._buffers.items()}

    def extend(self, count: int, values: Mapping[str, Any]) -> None:
        """Add ``count`` rows at the end.

        ``values`` has for each name a scalar, an array, or a ``Shifted``, ``Counted``, ``RepeatedValues`` or ``Like``.
        """
        low, high = self.count, self.count + count
        if self._buffers and high > len(next(iter(self._buffers.values()))):
            self._grow(max(high, low + low // 2))
        for name, buffer in self._buffers.items():
            value = values[name]
            if value is not ZERO:
                write(buffer[low:high], self._meant(value, low, high))
        self.count = high

    def _grow(self, room: int) -> None:
        """Enlarge the buffers to this number of rows."""
        old = dict(self._buffers)
        for name, grown in zip(tuple(old), in_pieces([(buffer.dtype, room) for buffer in old.values()]), strict=True):
            grown[: self.count] = old.pop(name)[: self.count]
            self._buffers[name] = grown

    def put(self, low: int, count: int, values: Mapping[str, Any]) -> None:
        """Overwrite ``count`` rows from row ``low`` on; views stay valid."""
        high = low + count
        for name, buffer in self._buffers.items():
            value = values[name]
            if type(value) is Counted:
                buffer[low:high] = ZERO
            write(buffer[low:high], self._meant(value, low, high))

    def _meant(self, value: Any, low: int, high: int) -> Any:
        """Return the value itself, or, for a ``Like``, the rows ``low`` to ``high`` - 1 of the column that it names."""
        return self._buffers[value.name][low:high] if type(value) is Like else value

    def keep(self, chosen: np.ndarray) -> None:
        """Keep only the rows where ``chosen`` (bool) is true."""
        self._buffers = {name: buffer[: self.count][chosen] for name, buffer in self._buffers.items()}
        self.count = int(chosen.sum())
