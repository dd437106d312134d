"""A set of execution numbers, kept as ranges: executions with neighbouring numbers have nearly all ended."""

from __future__ import annotations

from bisect import bisect_right


class EndedExecutions:
    """A set of integers kept as ranges, so that its memory grows with the number of gaps, not of members.

    >>> ended = EndedExecutions()
    >>> for number in (1, 2, 4, 3):
    ...     ended.add(number)
    >>> ended.ranges, 3 in ended, 5 in ended
    ([(1, 5)], True, False)
    """

    def __init__(self) -> None:
        """Start with an empty set."""
        self._firsts: list[int] = []
        self._ends: list[int] = []

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The ranges as (first, end), ascending; ``end`` is excluded."""
        return list(zip(self._firsts, self._ends, strict=True))

    def __contains__(self, number: int) -> bool:
        """Return True if the set contains the number."""
        at = bisect_right(self._firsts, number) - 1
        return at >= 0 and number < self._ends[at]

    def add(self, number: int) -> None:
        """Add a number, and merge ranges that become adjacent."""
        at = bisect_right(self._firsts, number)
        if at and number < self._ends[at - 1]:
            return
        joins_left = at > 0 and self._ends[at - 1] == number
        joins_right = at < len(self._firsts) and self._firsts[at] == number + 1
        if joins_left and joins_right:
            self._ends[at - 1] = self._ends[at]
            del self._firsts[at], self._ends[at]
        elif joins_left:
            self._ends[at - 1] = number + 1
        elif joins_right:
            self._firsts[at] = number
        else:
            self._firsts.insert(at, number)
            self._ends.insert(at, number + 1)

    def discard(self, number: int) -> None:
        """Remove a number if the set contains it."""
        at = bisect_right(self._firsts, number) - 1
        if at < 0 or number >= self._ends[at]:
            return
        first, end = self._firsts[at], self._ends[at]
        kept = [(low, high) for low, high in ((first, number), (number + 1, end)) if low < high]
        self._firsts[at : at + 1] = [low for low, _ in kept]
        self._ends[at : at + 1] = [high for _, high in kept]
