"""The scheduler equals a naive reading of the needs, after every event, on random graphs and with crashes anywhere."""

import numpy as np
from hypothesis import given, note
from hypothesis import strategies as st
from tests.engine.world import OF_THREE, World

from phaseline.model.execution.events import (
    CancelRequested,
    CompleteRequested,
    Evaluated,
    Event,
    Finished,
    LaneChanged,
    Lost,
    Planned,
    RerunRequested,
    RetryRequested,
    Submitted,
    Tick,
    WakeRequested,
)
from phaseline.model.execution.execution import StopAfter, Verdict
from phaseline.model.graph.graph import Graph, LaneSpec, Policy
from phaseline.model.graph.status import ExecutionStatus, Mark, OutcomeKind
from phaseline.testing.graphs import graph_of

SPECS = (
    LaneSpec("bulk"),
    LaneSpec("narrow", max_batch=2, concurrency=2),
    LaneSpec("keyed", key="region"),
    LaneSpec("slow", interval_ms=20),
    LaneSpec("each", form="each"),
    LaneSpec("worker", form="each", pool="workers", max_batch=3),
)
OUTCOMES = (OutcomeKind.COMPLETED, OutcomeKind.COMPLETED, OutcomeKind.AGAIN, OutcomeKind.RETRY, OutcomeKind.FAILED,
            OutcomeKind.UNSURE)  # fmt: skip
MARKS = (
    0, 0, 0, Mark.TOLERANT, Mark.ABSENT, Mark.CONDITIONAL, Mark.CONDITIONAL, Mark.CONDITIONAL | Mark.TOLERANT,
    Mark.ABSENT | Mark.ANY, Mark.ABSENT | Mark.ENDED, Mark.ABSENT | Mark.EXIT, Mark.ABSENT | Mark.CONDITIONAL,
)  # fmt: skip
LIMITS = (None, None, StopAfter(failures=0), StopAfter(failures=1), StopAfter(share=0.4), StopAfter(seconds=0.03))

policies = st.builds(
    Policy,
    st.sampled_from(SPECS),
    max_retries=st.sampled_from((-1, 0, 1)),
    retry_interval_ms=st.sampled_from((0, 10)),
    backoff_ms=st.sampled_from(((), (3, 7))),
    timeout_ms=st.sampled_from((0, 5)),
    repeatable=st.booleans(),
    cancel_wins=st.sampled_from((False, False, True)),
    answers_stop=st.sampled_from((False, False, True)),
)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    count = draw(st.integers(0, 8))
    table = draw(st.lists(policies, min_size=1, max_size=3))
    order = draw(st.permutations(range(count)))
    needs: dict[int, list[int]] = {}
    for place, entry in enumerate(order):
        earlier = order[:place]
        if earlier:
            needs[entry] = draw(st.lists(st.sampled_from(earlier), max_size=3, unique=True))
    return graph_of(
        [draw(st.integers(0, len(table) - 1)) for _ in range(count)],
        needs=needs,
        policies=table,
        marks={entry: draw(st.sampled_from(MARKS)) for entry in range(count)},
        subjects=[draw(st.integers(0, 3)) for _ in range(count)],
        groups=draw(st.sampled_from(((), [entry % 2 for entry in range(count)]))),
    )


