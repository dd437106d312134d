"""Permits to begin calls: a pipe that contains the number of each call that a worker may begin.

The worker reads one number before each call. The engine takes back the numbers that were not read. The system gives
each number to one reader only. So the engine knows for certain whether a call has begun, even if the worker is busy
or dead.
"""

from __future__ import annotations

import os
import select
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

NUMBER = struct.Struct("=Q")
MOST_PERMITS = 256
"""The most unused permits at one time: the number that fits into one atomic write."""


class Permits:
    """The engine's end of the pipe. It keeps the reading end too, to take back numbers that the worker has not read."""

    def __init__(self) -> None:
        """Create the pipe without permits."""
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._reading, False)

    def fileno(self) -> int:
        """Return the descriptor of the end that the worker reads."""
        return self._reading

    def give(self, numbers: Iterable[int]) -> None:
        """Let these calls (at most ``MOST_PERMITS``) begin, in this order."""
        if self._writing >= 0:
            os.write(self._writing, b"".join(map(NUMBER.pack, numbers)))

    def take_back(self) -> set[int]:
        """Take back and return the numbers of the calls that have not begun; these calls can no longer begin."""
        if self._reading < 0:
            return set()
        try:
            found = os.read(self._reading, NUMBER.size * MOST_PERMITS)
        except BlockingIOError:
            return set()
        return {number for (number,) in NUMBER.iter_unpack(found)}

    def close(self) -> None:
        """Close both ends of the pipe. Safe to call twice."""
        for end in (self._reading, self._writing):
            if end >= 0:
                os.close(end)
        self._reading = self._writing = -1


class PermitReader:
    """The worker's end of the pipe."""

    def __init__(self, number: int) -> None:
        """Store the descriptor of the reading end."""
        self._number = number
        self._poll = select.poll()
        self._poll.register(number, select.POLLIN)

    def take(self) -> int | None:
        """Wait for the next call that may begin, and return its number; None if the engine has ended."""
        while True:
            try:
                found = os.read(self._number, NUMBER.size)
            except BlockingIOError:
                self._poll.poll()
                continue
            number: int | None = NUMBER.unpack(found)[0] if found else None
            return number

    def close(self) -> None:
        """Close the reading end."""
        os.close(self._number)
