"""One stay of resources in a state: the entries of its graph, read as what users know of phases (section 4 of the source).

Statuses come from pages; what is not stored there follows from needs and open calls, as in the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.breakpoints import PREFIX as BREAKPOINT
from phaseline.model.breakpoints import told_of
from phaseline.model.frozen import frozen
from phaseline.model.state_steps import phase_of, state_entered
from phaseline.model.status import EntryStatus, Mark
from phaseline.use_cases.executions import as_statuses, with_running

if TYPE_CHECKING:
    from phaseline.model.graph import Graph, Step
    from phaseline.model.rows import BatchRow, NoteRow
    from phaseline.ports import Store

MET = (EntryStatus.COMPLETED, EntryStatus.PASSED)
WORDS = {
    EntryStatus.BLOCKED: "Blocked",
    EntryStatus.WAITING: "Waiting",
    EntryStatus.RUNNING: "Running",
    EntryStatus.SLEEPING: "Sleeping",
    EntryStatus.CANCELING: "Canceling",
    EntryStatus.UNSURE: "Unsure",
    EntryStatus.COMPLETED: "Completed",
    EntryStatus.FAILED: "Failed",
    EntryStatus.SKIPPED: "Blocked",
    EntryStatus.CANCELED: "Canceled",
}
"""{status: the word of the source}; what has passed does not apply and so has no entry."""
RETRIED = "phase_retried"
"""The stored event of a user's retry."""


@frozen
class Runs:
    """Calls of one entry: how many, the latest one's number and times in ms. ``ended_at`` 0: it has not come back."""

    count: int = 0
    run: int = 0
    started_at: int = 0
    ended_at: int = 0


NO_RUNS = Runs()


