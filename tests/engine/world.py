"""The scheduler and the naive reading side by side: every event is told to both, and after each turn they must agree."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from phaseline.engine.invariants import validate
from phaseline.engine.scheduler import Scheduler
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.events import (
    Ask,
    CancelRequested,
    CompleteRequested,
    Decision,
    Dispatch,
    Evaluate,
    Evaluated,
    Event,
    Finished,
    Lost,
    Planned,
    RerunRequested,
    Restored,
    RetryRequested,
    SlotsChanged,
    Submitted,
    WakeRequested,
)
from phaseline.model.execution.execution import StopAfter, Verdict
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, Mark, OutcomeKind
from phaseline.testing.oracle import NaiveGraph
from phaseline.testing.recorder import Recorder

POOLS = {"bulk": 2, "threads": 3, "workers": 2}


class OfThree:
    """Subjects call one of three functions, each by its number."""

    def number(self, operation: str, kind: int, subject: int) -> int:
        return subject % 3

    def numbers(self, operation: str, kind: int, subjects: np.ndarray) -> np.ndarray:
        return subjects.astype(np.int64) % 3


OF_THREE = OfThree()


def short(event: Event) -> str:
    """An event in one line, graphs by their essentials."""
    answer = getattr(event, "answer", None) or getattr(event, "graph", None)
    if not isinstance(answer, Graph):
        return repr(event)
    lanes = [(p.lane.phase, p.max_retries, p.repeatable) for p in answer.policies]
    columns = [answer.policy.tolist(), answer.marks.tolist(), answer.ptr.tolist(), answer.idx.tolist()]
    return f"{type(event).__name__} {event.execution} graph {event.graph_id} {lanes} {columns}"


@dataclass
class NaiveRun:
    """One execution: what its planner and its users have said."""

    stop_after: StopAfter | None = None
    attempt: int = 0
    graphs: list[int] = field(default_factory=list)
    is_canceled: bool = False
    is_asking: bool = False
    is_overtaken: bool = False
    is_stopped: bool = False
    failures: list[tuple[int, int, int]] = field(default_factory=list)
    first_failure_at: int | None = None

    def overtake(self) -> None:
        self.is_overtaken = self.is_asking

    def stops(self, now: int, sizes: dict[tuple[int, int], int]) -> bool:
        """Whether it bears no more failure."""
        limit = self.stop_after
        if limit is None or self.is_stopped or not self.failures:
            return False
        places = {(graph, group) for graph, group, _ in self.failures}
        for place in places:
            subjects = [subject for graph, group, subject in self.failures if (graph, group) == place]
            if limit.failures is not None and len(subjects) > limit.failures:
                return True
            if limit.share is not None and len(set(subjects)) > limit.share * sizes[place]:
                return True
        return limit.seconds is not None and now >= self.first_failure_at + limit.seconds * 1000


class World:
    """Both sides, the store between crashes, and what the shell owes: answers of planners, calls and conditions."""

    def __init__(self) -> None:
        self.now = 0
        self.recorder = Recorder()
        self.graphs: dict[int, NaiveGraph] = {}
        self.runs: dict[int, NaiveRun] = {}
        self.ended: dict[int, NaiveRun] = {}
        self.members: dict[int, list[tuple[int, int]]] = {}
        self.evaluations: list[Evaluate] = []
        self.next_graph = self.next_batch = 1
        self.history: list[tuple[int, list[Event]]] = []
        self.scheduler = self.new_scheduler()
        self.turn([])

    def new_scheduler(self) -> Scheduler:
        self.waking = [SlotsChanged(pool, slots) for pool, slots in POOLS.items()]
        return Scheduler(next_batch=self.next_batch, checked=True, compact_from=0)

    def live(self) -> dict[int, NaiveGraph]:
        return {graph: self.graphs[graph] for run in self.runs.values() for graph in run.graphs}

    def story(self) -> str:
        """What both were told, turn by turn."""
        return "\n".join(f"{at} ms: {short(event)}" for at, events in self.history for event in events)

    # -- one turn -----------------------------------------------------------------------------------------------

    def turn(self, events: Sequence[Event], *, crash: str = "") -> Decision:
        """Tell both, compare. ``crash`` ``before`` the commit: nobody remembers the turn; ``after``: nobody acts on it."""
        before = copy.deepcopy((self.graphs, self.runs, self.ended, self.members))
        told = [*self.waking, *events]
        self.waking = []
        self.history.append((self.now, told))
        decision = self.scheduler.handle(told, self.now)
        validate(self.scheduler)
        accepted = iter(decision.accepted)
        for event in told:
            self.tell(event, accepted)
        self.pass_time()
        self.follow(decision)
        self.compare()
        if crash != "before":
            self.recorder.commit(decision.changes)
        else:
            self.graphs, self.runs, self.ended, self.members = before
        if crash:
            self.crash()
        return decision

    def crash(self) -> None:
        """Another process goes on from what was committed."""
        self.next_batch = max(self.members, default=0) + 1
        self.scheduler = self.new_scheduler()
        self.evaluations = []
        for run in self.runs.values():
            run.is_asking = run.is_overtaken = False
        self.take_up(None)

    def take_up(self, execution: int | None, *requests: Event) -> None:
        """Restore executions of the store, None: all that are open; the requests come in the same turn."""
        events = [
            altered(event, functions=OF_THREE) if isinstance(event, Restored) else event
            for event in self.recorder.restoring(None if execution is None else [execution])
        ]
        held = [(event.execution, event.graph_id) for event in events if isinstance(event, Restored) and event.graph_id]
        for number, run in self.runs.items():
            if execution in {None, number}:
                run.graphs = [graph for of, graph in held if of == number]
                run.failures, run.first_failure_at, run.is_stopped = [], None, False
                for graph in run.graphs:
                    naive = self.graphs[graph]
                    failed = (entry for entry, known in enumerate(naive.entries) if known.status is EntryStatus.FAILED)
                    naive.failures = [entry for entry in failed if not naive.mark(entry, Mark.TOLERANT)]
        self.turn([*events, *requests])

    # -- the naive side -----------------------------------------------------------------------------------------

    def tell(self, event: Event, accepted) -> None:
        match event:
            case Submitted(execution=number, stop_after=limit):
                self.runs[number] = NaiveRun(limit)
            case Planned():
                self.planned(event)
            case Finished():
                self.finished(event, next(accepted))
            case Lost(batch=batch):
                for graph, position in self.members.get(batch, []):
                    if graph in self.graphs and self.graphs[graph].entries[position].batch == batch:
                        self.graphs[graph].lost(position)
            case Evaluated(what="applies"):
                for position, value in zip(event.positions.tolist(), event.values.tolist(), strict=True):
                    if event.graph in self.live():
                        self.graphs[event.graph].applies(position, value)
                        self.overtake_reopened(event.graph)
            case CancelRequested():
                self.canceled(event)
            case RetryRequested():
                self.retried(event)
            case CompleteRequested():
                run = self.runs.get(event.execution)
                if run is not None and event.graph in run.graphs:
                    run.overtake()
                    self.graphs[event.graph].completed(event.positions.tolist())
            case RerunRequested():
                run = self.runs.get(event.execution)
                if run is not None and event.graph in run.graphs and not run.is_canceled:
                    self.graphs[event.graph].rerun(event.positions.tolist())
                    self.overtake_reopened(event.graph)
            case WakeRequested():
                run = self.runs.get(event.execution)
                if run is not None and event.graph in run.graphs:
                    wanted = None if event.positions is None else event.positions.tolist()
                    self.graphs[event.graph].hurried(wanted)
        self.count_failures()

    def overtake_reopened(self, graph: int) -> None:
        """A question about a graph in which something was reopened is out of date."""
        if self.graphs[graph].was_reopened:
            self.graphs[graph].was_reopened = False
            next(run for run in self.runs.values() if graph in run.graphs).overtake()

    def planned(self, event: Planned) -> None:
        run = self.runs.get(event.execution)
        if run is None:
            return
        assert run.is_asking
        run.is_asking = False
        if run.is_overtaken:
            run.is_overtaken = False
        elif isinstance(event.answer, Verdict):
            self.ended[event.execution] = self.runs.pop(event.execution)
        else:
            self.graphs[event.graph_id] = NaiveGraph(event.answer)
            run.graphs.append(event.graph_id)

    def finished(self, event: Finished, accepted) -> None:
        members = self.members.get(event.batch, [])
        done = []
        answers = zip(event.members.tolist(), event.kinds.tolist(), event.delays.tolist(), strict=True)
        for member, kind, delay in answers:
            if not 0 <= member < len(members) or member in done:
                continue
            graph, position = members[member]
            if graph in self.live() and self.graphs[graph].entries[position].batch == event.batch:
                self.graphs[graph].answered(position, OutcomeKind(kind), self.now, delay)
                done.append(member)
        assert accepted.members.tolist() == done
        assert len(accepted.members) + len(accepted.rejected) == len(event.members)

    def canceled(self, event: CancelRequested) -> None:
        run = self.runs.get(event.execution)
        if run is None:
            return
        if event.subjects is None:
            run.is_canceled = True
            run.overtake()
        wanted = None if event.subjects is None else event.subjects.tolist()
        for graph in run.graphs:
            self.graphs[graph].canceled(wanted, is_forced=event.how != "wait")

    def retried(self, event: RetryRequested) -> None:
        run = self.runs.get(event.execution)
        if run is None or (event.graph is not None and event.graph not in run.graphs):
            return
        run.attempt += 1
        run.is_canceled = run.is_stopped = False
        run.failures, run.first_failure_at = [], None
        run.overtake()
        graph = event.graph if event.graph is not None else (run.graphs or [None])[-1]
        is_kept = {held: self.graphs[held].moves or (held == graph and not event.replan) for held in run.graphs}
        run.graphs = [held for held in run.graphs if is_kept[held]]
        if graph is not None and not event.replan:
            wanted = None if event.positions is None else event.positions.tolist()
            self.graphs[graph].retried(wanted, include_unsure=event.include_unsure)

    def count_failures(self) -> None:
        for run in self.runs.values():
            for graph in run.graphs:
                naive = self.graphs[graph]
                for entry in naive.failures:
                    run.failures.append((graph, self.group(graph, entry), int(naive.graph.subject[entry])))
                    run.first_failure_at = self.now if run.first_failure_at is None else run.first_failure_at
                naive.failures = []

    def group(self, graph: int, entry: int) -> int:
        groups = self.graphs[graph].graph.group
        return int(groups[entry]) if len(groups) else 0

    def pass_time(self) -> None:
        for naive in self.live().values():
            naive.woken(self.now)
        for run in self.runs.values():
            sizes: dict[tuple[int, int], set[int]] = {}
            for graph in run.graphs:
                for entry, subject in enumerate(self.graphs[graph].graph.subject.tolist()):
                    if subject >= 0:
                        sizes.setdefault((graph, self.group(graph, entry)), set()).add(subject)
            if run.stops(self.now, {place: len(subjects) for place, subjects in sizes.items()}):
                run.is_stopped = True
                for graph in run.graphs:
                    self.graphs[graph].stopped()

    # -- commands -----------------------------------------------------------------------------------------------

    def follow(self, decision: Decision) -> None:
        for command in decision.commands:
            match command:
                case Dispatch(batch):
                    members = [(s.graph, position) for s in batch.segments for position in s.positions.tolist()]
                    assert len(members) <= batch.lane.max_batch
                    careful = [not self.graphs[g].policy(p).repeatable for g, p in members]
                    assert batch.lane.form == "bulk" or not any(careful) or len(members) <= POOLS[batch.lane.pool]
                    self.members[batch.id] = members
                    for graph, position in members:
                        self.graphs[graph].dispatched(position, batch.id)
                    generations = [int(g) for s in batch.segments for g in s.generations]
                    assert generations == [self.graphs[g].entries[p].generation for g, p in members]
                case Ask(execution=number, subjects=None):
                    run = self.runs[number]
                    assert not run.is_asking, "a second question before the first is answered"
                    assert not any(self.graphs[graph].moves for graph in run.graphs)
                    run.is_asking = True
                case Evaluate():
                    self.evaluations.append(command)

    def compare(self) -> None:
        arena = self.scheduler.arena
        assert set(arena.slots) == set(self.live())
        for graph, naive in self.live().items():
            slot = arena.slots[graph]
            status = [EntryStatus(number) for number in arena.status[slot.base : slot.end].tolist()]
            expected = [entry.status for entry in naive.entries]
            assert status == expected, f"graph {graph}: {status} instead of {expected}"
            known = [(e.attempts, e.generation) for e in naive.entries]
            columns = (arena.attempts[slot.base : slot.end].tolist(), arena.generations[slot.base : slot.end].tolist())
            assert list(zip(*columns, strict=True)) == known
            for entry, due in zip(naive.entries, arena.due[slot.base : slot.end].tolist(), strict=True):
                assert entry.status is not EntryStatus.SLEEPING or entry.due == due
        for number, run in self.runs.items():
            moves = any(self.graphs[graph].moves for graph in run.graphs)
            unsure = not moves and any(self.graphs[graph].unsure_count for graph in run.graphs)
            wanted = ExecutionStatus.ATTENTION if unsure else ExecutionStatus.RUNNING
            known_status = self.scheduler.runs[number].status
            if run.is_canceled:
                assert known_status is ExecutionStatus.CANCELING
            elif not run.is_asking:
                assert known_status is wanted, number
            assert self.scheduler.runs[number].attempt == run.attempt
