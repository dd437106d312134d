"""The stay of resources in one state: the entries of its graph as statuses of phases (section 4 of source 1).

Most statuses are stored; the others are derived from needs and open calls, by the rules of the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution.breakpoints import PREFIX as BREAKPOINT
from phaseline.model.execution.breakpoints import step_label
from phaseline.model.graph.graph import phase_of, state_entered
from phaseline.model.graph.status import EntryStatus, Mark

if TYPE_CHECKING:
    from phaseline.model.graph.graph import Graph, Step
    from phaseline.model.rows.rows import BatchRow, NoteRow
    from phaseline.ports.execution_reads import ExecutionReads

MET = (EntryStatus.COMPLETED, EntryStatus.PASSED)
SAYS_MORE = (EntryStatus.FAILED, EntryStatus.CANCELED)
"""Statuses that are shown behind the name of a phase for which another phase waits."""
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
"""{status: the word of the CycleCloud document (source 1)}; a passed entry does not apply and has no word."""
RETRIED = "phase_retried"
"""Type of the stored event of a user's retry."""


@frozen
class EntryRuns:
    """The calls of one entry: ``count`` of them; ``run`` is the number of the latest, with its times (ms).

    ``ended_at`` is 0 if the latest call has not returned.
    """

    count: int = 0
    run: int = 0
    started_at: int = 0
    ended_at: int = 0


NO_RUNS = EntryRuns()