class Chance:
    """Draws what happens next, out of what may happen in this world."""

    def __init__(self, data: st.DataObject, world: World) -> None:
        self.data, self.world = data, world

    def one(self, *values):
        return self.data.draw(st.sampled_from(values))

    def some(self, values: list[int]) -> np.ndarray:
        chosen = self.data.draw(st.lists(st.sampled_from(values), unique=True)) if values else []
        return np.array(chosen, np.int32)

    def turn(self) -> list[Event]:
        """What the shell owes comes first; the answers of planners stand anywhere among the rest."""
        world = self.world
        owed = [self.evaluated(command) for command in world.evaluations]
        world.evaluations = []
        rest = [event for _ in range(self.data.draw(st.integers(0, 3))) for event in self.event()]
        for execution, run in world.runs.items():
            if run.is_asking and self.one(True, True, False):
                rest.insert(self.data.draw(st.integers(0, len(rest))), self.planned(execution))
        return owed + rest

    def evaluated(self, command) -> Evaluated:
        most = 2 if command.what == "applies" else 1
        values = [self.data.draw(st.integers(0, most)) for _ in command.positions]
        return Evaluated(command.graph, command.positions, command.what, np.array(values, np.int32))

    def planned(self, execution: int) -> Planned:
        if len(self.world.runs[execution].graphs) < 3 and self.one(True, False):
            self.world.next_graph += 1
            return Planned(execution, self.data.draw(graphs()), self.world.next_graph, OF_THREE)
        return Planned(execution, Verdict(self.one(ExecutionStatus.COMPLETED, ExecutionStatus.FAILED)))

    def event(self) -> list[Event]:
        world = self.world
        kind = self.one("answer", "answer", "answer", "answer", "submit", "lost", "tick", "user", "lane", "applies")
        if kind == "answer" and world.members:
            return [self.finished()]
        if kind == "lost" and world.members:
            return [Lost(self.one(*world.members))]
        if kind == "user" and world.runs:
            return [self.user()]
        if kind == "applies" and world.live():
            return [self.applying()]
        if kind == "lane":
            return [LaneChanged(self.one(*SPECS).phase, is_paused=self.one(True, False, False))]
        if kind == "submit" and len(world.runs) < 3:
            number = len(world.recorder.limits) + 1
            world.recorder.limits[number] = limit = self.one(*LIMITS)
            return [Submitted(number, 1, limit)]
        return [Tick()]

    def applying(self) -> Evaluated:
        """Somebody says, unasked, of some entries whether they apply now."""
        graph = self.one(*self.world.live())
        positions = self.some(list(range(len(self.world.graphs[graph].entries))))
        values = [self.one(0, 1, 1, 2) for _ in positions]
        return Evaluated(graph, positions, "applies", np.array(values, np.int32))

    def finished(self) -> Finished:
        batch = self.one(*world_batches(self.world))
        size = len(self.world.members[batch])
        members = self.data.draw(st.lists(st.integers(-1, size), max_size=5)) if self.one(True, False) else range(size)
        kinds = [self.one(*OUTCOMES) for _ in members]
        delays = [self.one(-1, -1, 0, 7) for _ in members]
        return Finished(batch, np.array(members, np.int32), np.array(kinds, np.uint8), np.array(delays, np.int64))

    def user(self) -> Event:
        world = self.world
        execution = self.one(*world.runs)
        held = world.runs[execution].graphs
        what = self.one("cancel", "cancel subjects", "retry", "retry some", "replan", "complete", "wake", "rerun")
        graph = self.one(*held) if held else 99
        entries = list(range(len(world.graphs[graph].entries))) if held else [0]
        match what:
            case "cancel":
                return CancelRequested(execution, self.one("wait", "force", "kill"))
            case "cancel subjects":
                return CancelRequested(execution, self.one("wait", "force"), self.some([0, 1, 2, 3]))
            case "retry":
                return RetryRequested(execution, include_unsure=self.one(True, False))
            case "retry some":
                return RetryRequested(execution, graph, self.some(entries))
            case "replan":
                return RetryRequested(execution, replan=True)
            case "rerun":
                return RerunRequested(execution, graph, self.some(entries))
            case "complete":
                return CompleteRequested(execution, graph, self.some(entries))
            case _:
                return WakeRequested(execution, graph, self.one(None, self.some(entries)))


def world_batches(world: World) -> list[int]:
    """Batches with something to answer, three times, and all others once: late answers are rarer than good ones."""
    waited = {entry.batch for naive in world.live().values() for entry in naive.entries if entry.batch}
    return [*sorted(waited), *sorted(waited), *sorted(waited), *sorted(world.members)]


@given(st.data())
def test_statuses_equal_a_naive_reading_of_the_needs(data: st.DataObject) -> None:
    world = World()
    try:
        live(world, Chance(data, world), data.draw(st.integers(1, 25)))
    except Exception:
        note(world.story())
        raise


def live(world: World, chance: Chance, turns: int) -> None:
    """Some turns of whatever may happen, and then the end."""
    world.turn([Submitted(1, 1)])
    world.recorder.limits[1] = None
    for _ in range(turns):
        world.now += chance.one(0, 1, 10)
        world.turn(chance.turn(), crash=chance.one("", "", "", "", "", "", "before", "after"))
        if world.ended and chance.one(False, False, True):
            reopen(world, chance)
    finish(world)


def reopen(world: World, chance: Chance) -> None:
    """A user retries an execution that has ended: it is taken up from the store."""
    number = chance.one(*world.ended)
    run = world.ended.pop(number)
    world.runs[number] = run
    run.is_canceled = run.is_asking = run.is_overtaken = False
    world.take_up(number, RetryRequested(number, include_unsure=chance.one(True, False)))


def finish(world: World) -> None:
    """If every call now returns completed, and users complete what is unsure, everything comes to an end."""
    world.turn([LaneChanged(spec.phase, is_paused=False) for spec in SPECS])
    for _ in range(60):
        if not world.runs:
            return
        world.now += 20
        events: list[Event] = [
            Evaluated(e.graph, e.positions, e.what, np.ones(len(e.positions), np.int32)) for e in world.evaluations
        ]
        world.evaluations = []
        for batch, members in world.members.items():
            everything = np.arange(len(members), dtype=np.int32)
            if any(world.graphs[g].entries[p].batch == batch for g, p in members if g in world.live()):
                completed = np.full(len(members), OutcomeKind.COMPLETED, np.uint8)
                events.append(Finished(batch, everything, completed, np.full(len(members), -1, np.int64)))
        for number, run in world.runs.items():
            if run.is_asking:
                events.append(Planned(number, Verdict(ExecutionStatus.COMPLETED)))
            elif not run.is_canceled:
                for graph in run.graphs:
                    entries = np.arange(len(world.graphs[graph].entries), dtype=np.int32)
                    if not world.graphs[graph].moves and world.graphs[graph].unsure_count:
                        events.append(CompleteRequested(number, graph, entries))
        world.turn(events)
    raise AssertionError(f"executions {sorted(world.runs)} never end")
