"""Queues of waiting entries, one for each execution; executions are served in turns."""

from __future__ import annotations

from collections import deque
from dataclasses import field
from itertools import pairwise
from operator import sub
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import mutable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Crowd = tuple[list[int], "np.ndarray", list[int]]
"""(executions, positions, cuts): entries of several executions.

``positions[cuts[i]:cuts[i + 1]]`` are the entries of ``executions[i]``.
"""


@mutable
class Queue:
    """Waiting entries, in one queue for each execution and served in equal shares; ``count`` is their number."""

    _queues: dict[int, deque[np.ndarray]] = field(default_factory=dict)
    _crowds: list[Crowd] = field(default_factory=list)
    count: int = 0

    @property
    def queues(self) -> dict[int, deque[np.ndarray]]:
        """{execution: arrays of positions of its entries}, in the order in which executions are served."""
        if self._crowds:
            crowds, self._crowds = self._crowds, []
            for executions, positions, cuts in crowds:
                for execution, (low, high) in zip(executions, pairwise(cuts), strict=True):
                    self._queues.setdefault(execution, deque()).append(positions[low:high])
        return self._queues

    def put(self, execution: int, positions: np.ndarray) -> None:
        """Add entries at the end of the queue of their execution."""
        queues = self.queues if self._crowds else self._queues
        queue = queues.get(execution)
        if queue is None:
            queues[execution] = deque((positions,))
        else:
            queue.append(positions)
        self.count += len(positions)

    def put_crowd(self, executions: list[int], positions: np.ndarray, cuts: list[int]) -> None:
        """Add entries of many executions at once: those of ``executions[i]`` are ``positions[cuts[i]:cuts[i + 1]]``.

        To save time they are sorted into the queues only when a queue is read.
        """
        self._crowds.append((executions, positions, cuts))
        self.count += len(positions)

    def take(self, limit: int) -> np.ndarray:
        """Remove and return at most ``limit`` entries, in equal shares from the executions.

        An execution that was served comes last the next time.
        """
        taken: list[np.ndarray] = []
        room = min(limit, self.count)
        if len(self._crowds) == 1 and not self._queues and _is_served_at_once(self._crowds[0], room):
            (_, positions, _), self._crowds = self._crowds[0], []
            self.count = 0
            return positions
        queues = self.queues if self._crowds else self._queues
        if len(queues) == 1 and room == self.count:  # all entries of the only execution
            self.count = 0
            chunks = queues.popitem()[1]
            return chunks[0] if len(chunks) == 1 else np.concatenate(chunks)
        while room:
            share = max(1, room // len(queues))
            for execution in list(queues):
                if not room:
                    break
                part = self._draw(execution, min(share, room))
                room -= sum(map(len, part))
                taken.extend(part)
        self.count -= sum(map(len, taken))
        return taken[0] if len(taken) == 1 else np.concatenate(taken)

    def _draw(self, execution: int, count: int) -> list[np.ndarray]:
        queue = self._queues.pop(execution)
        part: list[np.ndarray] = []
        while queue and count:
            chunk = queue.popleft()
            if len(chunk) > count:
                queue.appendleft(chunk[count:])
                chunk = chunk[:count]
            part.append(chunk)
            count -= len(chunk)
        if queue:
            self._queues[execution] = queue
        return part

    def purge(self, execution: int, keeps: Callable[[np.ndarray], np.ndarray]) -> None:
        """Of this execution's entries, keep only those for which ``keeps`` (positions -> bool array) is True."""
        chunks = self.queues.pop(execution, None)
        if chunks is None:
            return
        kept = [chunk[keeps(chunk)] for chunk in chunks]
        left = deque(chunk for chunk in kept if len(chunk))
        self.count += sum(map(len, left)) - sum(map(len, chunks))
        if left:
            self.queues[execution] = left

    def move(self, moved: np.ndarray) -> None:
        """Replace the positions of entries by their new positions after a compaction of the arena."""
        for execution, chunks in self.queues.items():
            self.queues[execution] = deque(moved[chunk] for chunk in chunks)

    def drain(self) -> Iterator[Crowd]:
        """Remove and yield all entries, execution by execution."""
        queues, crowds = self._queues, self._crowds
        self._queues, self._crowds, self.count = {}, [], 0
        for execution, chunks in queues.items():
            positions = chunks[0] if len(chunks) == 1 else np.concatenate(chunks)
            yield [execution], positions, [0, len(positions)]
        yield from crowds


def _is_served_at_once(crowd: Crowd, room: int) -> bool:
    """Return whether all entries of a crowd can be taken at once.

    They must fit into ``room``, and each execution must occur once and stay within its equal share.
    """
    executions, positions, cuts = crowd
    if len(positions) > room or len(set(executions)) < len(executions):
        return False
    longest: int = max(map(sub, cuts[1:], cuts))
    return longest <= room // len(executions)
