"""Columns that grow at the end: one buffer for each name, the live part seen as a view.

A large addition is made to measure, small ones grow the buffers by half, so that ten thousand small graphs
cost what one large graph costs.

Rows behind the live part are zero, as the system gives memory that nobody has touched: a column that stays zero, as most
entries never fall asleep or are retried, costs neither time nor memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

ZERO = 0
"""What every row is before it is written."""
SMALLEST = 64
"""Rows that a buffer has room for from the beginning."""


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
        """Add ``count`` rows; ``values`` gives a scalar or an array for each name."""
        low, high = self.count, self.count + count
        for name, buffer in self._buffers.items():
            if high > len(buffer):
                grown = np.zeros(max(high, low + low // 2), buffer.dtype)
                grown[:low] = buffer[:low]
                self._buffers[name] = buffer = grown
            value = values[name]
            if value is not ZERO:
                buffer[low:high] = value
        self.count = high

    def put(self, low: int, count: int, values: Mapping[str, Any]) -> None:
        """Write ``count`` rows over those from ``low`` on; views stay valid."""
        for name, buffer in self._buffers.items():
            buffer[low : low + count] = values[name]

    def keep(self, chosen: np.ndarray) -> None:
        """Keep only the rows where ``chosen`` (bool) is true."""
        self._buffers = {name: buffer[: self.count][chosen] for name, buffer in self._buffers.items()}
        self.count = int(chosen.sum())
