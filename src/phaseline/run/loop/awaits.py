"""Entries that sleep until another execution ends (BB3), how far a cancel reaches, and circles (BB4).

A row is in the store from the turn in which an entry began to wait until the turn in which the awaited execution, or its
own, ends, or in which the entry begins to wait for others. When the awaited execution ends, the entry is woken, so that no crash can lose the news. Its call then reads how the other
execution has ended. No thread and no look into the store waits meanwhile.

An execution waits for those that it awaits, and while it is queued for all executions of its deployment that came before
it and claim the same instances. A wait that would close a circle is refused, because none of them would end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.cycles import find_path
from phaseline.model.execution.events import WakeRequested
from phaseline.model.graph.status import EntryStatus
from phaseline.model.problems.problem import Problem
from phaseline.model.rows.causes import AwaitChanges, AwaitRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.run.loop.admission import Claims

Entry = tuple[int, int, int]
"""(execution, graph, position)."""
MOVING = (EntryStatus.WAITING, EntryStatus.RUNNING, EntryStatus.CANCELING, EntryStatus.SLEEPING)
"""Statuses of entries that will change without an operator."""


class Awaits:
    """What the entries of the open executions wait for. Used only by the loop's thread."""

    def __init__(self, scheduler: Scheduler, claims: Claims) -> None:
        """Begin with none."""
        self._scheduler, self._claims = scheduler, claims
        self._by_awaited: dict[int, dict[Entry, None]] = {}
        self._by_execution: dict[int, dict[Entry, dict[int, None]]] = {}
        """{execution: {entry of it: executions that the entry waits for}}."""
        self._positions: dict[int, dict[int, int]] = {}
        """{graph: {position: number of executions that the entry waits for}}."""
        self._new: list[AwaitRow] = []
        self._over: list[int] = []
        self._gone: list[tuple[int, int, int, int]] = []
        scheduler.awaiting = self._positions

    def __bool__(self) -> bool:
        """Return True if an entry waits."""
        return bool(self._by_awaited)

    def load(self, rows: Iterable[AwaitRow], is_open: Callable[[int], bool]) -> list[WakeRequested]:
        """Load stored rows. Return events that wake the entries whose awaited execution has ended meanwhile."""
        ended: dict[int, None] = {}
        for row in rows:
            self._add((row.execution, row.graph, row.position), row.awaited)
            if not is_open(row.awaited):
                ended[row.awaited] = None
        return [event for number in ended for event in self.told(number)]

    def begin(self, entry: Entry, awaited: Iterable[int], now: int) -> None:
        """Let an entry wait for executions, and no longer for others; the turn stores that."""
        wanted = dict.fromkeys(awaited)
        for number in list(self._by_execution.get(entry[0], {}).get(entry, ())):
            if number not in wanted:
                self._forget(entry, number)
                self._gone.append((*entry, number))
        for number in wanted:
            if self._add(entry, number):
                self._new.append(AwaitRow(*entry, number, now))

    def told(self, ended: int) -> list[WakeRequested]:
        """Return the events that wake the entries that wait for an execution which has ended, one for each graph."""
        entries = self._by_awaited.pop(ended, {})
        graphs: dict[tuple[int, int], list[int]] = {}
        for entry in entries:
            execution, graph, position = entry
            graphs.setdefault((execution, graph), []).append(position)
            self._drop(entry, ended)
        if entries:
            self._over.append(ended)
        return [WakeRequested(*key, np.array(sorted(places), np.int32)) for key, places in graphs.items()]

    def end(self, execution: int) -> None:
        """Forget what the entries of an ended execution waited for."""
        held = [
            (entry, number) for entry, numbers in self._by_execution.get(execution, {}).items() for number in numbers
        ]
        for entry, awaited in held:
            self._forget(entry, awaited)
        if held:
            self._over.append(execution)

    def changes(self) -> AwaitChanges | None:
        """Return what the turn has to store, None if nothing has changed. The next call returns only later changes."""
        if not (self._new or self._over or self._gone):
            return None
        changes = AwaitChanges(tuple(self._new), tuple(self._over), tuple(self._gone))
        self._new, self._over, self._gone = [], [], []
        return changes

    def of(self, execution: int) -> Sequence[int]:
        """Return the executions that entries of an execution wait for, in the order in which they began to.

        An entry that is called meanwhile counts: it may begin to wait again.
        """
        return list(dict.fromkeys(self._awaited(execution)))

    def circle(self, execution: int, new: Iterable[int], more: Mapping[int, Sequence[int]]) -> list[int]:
        """Return the circle that would close if the execution waited for ``new`` ones, too; empty if there is none.

        It begins with the first of ``new`` that leads back, and ends with the execution itself. ``more``: what executions
        will wait for from the end of this turn on.
        """

        def edges(number: int) -> Iterator[int]:
            yield from self._waits_for(number)
            yield from more.get(number, ())

        return next((path for number in new if (path := find_path(number, execution, edges))), [])

    def depth(self, execution: int, most: int) -> list[int]:
        """Return the longest chain of executions that wait for one another above this one; outermost first, this one last.

        The search ends at a chain longer than ``most``. A failed entry keeps its waits until it is called again, and may
        be in a circle until then, so it does not count.
        """
        chains = {execution: [execution]}
        while True:
            above = {
                entry[0]: [entry[0], *chain]
                for number, chain in chains.items()
                for entry in self._by_awaited.get(number, ())
                if self._status(entry) in MOVING
            }
            longest = next(iter(above.values() or chains.values()))
            if not above or len(longest) > most:
                return longest
            chains = above

    def needs_attention(self, execution: int, *, seen: frozenset[int] = frozenset()) -> int:
        """Return the number of the execution for which an operator must decide before this one can continue; 0 if none.

        It is the execution itself, or one that it waits for while nothing else of it can continue.
        """
        *_, last = execution, *self._claims.chain(execution)
        run = self._scheduler.runs.get(last)
        if run is None or last in seen:
            return 0
        if run.status.value == "attention":
            return last
        asker = 0
        for number in self._awaited(last):
            found = self.needs_attention(number, seen=seen | {last})
            if not found:  # it continues by itself: no need to look at the others
                return 0
            asker = asker or found
        return asker if asker and not self._moves(last) else 0

    def _waits_for(self, execution: int) -> Iterator[int]:
        row = self._claims.row(execution)
        if row is not None:
            yield from self._claims.ahead_of(row)
        yield from self._awaited(execution)

    def _awaited(self, execution: int) -> Iterator[int]:
        """Yield the executions that entries of an execution wait for; one may come several times."""
        for entry, numbers in self._by_execution.get(execution, {}).items():
            if self._status(entry) in MOVING:
                yield from numbers

    def ahead_of(self, row: ExecutionRow, coming: Sequence[ExecutionRow], outer: int) -> Sequence[int]:
        """Return the executions that a new one must wait for before it begins; ``coming`` are before it.

        ``outer``: the execution that makes it.
        """
        return list(self._claims.ahead_of(row, coming, outer))

    def _moves(self, execution: int) -> bool:
        """Return True if an entry of the execution will change without an operator, apart from those that wait."""
        arena = self._scheduler.arena
        for graph in self._scheduler.runs[execution].graphs:
            slot = arena.slots[graph]
            moving = np.isin(arena.status[slot.base : slot.end], MOVING)
            for place in self._positions.get(graph, ()):
                moving[place] &= self._status((execution, graph, place)) != EntryStatus.SLEEPING
            if moving.any():
                return True
        return False

    def _status(self, entry: Entry) -> int:
        """Return the status of an entry; that of a completed one if its graph is gone."""
        _, graph, position = entry
        slot = self._scheduler.arena.slots.get(graph)
        return EntryStatus.COMPLETED if slot is None else self._scheduler.arena.status.item(slot.base + position)

    def _forget(self, entry: Entry, awaited: int) -> None:
        """Remove one wait of an entry."""
        left = self._by_awaited[awaited]
        del left[entry]
        if not left:
            del self._by_awaited[awaited]
        self._drop(entry, awaited)

    def _add(self, entry: Entry, awaited: int) -> bool:
        entries = self._by_awaited.setdefault(awaited, {})
        if entry in entries:
            return False
        entries[entry] = None
        execution, graph, position = entry
        self._by_execution.setdefault(execution, {}).setdefault(entry, {})[awaited] = None
        places = self._positions.setdefault(graph, {})
        places[position] = places.get(position, 0) + 1
        return True

    def _drop(self, entry: Entry, awaited: int) -> None:
        """Remove one wait of an entry, except from ``_by_awaited``."""
        execution, graph, position = entry
        held = self._by_execution[execution]
        del held[entry][awaited]
        if not held[entry]:
            del held[entry]
        if not held:
            del self._by_execution[execution]
        places = self._positions[graph]
        places[position] -= 1
        if not places[position]:
            del places[position]
        if not places:
            del self._positions[graph]


def circular(rows: Sequence[ExecutionRow]) -> Problem:
    """Return PL-C110 for executions of which each would wait for the next; the last is the first again."""
    return Problem(
        "PL-C110",
        f"executions would wait for each other in a circle: {named(rows)}",
        "let one of them not wait: run it when the others have ended, or with --if-busy force",
    )


def named(rows: Iterable[ExecutionRow]) -> str:
    """Return executions that wait for one another as text: ``install-1 of app → install-2 of db``."""
    return " → ".join(f"{row.id} of {row.deployment_name}" for row in rows)