class Stay:
    """A graph with its columns; everything is read at first use."""

    def __init__(
        self, store: Store, graph: int, execution: int, state: str, at: int, batches: Callable[[], Sequence[BatchRow]]
    ) -> None:
        """``batches`` gives the calls of the execution; ``at``: when the resources entered, in ms, 0: not known."""
        self._store = store
        self.graph = graph
        self.execution = execution
        self.state = state
        self.at = at
        self._all_batches = batches
        self._tallies: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._called: dict[str, Sequence[tuple[BatchRow, np.ndarray, np.ndarray]]] = {}

    @cached_property
    def columns(self) -> Graph:
        """The graph."""
        return self._store.graph(self.graph)

    @cached_property
    def subjects(self) -> np.ndarray:
        """Instance numbers in it, ascending."""
        found: np.ndarray = self.columns.subject[: self.columns.steps[0].count]
        return found

    @cached_property
    def phases(self) -> dict[str, Step]:
        """{phase: its entries}, in their order. A breakpoint is told like a phase, by the name of its step."""
        return {name: step for step in self.columns.steps if step.count and (name := told_of(step.phase)) is not None}

    @cached_property
    def entered(self) -> Sequence[str]:
        """The states that were entered, in order; all but the last had no phases. Phases that were loaded late enter none."""
        told = self.columns.marks
        return [
            name
            for step in self.columns.steps
            if (name := state_entered(step.phase)) is not None and told[step.first] & Mark.ANNOUNCE
        ]

    @cached_property
    def _batches(self) -> Sequence[BatchRow]:
        return [batch for batch in self._all_batches() if self.graph in batch.places.graphs]

    @cached_property
    def status(self) -> np.ndarray:
        """Statuses by position as the engine has them; uint8."""
        found = as_statuses(self._store.statuses(self.graph)).copy()
        ready = (found == EntryStatus.BLOCKED) & (self._unmet(found) == 0)
        found[ready] = EntryStatus.WAITING
        running = with_running(found, self.graph, [batch for batch in self._batches if not batch.closed_at])
        canceled = (found == EntryStatus.CANCELING) | (found == EntryStatus.CANCELED)
        running[canceled] = found[canceled]
        running[self._passing] = EntryStatus.PASSED
        return running

    @cached_property
    def _passing(self) -> np.ndarray:
        """Positions of those who do not stop at a breakpoint that stops others beside them."""
        steps = [step for step in self.columns.steps if step.phase.startswith(BREAKPOINT)]
        rows = [np.arange(step.first, step.first + step.count) for step in steps]
        found = np.concatenate(rows) if rows else np.empty(0, np.int64)
        passing: np.ndarray = found[(self.columns.marks[found] & Mark.ABSENT) != 0]
        return passing

    def _unmet(self, status: np.ndarray) -> np.ndarray:
        graph = self.columns
        waits_for = np.repeat(~np.isin(status, MET), np.diff(graph.ptr))
        return np.bincount(graph.idx[waits_for], minlength=len(status))

    def place(self, number: int) -> int:
        """Where the resource lies within each step. ``LookupError`` if it is not in this stay."""
        place = int(np.searchsorted(self.subjects, number))
        if place == len(self.subjects) or self.subjects[place] != number:
            raise LookupError(f"no resource {number} in graph {self.graph}")
        return place

    def positions(self, phase: str, numbers: np.ndarray) -> np.ndarray:
        """Positions of the entries of a phase on these resources, which must be in the stay."""
        found: np.ndarray = self.phases[phase].first + np.searchsorted(self.subjects, numbers)
        return found

    def status_of(self, phase: str, number: int) -> EntryStatus:
        """The status of one entry."""
        return EntryStatus(int(self.status[self.phases[phase].first + self.place(number)]))

    def statuses_of(self, number: int) -> dict[str, EntryStatus]:
        """{phase: status} of one resource, without phases that do not apply to it."""
        place = self.place(number)
        found = {name: EntryStatus(int(self.status[step.first + place])) for name, step in self.phases.items()}
        return {name: status for name, status in found.items() if status != EntryStatus.PASSED}

    def is_canceled(self, number: int) -> bool:
        """Whether the resource was taken out: nothing of it goes on here, and something was canceled."""
        place = self.place(number)
        found = [int(self.status[step.first + place]) for step in self.columns.steps]
        return EntryStatus.CANCELED in found and min(found) >= EntryStatus.COMPLETED

    def failed(self, numbers: np.ndarray) -> np.ndarray:
        """Of these resources those of which a phase has failed."""
        places = np.searchsorted(self.subjects, numbers)
        bad = np.zeros(len(numbers), bool)
        for step in self.phases.values():
            bad |= self.status[step.first + places] == EntryStatus.FAILED
        return numbers[bad]

    def waiting_for(self, phase: str, number: int) -> list[str]:
        """The phases that an entry waits for, each with its status where that says more."""
        position = self.phases[phase].first + self.place(number)
        needed = self._sources[self._starts[position] : self._starts[position + 1]].tolist()
        found = []
        for need in needed:
            name, status = self._phase_at(need), EntryStatus(int(self.status[need]))
            if name is not None and status not in MET:
                says_more = status in {EntryStatus.FAILED, EntryStatus.CANCELED}
                found.append(f"{name} ({WORDS[status].lower()})" if says_more else name)
        return found

    def _phase_at(self, position: int) -> str | None:
        return next(
            (name for name, step in self.phases.items() if step.first <= position < step.first + step.count), None
        )

    @cached_property
    def _sources(self) -> np.ndarray:
        graph = self.columns
        entries = np.repeat(np.arange(len(graph), dtype=np.int32), np.diff(graph.ptr))
        found: np.ndarray = entries[np.argsort(graph.idx, kind="stable")]
        return found

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.concatenate(([0], np.cumsum(self.columns.needs_count())))

    @cached_property
    def notes(self) -> dict[int, NoteRow]:
        """{position: what is remembered of the entry}."""
        return {note.position: note for note in self._store.notes(self.graph)}

    def runs(self, phase: str, number: int) -> Runs:
        """The calls of one entry since a user has had it tried again; that clears what was before (T10)."""
        position = self.phases[phase].first + self.place(number)
        note = self.notes.get(position)
        since = self._retried.get((number, phase), 0) if note is not None and note.generation else 0
        if not since:
            counts, latest = self._tally(phase)
            count = int(counts[position - self.phases[phase].first])
            if not count:
                return NO_RUNS
            last = self.called(phase)[int(latest[position - self.phases[phase].first])][0]
            return Runs(count, last.id, last.started_at, last.closed_at)
        found = [
            batch
            for batch, positions, _ in self.called(phase)
            if batch.started_at >= since and (positions == position).any()
        ]
        if not found:
            return NO_RUNS
        newest = found[-1]
        return Runs(len(found), newest.id, newest.started_at, newest.closed_at)

    def _tally(self, phase: str) -> tuple[np.ndarray, np.ndarray]:
        """(how many calls each entry of a phase had, the place of the latest of them in ``called``)."""
        if phase not in self._tallies:
            step = self.phases[phase]
            counts, latest = np.zeros((2, step.count), np.int64)
            for place, (_, positions, _) in enumerate(self.called(phase)):
                counts[positions - step.first] += 1
                latest[positions - step.first] = place
            self._tallies[phase] = counts, latest
        return self._tallies[phase]

    @cached_property
    def _retried(self) -> dict[tuple[int, str], int]:
        """{(resource, phase): when a user had it tried again for the last time}."""
        found: dict[tuple[int, str], int] = {}
        after = 0
        while rows := self._store.events(self.execution, after=after):
            after = rows[-1].sequence
            found.update(
                ((row.instance, phase_of(row.operation) or row.operation), row.at)
                for row in rows
                if row.type == RETRIED
            )
        return found

    def called(self, phase: str) -> Sequence[tuple[BatchRow, np.ndarray, np.ndarray]]:
        """(call, positions of this stay in it, their outcomes as far as they are known) of a phase, oldest first."""
        if phase not in self._called:
            self._called[phase] = self._calls_of(self.phases[phase])
        return self._called[phase]

    def _calls_of(self, step: Step) -> Sequence[tuple[BatchRow, np.ndarray, np.ndarray]]:
        found = []
        for batch in self._batches:
            first = 0
            for of, positions in batch.segments:
                size = len(positions)
                if of == self.graph and size and step.first <= int(positions[0]) < step.first + step.count:
                    kinds = np.zeros(size, np.uint8) if batch.kinds is None else batch.kinds[first : first + size]
                    found.append((batch, positions, kinds))
                first += size
        return found
