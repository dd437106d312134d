"""Compute the events of the instances of an execution; the last lines do not need all others (W12).

Events are not stored: they are computed from the stored calls when they are read. For the last lines, only instances
with the latest calls are computed. To count all lines, instances are grouped by story (the same lines apart from
names, times and messages), and events are computed for only one instance of each group.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heappush, heappushpop
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from phaseline.model.graph.graph import SubjectKind, phase_of
from phaseline.model.graph.status import EntryStatus, OutcomeKind
from phaseline.plan.explain.cloudify_event_lines import BEGUN, CallSpan, Entries, GraphOutcome
from phaseline.plan.explain.cloudify_events import narrate_all
from phaseline.views.views import Line

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph, Step
    from phaseline.model.rows.rows import BatchRow, EventRow, ExecutionRow, GraphRow, NoteRow
    from phaseline.ports.execution_reads import ExecutionReads

Causes = Mapping[tuple[int, str], "deque[EventRow]"]
"""{(number of the called instance, operation): stored events of its calls, oldest first}."""
Candidate = tuple[int, int, int, int, Line]
"""(time, index of the round, instance number, index in the instance's lines, line): a sort key and its line."""
BY_HAND = "completed_by_hand"
MOST_MADE = 1_000
"""Number of entries whose calls are kept as objects, because the calls of an entry are read several times."""
KINDS = 8
"""Factor in ``number * KINDS + kind``, which combines a number with the outcome kind of a call in one integer."""


class Narrated:
    """All rounds of one execution, from which the events of its instances are computed."""

    def __init__(
        self, store: ExecutionReads, row: ExecutionRow, causes: Causes, former: Narrated | None = None
    ) -> None:
        """Read all rounds. ``causes``: the stored failures; each is used for one call and then removed from ``causes``.

        ``former``: the object that an earlier read made; ``added`` returns the lines that are new since that read.
        """
        topology = store.topology(row.deployment)
        batches = store.batches(execution=row.number)
        self._former = {} if former is None else former.looked()
        self._rounds = [
            _Round(store, row, stored, topology, batches, causes, self._former.get(stored.id))
            for stored in store.graphs(row.number)
        ]
        self.told = 0
        """Number of instances whose lines have been computed so far; tests check that it is small."""

    def all(self) -> Iterator[Line]:
        """Yield every line, ordered by round, instance and time."""
        for _, lines in self.by_instance():
            yield from lines

    def by_instance(self) -> Iterator[tuple[int, list[Line]]]:
        """Yield (instance number, its lines by time) for every instance of every round."""
        for one in self._rounds:
            yield from self._counted(one.tell_all())

    def added(self) -> Iterator[tuple[int, list[Line]]]:
        """Yield (instance number, its lines that are new since ``former`` was read), ordered by round and instance."""
        for one in self._rounds:
            yield from self._counted(one.tell_added(self._former.get(one.id)))

    def looked(self) -> dict[int, _Round]:
        """Return {graph id: round}, for a later read to compare with; drop the data that the comparison does not need."""
        self._former = {}
        for one in self._rounds:
            one.calls.forget_explained()
        return {one.id: one for one in self._rounds}

    def last(
        self, limit: int, is_wanted: Callable[[Line], bool], instances: np.ndarray | None
    ) -> tuple[list[Line], int]:
        """Return (the last ``limit`` wanted lines in the order of ``all``, the number of all wanted lines).

        ``is_wanted`` must not depend on the text of a line. ``instances``: bool by instance number, True if lines of
        the instance may be wanted; None: of all instances.
        """
        best: list[Candidate] = []
        total = 0
        for place, one in reversed(list(enumerate(self._rounds))):
            stories = one.stories(instances)
            examples = self._tell(one, stories.examples, {})
            counts = np.array([sum(map(is_wanted, lines)) for _, lines in examples], np.int64)
            total += int((counts * stories.times).sum())
            self._improve(best, place, one.those_of(stories, counts > 0), is_wanted, limit)
        return [candidate[-1] for candidate in sorted(best, key=lambda one: one[1:4])], total

    def _improve(
        self,
        best: list[Candidate],
        place: int,
        those: Iterable[tuple[int, int]],
        is_wanted: Callable[[Line], bool],
        limit: int,
    ) -> None:
        """Keep the last ``limit`` wanted lines in the heap ``best``; ``those``: (last time, instance), descending."""

        def needed(some: Iterable[tuple[int, int]]) -> Iterator[int]:
            for at, instance in some:
                if len(best) == limit and (not best or (at, place, instance) < best[0][:3]):
                    return  # no line of this instance or of those after it is among the last
                yield instance

        one, size = self._rounds[place], limit
        rest = iter(those)
        while (some := list(islice(rest, size))) and (first := list(needed(some))):
            size *= 2  # so that few queries read the notes of all instances that are needed
            for instance, lines in self._tell(one, needed(some), one.notes_of(first)):
                for number, line in enumerate(lines):
                    if is_wanted(line):
                        new = (line.at, place, instance, number, line)
                        if len(best) < limit:
                            heappush(best, new)
                        else:
                            heappushpop(best, new)

    def _tell(
        self, one: _Round, instances: Iterable[int], notes: Mapping[int, NoteRow]
    ) -> Iterator[tuple[int, list[Line]]]:
        return self._counted(one.tell(instances, notes))

    def _counted(self, stories: Iterator[tuple[int, list[Line]]]) -> Iterator[tuple[int, list[Line]]]:
        for told in stories:
            self.told += 1
            yield told


class _Stories(NamedTuple):
    """The instances of a round, grouped by story: their lines are equal apart from names, times and messages.

    ``examples`` has one instance number for each story; ``times`` has the number of counted instances with that story.
    ``kind`` and ``counts`` have one value for each instance of the round: the index of its story in ``examples``, and
    whether the instance is counted, because it is among those that the caller wants.
    """

    examples: list[int]
    times: np.ndarray
    kind: np.ndarray
    counts: np.ndarray


class _Round:
    """One graph of an execution: its entries and calls in columns."""

    def __init__(
        self,
        store: ExecutionReads,
        row: ExecutionRow,
        stored: GraphRow,
        topology: Topology,
        batches: Sequence[BatchRow],
        causes: Causes,
        former: _Round | None = None,
    ) -> None:
        self.store, self.id = store, stored.id
        self._row, self.topology = row, topology
        self._since = max(
            row.started_at, stored.created_at
        )  # an instance without calls has its lines at the start of the round
        self.graph: Graph = store.graph(stored.id) if former is None else former.graph  # its columns never change
        self.statuses = store.statuses(stored.id)
        is_same = former is not None and former.topology is topology
        self.entries: Entries = former.entries if former is not None and is_same else Entries(topology, self.graph)
        self.calls = _Calls(batches, stored.id, len(self.graph))
        if causes:
            self._explain(causes)
        owned = int(np.searchsorted(self.entries.owner, 0))
        self._mine = self.entries.order[owned:]
        self.instances, self._firsts = np.unique(self.entries.owner[owned:], return_index=True)

    def tell_all(self) -> Iterator[tuple[int, list[Line]]]:
        """Yield (instance number, its lines) for all instances; calls and notes are read for many instances at once."""
        firsts = np.append(self._firsts, len(self._mine))
        for low in range(0, len(self.instances), MOST_MADE):
            some = self.instances[low : low + MOST_MADE]
            positions = self._mine[firsts[low] : firsts[low + len(some)]]
            yield from self.tell(some.tolist(), self._notes(positions), self.calls.of(positions))

    def tell_added(self, former: _Round | None) -> Iterator[tuple[int, list[Line]]]:
        """Yield (instance number, its lines that are not in ``former``) for all instances with changed entries."""
        has_changed = self._changed(former)[self._mine]
        changed = (
            np.flatnonzero(np.logical_or.reduceat(has_changed, self._firsts)) if len(has_changed) else self._firsts
        )
        ends = np.append(self._firsts[1:], len(self._mine))
        for low in range(0, len(changed), MOST_MADE):
            places = changed[low : low + MOST_MADE].tolist()
            some = self.instances[places].tolist()
            positions = np.concatenate([self._mine[self._firsts[place] : ends[place]] for place in places])
            notes = self._notes(positions)
            told = self.tell(some, notes, self.calls.of(positions))
            if former is None:
                yield from told
                continue
            before = former.tell(some, notes, former.calls.of(positions))
            for (number, lines), (_, had) in zip(told, before, strict=True):
                yield number, _added(had, lines)

    def notes_of(self, instances: Sequence[int]) -> dict[int, NoteRow]:
        """Return {position: note} of the entries of instances."""
        is_theirs = np.repeat(np.isin(self.instances, instances), np.diff(np.append(self._firsts, len(self._mine))))
        return self._notes(self._mine[is_theirs])

    def _notes(self, positions: np.ndarray) -> dict[int, NoteRow]:
        return {note.position: note for note in self.store.notes(self.id, among=positions.tolist())}

    def _changed(self, former: _Round | None) -> np.ndarray:
        """Return bool by position: the entry has changed since ``former`` was read; if None, it was called or has begun."""
        found: np.ndarray
        if former is None:
            found = np.isin(self.statuses, list(BEGUN)) | self.calls.are_called
        else:
            found = (self.statuses != former.statuses) | (self.calls.digest() != former.calls.digest())
        return found

    def tell(
        self,
        instances: Iterable[int],
        notes: Mapping[int, NoteRow],
        calls: Mapping[int, Sequence[CallSpan]] | None = None,
    ) -> Iterator[tuple[int, list[Line]]]:
        """Yield (instance number, its lines), computed when requested.

        ``calls``: the calls of the instances' entries, if the caller has read them.
        """
        row, ids = self._row, self.topology.ids
        known = GraphOutcome(
            self.topology,
            self.graph,
            self.statuses,
            self.calls if calls is None else calls,
            notes,
            row.request.workflow,
            row.request.parameters,
            with_tasks=True,
        )
        for number, lines in narrate_all(known, instances, entries=self.entries):
            told: list[Line] = []
            at = self._since
            for line in lines:
                at = max(at, line.at)
                if line.kind != "state":
                    kind = "task" if line.kind == "task" else "workflow_node_event"
                    name = ids[number] + (f"->{ids[line.target]}" if line.target >= 0 else "")
                    operation = phase_of(line.operation) or line.operation
                    told.append(Line(at, kind, row.deployment_name, name, operation, line.text))
            yield number, told

    def those_of(self, stories: _Stories, are_wanted: np.ndarray) -> Iterator[tuple[int, int]]:
        """Yield (time of its last line, number) of the instances that ``stories`` counts and whose story is wanted."""
        latest = (
            np.maximum.reduceat(self.calls.latest()[self._mine], self._firsts) if len(self._firsts) else self._firsts
        )
        wanted = np.flatnonzero(are_wanted[stories.kind] & stories.counts)
        latest, instances = np.maximum(latest, self._since)[wanted], self.instances[wanted]
        for place in np.lexsort((instances, latest))[::-1]:
            yield int(latest[place]), int(instances[place])

    def stories(self, among: np.ndarray | None) -> _Stories:
        """Group the instances by story, that is by equal lines apart from names, times and messages.

        ``among``: bool by instance number, True for the instances to be counted; None: count all.
        """
        counts = np.ones(len(self.instances), bool) if among is None else among[self.instances]
        _, firsts, kind = np.unique(self._digests(), return_index=True, return_inverse=True)
        times = np.bincount(kind, weights=counts, minlength=len(firsts)).astype(np.int64)
        return _Stories(self.instances[firsts].tolist(), times, kind, counts)

    def _digests(self) -> np.ndarray:
        """Return a uint64 for each instance; equal numbers mean the same entries with equal statuses and outcomes of calls.

        With 64 bits, two of a million stories are confused once in 30 million executions.
        """
        if not len(self._mine):
            return np.empty(0, np.uint64)
        phases = {step.phase: number for number, step in enumerate(self.graph.steps)}
        said = [phases[step.phase] * 16 + int(step.kind) for step in self.graph.steps]
        graph, mine = self.graph, self._mine
        leaves = {policy.leave: number for number, policy in enumerate(graph.policies)}
        leave = np.array([leaves[policy.leave] for policy in graph.policies], np.uint16)[graph.policy]
        digest = _mixed(np.array(said, np.uint64)[self.entries.step[mine]])
        for column in (self.statuses, graph.marks, leave, self.calls.digest()):
            digest = _mixed(digest + column[mine].astype(np.uint64))
        sizes = np.diff(np.append(self._firsts, len(mine)))
        digest += (np.arange(len(mine)) - np.repeat(self._firsts, sizes)).astype(np.uint64)
        found: np.ndarray = np.add.reduceat(_mixed(digest), self._firsts)
        return found

    def _explain(self, causes: Causes) -> None:
        """Add data of stored events to the calls: failure messages, end times, and completions by hand."""
        subjects: dict[str, list[int]] = {}
        for subject, operation in causes:
            subjects.setdefault(operation, []).append(subject)
        for step in self.graph.steps:
            if step.phase not in subjects:
                continue
            called = self._called(step)
            for place in np.flatnonzero(np.isin(called, subjects[step.phase])).tolist():
                self._explain_entry(step.first + place, causes[int(called[place]), step.phase])

    def _called(self, step: Step) -> np.ndarray:
        """Return, for each entry of the step, the number of the instance that is called; -1 for steps without instances."""
        subject = self.graph.subject[step.first : step.first + step.count]
        if step.kind is SubjectKind.INSTANCE:
            return subject
        sides = {SubjectKind.SOURCE: self.topology.source, SubjectKind.TARGET: self.topology.target}
        return sides[step.kind][subject] if step.kind in sides else np.full(len(subject), -1, np.int32)

    def _explain_entry(self, position: int, told: deque[EventRow]) -> None:
        if not told:
            return
        spans = list(self.calls.get(position, ()))
        for place, span in enumerate(spans):
            event = _take_failure(told, span) if span.kind in {OutcomeKind.FAILED, OutcomeKind.RETRY} else None
            if event is not None:
                asked = event.type == "task_rescheduled"
                spans[place] = CallSpan(span.begun_at, event.at, span.kind, event.message, asked)
        is_done = self.statuses[position] == EntryStatus.COMPLETED
        hand = next((event for event in reversed(told) if event.type == BY_HAND), None)
        if hand is not None and is_done and (not spans or spans[-1].kind is not OutcomeKind.COMPLETED):
            spans.append(CallSpan(hand.at, hand.at, OutcomeKind.COMPLETED, is_by_hand=True))
        self.calls.explain(position, spans)


def _added(had: Sequence[Line], lines: Sequence[Line]) -> list[Line]:
    """Return the lines that are not in ``had``; a line with only another text or time is not new."""
    rest = Counter(map(_kind, had))
    added: list[Line] = []
    for line in lines:
        kind = _kind(line)
        if rest[kind] > 0:
            rest[kind] -= 1
        else:
            added.append(line)
    return added


def _kind(line: Line) -> tuple[str, str, str]:
    """Return the part of a line that never changes: instance, operation and event, without the message of a task."""
    return line.instance, line.operation, line.text.partition("'")[0] if line.level == "task" else line.text


def _take_failure(told: deque[EventRow], span: CallSpan) -> EventRow | None:
    """Remove and return the first event about a failure that was stored while the call or its batch ran."""
    for event in told:
        if event.type != BY_HAND and span.begun_at <= event.at and (not span.ended_at or event.at <= span.ended_at):
            told.remove(event)
            return event
    return None


class _Calls(Mapping[int, Sequence[CallSpan]]):
    """{position in the graph: its calls, oldest first}, kept in columns; calls become objects when they are read."""

    def __init__(self, batches: Sequence[BatchRow], graph: int, size: int) -> None:
        kinds, positions, numbers, lengths = [], [np.empty(0, np.int32)], [], []
        for number, batch in enumerate(batches):
            first = 0
            for of, members in batch.segments:
                if of == graph:
                    ends = np.zeros(len(batch.places.positions), np.uint8) if batch.kinds is None else batch.kinds
                    kinds.append(ends[first : first + len(members)])
                    positions.append(members)
                    numbers.append(number)
                    lengths.append(len(members))
                first += len(members)
        joined = np.concatenate(positions)
        order = np.argsort(joined, kind="stable")
        self._count = np.bincount(joined, minlength=size)
        self._last = np.cumsum(self._count)
        self._batch = np.repeat(np.array(numbers, np.int32), lengths)[order]
        self._kind = np.concatenate([np.empty(0, np.uint8), *kinds])[order]
        self._begun = np.array([batch.started_at for batch in batches], np.int64)
        self._ended = np.array([batch.closed_at for batch in batches], np.int64)
        self._explained: dict[int, Sequence[CallSpan]] = {}
        self._made: dict[int, Sequence[CallSpan]] = {}

    def explain(self, position: int, spans: Sequence[CallSpan]) -> None:
        """Replace the calls of the entry at this position by ``spans``; if ``spans`` is empty, change nothing."""
        if spans:
            self._explained[position] = spans

    @property
    def are_called(self) -> np.ndarray:
        """Bool array by position: True if the entry has calls."""
        found: np.ndarray = self._count > 0
        return found

    def forget_explained(self) -> None:
        """Drop the calls that ``explain`` was given."""
        self._explained.clear()
        self._made.clear()

    def of(self, positions: np.ndarray) -> dict[int, Sequence[CallSpan]]:
        """Return {position: calls of the entry}, only for entries that were called.

        To save memory, entries of one batch with the same outcome share one list of calls.
        """
        found: dict[int, Sequence[CallSpan]] = {}
        known: dict[tuple[int, int], Sequence[CallSpan]] = {}
        called = positions[self._count[positions] > 0]
        once = called[self._count[called] == 1]
        at = self._last[once] - 1
        for position, key in zip(
            once.tolist(), zip(self._batch[at].tolist(), self._kind[at].tolist(), strict=True), strict=True
        ):
            spans = known.get(key)
            if spans is None:
                spans = known[key] = [self._span(*key)]
            found[position] = spans
        found.update((position, self[position]) for position in called[self._count[called] > 1].tolist())
        if self._explained:
            among = set(positions.tolist())
            found.update((position, spans) for position, spans in self._explained.items() if position in among)
        return found

    def _span(self, batch: int, kind: int) -> CallSpan:
        ended = int(self._ended[batch]) if kind != OutcomeKind.PENDING else 0
        return CallSpan(int(self._begun[batch]), ended, OutcomeKind(kind))

    def __getitem__(self, position: int) -> Sequence[CallSpan]:
        if position in self._explained:
            return self._explained[position]
        if position in self._made:
            return self._made[position]
        high = int(self._last[position])
        low = high - int(self._count[position])
        if low == high:
            raise KeyError(position)
        calls = zip(self._batch[low:high].tolist(), self._kind[low:high].tolist(), strict=True)
        found = [self._span(batch, kind) for batch, kind in calls]
        if len(self._made) >= MOST_MADE:
            self._made.clear()
        self._made[position] = found
        return found

    def __contains__(self, position: object) -> bool:
        return isinstance(position, int) and (position in self._explained or bool(self._count[position]))

    def __iter__(self) -> Iterator[int]:
        yield from sorted({*np.flatnonzero(self._count).tolist(), *self._explained})

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def latest(self) -> np.ndarray:
        """Return the time (ms) of the last start or end of a call, by position; int64; 0 if the entry has no calls."""
        times = np.maximum(self._begun, self._ended)[self._batch]
        found = self._by_position(np.maximum, times)
        for position, spans in self._explained.items():
            found[position] = max(found[position], *(max(span.begun_at, span.ended_at) for span in spans))
        return found

    def digest(self) -> np.ndarray:
        """Return a uint64 by position; equal numbers mean calls with the same outcomes in the same order."""
        order = np.arange(len(self._kind)) - np.repeat(self._last - self._count, self._count)
        return self._by_position(np.add, _mixed((order * KINDS + self._kind + 1).astype(np.uint64)))

    def _by_position(self, fold: np.ufunc, by_call: np.ndarray) -> np.ndarray:
        found = np.zeros(len(self._count), by_call.dtype)
        called = np.flatnonzero(self._count)
        if len(called):
            found[called] = fold.reduceat(by_call, (self._last - self._count)[called])
        return found


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Hash uint64 numbers with the last steps of SplitMix64, so that similar numbers become unrelated."""
    found = numbers + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        found ^= found >> np.uint64(shift)
        found *= np.uint64(factor)
    found ^= found >> np.uint64(31)
    return found
