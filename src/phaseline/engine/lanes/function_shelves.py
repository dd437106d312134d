"""Sort the entries of a full lane by function, so that calls of one function do not delay entries of another.

A lane is full when it has as many open calls as it may have. Entries in a full lane are called all the same if their
own function has fewer open calls than that (ADR 0033). The function of an entry is looked up only when its lane is
full, and only once.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine.lanes.queues import Queue
from phaseline.lang.arrays import as_slice, every, present, unique

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from phaseline.engine.arena import Arena
    from phaseline.engine.arena_layout import GraphSlot
    from phaseline.engine.lanes.queues import Crowd

FEW_EACH = 8
"""Number of entries per graph up to which functions are looked up entry by entry instead of graph by graph."""


class FunctionShelves:
    """The waiting entries of one lane, in a queue (shelf) for each function, and its number of open calls."""

    def __init__(self, calls: int) -> None:
        """Create empty shelves. ``calls`` is how many calls of one function may be open at once."""
        self.count = 0
        """Number of entries on all shelves."""
        self.queues: dict[int, Queue] = {}
        self.open: dict[int, int] = {}
        """{function: number of open batches that still await the outcome of a member with this function}.

        Counts only batches reported by ``begun``.
        """
        self.ready: OrderedDict[int, None] = OrderedDict()
        """Functions with waiting entries that may be called now, in the order in which they are served (used as a set)."""
        self._calls = calls

    def put(self, crowd: Crowd, functions: np.ndarray) -> None:
        """Add the entries of several executions to the queues of their functions.

        ``functions[i]`` is the function of the i-th entry in ``crowd``.
        """
        executions, positions, cuts = crowd
        self.count += len(positions)
        if every(functions == functions[0]):
            self._shelf(int(functions[0])).put_crowd(*crowd)
            return
        owners = np.arange(len(executions)).repeat(np.diff(cuts))
        for mine in _groups(functions):
            shelf, own = self._shelf(int(functions[mine[0]])), owners[mine]
            if len(mine) == 1 or own[0] == own[-1]:
                shelf.put(executions[own[0]], positions[mine])
            else:
                firsts = [0, *((own[1:] != own[:-1]).nonzero()[0] + 1).tolist()]
                shelf.put_crowd([executions[one] for one in own[firsts]], positions[mine], [*firsts, len(mine)])

    def _shelf(self, function: int) -> Queue:
        shelf = self.queues.get(function)
        if shelf is None:
            shelf = self.queues[function] = Queue()
            self._look_at(function)
        return shelf

    def _look_at(self, function: int) -> None:
        """Add a function to ``ready`` if it has waiting entries and may be called now, otherwise remove it."""
        if function in self.queues and self.open.get(function, 0) < self._calls:
            self.ready.setdefault(function)
        else:
            self.ready.pop(function, None)

    def begun(self, functions: Iterable[int]) -> None:
        """Count one more open batch for each of these functions, which are the functions of the batch's members."""
        for function in functions:
            self.open[function] = self.open.get(function, 0) + 1
            self._look_at(function)

    def ended(self, functions: Iterable[int]) -> None:
        """Subtract one open batch from each of these functions, because all its members in that batch have an outcome now."""
        for function in functions:
            left = self.open.pop(function) - 1
            if left:
                self.open[function] = left
            self._look_at(function)

    def take(self, limit: int) -> list[np.ndarray]:
        """Remove and return at most ``limit`` entries that may be called.

        A function that still has waiting entries after this call is served last in the next call.
        """
        taken = []
        while limit and self.ready:
            function, _ = self.ready.popitem(last=False)
            shelf = self.queues[function]
            part = shelf.take(limit)
            taken.append(part)
            limit -= len(part)
            self.count -= len(part)
            if not shelf.count:
                del self.queues[function]
            self._look_at(function)
        return taken

    def purge(self, execution: int, keeps: Callable[[np.ndarray], np.ndarray]) -> None:
        """Of this execution's entries, keep only those for which ``keeps`` (positions -> bool array) is True."""
        for function, shelf in list(self.queues.items()):
            self.count -= shelf.count
            shelf.purge(execution, keeps)
            self.count += shelf.count
            if not shelf.count:
                del self.queues[function]
                self._look_at(function)

    def move(self, moved: np.ndarray) -> None:
        """Replace the positions of entries by their new positions after a compaction of the arena."""
        for shelf in self.queues.values():
            shelf.move(moved)


def _groups(values: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the indices of equal values, one array for each value, in the order in which the values first occur."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    cuts = [0, *((ordered[1:] != ordered[:-1]).nonzero()[0] + 1).tolist(), len(values)]
    firsts = order[cuts[:-1]]
    bounds = list(pairwise(cuts))
    for group in np.argsort(firsts).tolist():
        low, high = bounds[group]
        yield order[low:high]


def functions_of(arena: Arena, operation: str, positions: np.ndarray) -> np.ndarray:
    """Return for each entry of one operation the number (int64) of the function that is called for it.

    Entries with equal numbers can share a call.
    """
    numbers = arena.number_of(positions)
    if isinstance(numbers, int):
        return _of_graph(arena, arena.order[numbers], operation, positions)
    found = np.empty(len(positions), np.int64)
    graphs = unique(numbers)
    if len(graphs) * FEW_EACH >= len(positions):
        where = as_slice(positions)
        columns = numbers.tolist(), arena.kind[where].tolist(), arena.subject[where].tolist()
        order = arena.order
        found[:] = [
            0 if (functions := order[number].functions) is None else functions.number(operation, kind, subject)
            for number, kind, subject in zip(*columns, strict=True)
        ]
        return found
    for number in graphs.tolist():
        mine = numbers == number
        found[mine] = _of_graph(arena, arena.order[number], operation, positions[mine])
    return found


def _of_graph(arena: Arena, slot: GraphSlot, operation: str, positions: np.ndarray) -> np.ndarray:
    functions = slot.functions
    if functions is None:
        return np.zeros(len(positions), np.int64)
    where = as_slice(positions)
    kinds, subjects = arena.kind[where], arena.subject[where]
    found_kinds = present(kinds)
    if len(found_kinds) == 1:
        return functions.numbers(operation, found_kinds[0], subjects)
    found = np.empty(len(positions), np.int64)
    for kind in found_kinds:
        found[kinds == kind] = functions.numbers(operation, kind, subjects[kinds == kind])
    return found