class Stay:
    """The stay of some resources in one state, as stored in one graph; each part is read when it is first needed."""

    def __init__(
        self,
        store: ExecutionReads,
        graph: int,
        execution: int,
        state: str,
        at: int,
        batches: Callable[[], Sequence[BatchRow]],
        open_batches: Callable[[], Sequence[BatchRow]] | None = None,
    ) -> None:
        """``at``: time (ms) when the resources entered the state; 0: unknown.

        ``batches`` returns the calls of the execution, ``open_batches`` those that run (None: those of ``batches``).
        """
        self._store = store
        self.graph = graph
        self.execution = execution
        self.state = state
        self.at = at
        self._all_batches = batches
        self._open_batches = open_batches or batches
        self._tallies: dict[str, tuple[list[int], list[int]]] = {}
        self._called: dict[str, Sequence[tuple[BatchRow, np.ndarray, np.ndarray]]] = {}

    @cached_property
    def columns(self) -> Graph:
        """The graph with its columns."""
        return self._store.graph(self.graph)

    @cached_property
    def subjects(self) -> np.ndarray:
        """The numbers of the resources in this stay, ascending."""
        found: np.ndarray = self.columns.subject[: self.columns.steps[0].count]
        return found

    @cached_property
    def phases(self) -> dict[str, Step]:
        """{phase: its step in the graph}, in order. Breakpoints are included under the names of their steps."""
        return {
            name: step for step in self.columns.steps if step.count and (name := step_label(step.phase)) is not None
        }

    @cached_property
    def entered(self) -> Sequence[str]:
        """The states that were entered, in order; only the last of them has phases.

        It is empty in a graph for phases that were loaded while the resources were already in the state.
        """
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
        """The present status of each entry, by position, as the engine has it; uint8."""
        is_called = self._store.owner() is not None  # nothing runs any more if the owner process died
        called = [batch for batch in self._open_batches() if not batch.closed_at] if is_called else []
        statuses = self._store.entry_statuses(self.graph, called)
        stored, running = statuses.stored, statuses.now
        running[(running == EntryStatus.BLOCKED) & (self._unmet(stored) == 0)] = EntryStatus.WAITING
        canceled = (stored == EntryStatus.CANCELING) | (stored == EntryStatus.CANCELED)
        running[canceled] = stored[canceled]
        running[self._passing] = EntryStatus.PASSED
        return running

    @cached_property
    def _passing(self) -> np.ndarray:
        """Positions of breakpoint entries at which the resource does not stop, because the breakpoint is for other resources."""
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
        """Return the index of the resource among the entries of each step; it is the same index in all steps.

        Raises ``LookupError`` if the resource is not in this stay.
        """
        place = int(np.searchsorted(self.subjects, number))
        if place == len(self.subjects) or self.subjects[place] != number:
            raise LookupError(f"no resource {number} in graph {self.graph}")
        return place

    def positions(self, phase: str, numbers: np.ndarray) -> np.ndarray:
        """Return the positions of a phase's entries on these resources, which must be in the stay."""
        found: np.ndarray = self.phases[phase].first + np.searchsorted(self.subjects, numbers)
        return found

    def status_of(self, phase: str, number: int) -> EntryStatus:
        """Return the status of the phase's entry on one resource."""
        return EntryStatus(int(self.status[self.phases[phase].first + self.place(number)]))

    def statuses_of(self, number: int) -> dict[str, EntryStatus]:
        """Return {phase: status} of one resource, without phases that do not apply to it."""
        place = self.place(number)
        found = {name: EntryStatus(int(self.status[step.first + place])) for name, step in self.phases.items()}
        return {name: status for name, status in found.items() if status != EntryStatus.PASSED}

    def is_canceled(self, number: int) -> bool:
        """Return whether the resource left this state early: it has canceled entries here, and no open ones."""
        return bool(self.are_canceled(np.array([self.place(number)]))[0])

    def are_canceled(self, places: np.ndarray) -> np.ndarray:
        """Return a bool array by resource: True if it left this state early. ``places``: the results of ``place`` for them."""
        is_open, is_canceled = np.zeros((2, len(places)), bool)
        for step in self.columns.steps:
            found = self.status[step.first + places]
            is_open |= found < EntryStatus.COMPLETED
            is_canceled |= found == EntryStatus.CANCELED
        taken_out: np.ndarray = is_canceled & ~is_open
        return taken_out

    def failed(self, numbers: np.ndarray) -> np.ndarray:
        """Return the resources among ``numbers`` on which a phase has failed."""
        places = np.searchsorted(self.subjects, numbers)
        bad = np.zeros(len(numbers), bool)
        for step in self.phases.values():
            bad |= self.status[step.first + places] == EntryStatus.FAILED
        return numbers[bad]

    def waiting_for(self, positions: Sequence[int]) -> dict[int, list[str]]:
        """Return {position: names of the phases that its entry waits for}.

        A phase that is Failed or Canceled has this status behind its name.
        """
        if not positions:
            return {}
        asked = np.asarray(positions, np.int64)
        firsts, counts = self._starts[asked], self._starts[asked + 1] - self._starts[asked]
        told: dict[bytes, list[str]] = {}  # entries that wait for the same phases in the same statuses share their text
        found: dict[int, list[str]] = {}
        for count in np.unique(counts).tolist():
            alike = counts == count
            needs = self._sources[firsts[alike][:, None] + np.arange(count)]
            patterns = np.stack((self._phase_places[needs], self.status[needs]), axis=2).astype(np.int16)
            for position, pattern in zip(asked[alike].tolist(), patterns, strict=True):
                key = pattern.tobytes()
                if key not in told:
                    told[key] = self._told(pattern.tolist())
                found[position] = told[key]
        return found

    def _told(self, needs: list[list[int]]) -> list[str]:
        """Return the names of the phases that are still awaited, among the needs of one entry.

        Each need is a pair: index of its phase in ``phases`` (-1: no phase), and its status.
        """
        names = list(self.phases)
        return [
            f"{names[place]} ({WORDS[EntryStatus(byte)].lower()})" if byte in SAYS_MORE else names[place]
            for place, byte in needs
            if place >= 0 and byte not in MET
        ]

    @cached_property
    def _phase_places(self) -> np.ndarray:
        """The index in ``phases`` of each entry's phase, -1 if the entry has none; int16."""
        found = np.full(len(self.columns), -1, np.int16)
        for place, step in enumerate(self.phases.values()):
            found[step.first : step.first + step.count] = place
        return found

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
        """{position: the stored note of the entry}."""
        return {note.position: note for note in self._store.notes(self.graph)}

    def runs(self, phase: str) -> Callable[[int], EntryRuns]:
        """Return a function that takes the position of an entry of the phase and returns the entry's calls.

        Calls before the last retry by a user do not count (T10).
        """
        counts, latest = self._tally(phase)
        first, called = self.phases[phase].first, self.called(phase)
        made: dict[tuple[int, int], EntryRuns] = {}

        def of(position: int) -> EntryRuns:
            key = counts[position - first], latest[position - first]
            if not key[0]:
                return NO_RUNS
            if key not in made:
                last = called[key[1]][0]
                made[key] = EntryRuns(key[0], last.id, last.started_at, last.closed_at)
            return made[key]

        return of

    def _tally(self, phase: str) -> tuple[list[int], list[int]]:
        """Return two lists by entry of a phase: its number of calls since the last retry, and its latest call.

        The latest call is given as index in ``called``.
        """
        if phase not in self._tallies:
            step = self.phases[phase]
            counts, latest = np.zeros((2, step.count), np.int64)
            since = self._since(phase, step)
            for place, (batch, positions, _) in enumerate(self.called(phase)):
                inside = positions - step.first
                if since is not None:
                    inside = inside[since[inside] <= batch.started_at]
                counts[inside] += 1
                latest[inside] = place
            self._tallies[phase] = counts.tolist(), latest.tolist()
        return self._tallies[phase]

    def _since(self, phase: str, step: Step) -> np.ndarray | None:
        """Return when a user last retried each entry of a phase, in ms, or None if no entry was retried."""
        retried = [
            position - step.first
            for position, note in self.notes.items()
            if note.generation and step.first <= position < step.first + step.count
        ]
        if not retried:
            return None
        found = np.zeros(step.count, np.int64)
        numbers = self.subjects[retried].tolist()
        found[retried] = [self._retried.get((number, phase), 0) for number in numbers]
        return found

    @cached_property
    def _retried(self) -> dict[tuple[int, str], int]:
        """{(resource, phase): time (ms) of the last retry by a user}."""
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
        """Return (call, positions of its entries in this stay, their known outcomes) for a phase, oldest call first."""
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
