"""Numbers of executions that have ended: ranges, because nearly all neighbours of an ended execution have ended too."""

from __future__ import annotations

from bisect import bisect_right


class EndedExecutions:
    """A set of numbers whose memory grows with its gaps, not with its members.

    >>> ended = EndedExecutions()
    >>> for number in (1, 2, 4, 3):
    ...     ended.add(number)
    >>> ended.ranges, 3 in ended, 5 in ended
    ([(1, 5)], True, False)
    """

    def __init__(self) -> None:
        """No execution has ended yet."""
        self._firsts: list[int] = []
        self._ends: list[int] = []

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """(first, end) of each range, ascending; the end is excluded."""
        return list(zip(self._firsts, self._ends, strict=True))

    def __contains__(self, number: int) -> bool:
        """Whether the number was added and not discarded since."""
        at = bisect_right(self._firsts, number) - 1
        return at >= 0 and number < self._ends[at]

    def add(self, number: int) -> None:
        """Add a number; ranges that touch become one."""
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
        """Remove a number if it is there."""
        at = bisect_right(self._firsts, number) - 1
        if at < 0 or number >= self._ends[at]:
            return
        first, end = self._firsts[at], self._ends[at]
        kept = [(low, high) for low, high in ((first, number), (number + 1, end)) if low < high]
        self._firsts[at : at + 1] = [low for low, _ in kept]
        self._ends[at : at + 1] = [high for _, high in kept]
