"""What trickles into a bulk phase shares calls (decision 5, ADR 0030): on a virtual clock, by seed."""

import heapq
from collections import Counter
from itertools import count
from random import Random

import numpy as np
import pytest

from phaseline.engine.invariants import validate
from phaseline.engine.lanes.lanes import GATHER_AFTER, GATHER_MS, RECENT_KEPT, Lanes
from phaseline.engine.scheduler import Scheduler
from phaseline.model.execution.events import (
    Ask,
    Batch,
    Dispatch,
    Event,
    Finished,
    Planned,
    SlotsChanged,
    Submitted,
    WakeAt,
)
from phaseline.model.execution.execution import Verdict
from phaseline.model.graph.graph import Graph, LaneSpec, Policy, Step, SubjectKind
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind

PHASES = ("phase:boot", "phase:join", "phase:mount", "phase:check", "phase:report")
CHECKED_EVERY = 50
"""Turns after each of which the invariants are looked at."""
CALL_MS = 5
"""How long a bulk call takes."""


def states(subjects: int, phases: tuple[str, ...], *, trickles: bool, first: int = 0, cap: int = 1_000_000) -> Graph:
    """Phases one after the other for each subject; the first is called one by one where its outcomes are to trickle."""
    entries = len(phases) * subjects
    forms = ["each" if trickles and place == 0 else "bulk" for place in range(len(phases))]
    return Graph(
        "state",
        tuple(Step(phase, SubjectKind.INSTANCE, at * subjects, subjects) for at, phase in enumerate(phases)),
        tuple(
            Policy(LaneSpec(name, form=form, max_batch=cap), repeatable=True)
            for name, form in zip(phases, forms, strict=True)
        ),
        subject=np.tile(np.arange(first, first + subjects, dtype=np.int32), len(phases)),
        policy=np.repeat(np.arange(len(phases), dtype=np.uint16), subjects),
        marks=np.zeros(entries, np.uint8),
        ptr=np.minimum(np.arange(entries + 1), entries - subjects).astype(np.int32),
        idx=np.arange(subjects, entries, dtype=np.int32),
    )


class Clouds:
    """Calls take their time, on a clock that jumps to whatever comes next. ``begun``: (ms, phase, members) of each."""

    def __init__(self, seed: int, *, longest_ms: int, phases: tuple[str, ...] = PHASES) -> None:
        self.phases, self.turns = phases, 0
        self.scheduler = Scheduler(checked=True)
        self.random, self.longest_ms = Random(seed), longest_ms
        self.now, self.wake = 0, None
        self.coming: list[tuple[int, int, Event]] = []
        self.order = count()
        self.begun: list[tuple[int, str, int]] = []
        self.ready_at: dict[tuple[str, int], int] = {}
        self.waits: list[int] = []
        self.graphs: dict[int, Graph] = {}
        self.at(0, SlotsChanged("bulk", 16))
        self.at(0, SlotsChanged("threads", 10_000))

    def at(self, ms: int, event: Event) -> None:
        heapq.heappush(self.coming, (ms, next(self.order), event))

    def submit(self, ms: int, graph: Graph) -> None:
        number = len(self.graphs) + 1
        self.graphs[number] = graph
        self.at(ms, Submitted(number, number))

    def run(self) -> Counter[str]:
        """Until nothing happens any more; {phase: calls}."""
        while self.coming or self.wake is not None:
            times = [self.coming[0][0]] if self.coming else []
            self.now = max(self.now, min([*times, *([self.wake] if self.wake is not None else [])]))
            self.wake = None if self.wake is not None and self.wake <= self.now else self.wake
            events = []
            while self.coming and self.coming[0][0] <= self.now:
                events.append(heapq.heappop(self.coming)[2])
            self.turn(events)
        assert not self.scheduler.runs, "everybody has arrived"
        return Counter(phase for _, phase, _ in self.begun)

    def turn(self, events: list[Event]) -> None:
        while True:
            decision = self.scheduler.handle(events, self.now)
            self.turns += 1
            if not self.turns % CHECKED_EVERY:
                validate(self.scheduler)
            events = []
            for command in decision.commands:
                if isinstance(command, Dispatch):
                    self.call(command.batch)
                elif isinstance(command, WakeAt):
                    self.wake = command.at
                elif isinstance(command, Ask):
                    graph = self.graphs.get(command.execution) if not command.graph else None
                    answer = Verdict(ExecutionStatus.COMPLETED) if graph is None else graph
                    events.append(Planned(command.execution, answer, 0 if graph is None else command.execution))
            if not events:
                return

    def call(self, batch: Batch) -> None:
        phase = batch.lane.phase
        self.begun.append((self.now, phase, len(batch)))
        for segment in batch.segments:
            self.waits += [self.now - self.ready_at.get((phase, one), self.now) for one in segment.subjects.tolist()]
        if batch.lane.form == "each":
            for member in range(len(batch)):
                self.end(batch, [member], self.random.randrange(self.longest_ms))
        else:
            self.end(batch, list(range(len(batch))), CALL_MS)

    def end(self, batch: Batch, members: list[int], after_ms: int) -> None:
        size = len(members)
        kinds, delays = np.full(size, OutcomeKind.COMPLETED, np.uint8), np.full(size, -1, np.int64)
        self.at(self.now + after_ms, Finished(batch.id, np.array(members, np.int32), kinds, delays))
        place = self.phases.index(batch.lane.phase) + 1
        for segment in batch.segments if place < len(self.phases) else ():
            for subject in segment.subjects[members].tolist():
                self.ready_at[self.phases[place], subject] = self.now + after_ms


@pytest.mark.parametrize("seed", range(3))
def test_pd35_resources_that_trickle_in_share_calls(seed: int) -> None:
    clouds = Clouds(seed, longest_ms=5_000)
    clouds.submit(0, states(500, PHASES, trickles=True))
    calls = clouds.run()
    bulk = sum(calls[phase] for phase in PHASES[1:])
    assert sum(size for _, phase, size in clouds.begun if phase in PHASES[1:]) == 2_000
    assert bulk <= 4 * (5_000 / GATHER_MS + GATHER_AFTER + 2), f"{bulk} calls; there were 1,700"
    assert max(clouds.waits) <= GATHER_MS + CALL_MS


def test_pd35_the_same_events_give_the_same_calls() -> None:
    def begun() -> list[tuple[int, str, int]]:
        clouds = Clouds(7, longest_ms=3_000)
        clouds.submit(0, states(200, PHASES, trickles=True))
        clouds.run()
        return clouds.begun

    assert begun() == begun()


def test_pd35_who_comes_alone_does_not_wait() -> None:
    clouds = Clouds(0, longest_ms=1)
    for number in range(20):
        clouds.submit(number * 200, states(1, PHASES, trickles=False, first=number))
    clouds.run()
    assert [ms for ms, phase, _ in clouds.begun if phase == PHASES[0]] == [number * 200 for number in range(20)]
    assert clouds.waits == [0] * 100


def test_pd35_nobody_waits_when_nothing_else_runs() -> None:
    clouds = Clouds(0, longest_ms=1)
    for number in range(40):
        clouds.submit(number * 10, states(1, PHASES[:1], trickles=False, first=number))
    clouds.run()
    assert [ms for ms, _, _ in clouds.begun] == [number * 10 for number in range(40)], "its own call was over each time"


def test_pd35_a_full_batch_does_not_wait() -> None:
    clouds = Clouds(0, longest_ms=1)
    clouds.submit(0, states(10_000, PHASES, trickles=False, cap=100))
    calls = clouds.run()
    assert calls == dict.fromkeys(PHASES, 100)
    assert clouds.now == CALL_MS * (100 + len(PHASES) - 1), "phases follow one another at the pace of their calls"


def test_pd35_a_hundred_thousand_that_are_released_together_are_a_call_for_each_phase() -> None:
    clouds = Clouds(0, longest_ms=1)
    clouds.submit(0, states(100_000, PHASES, trickles=False))
    assert clouds.run() == dict.fromkeys(PHASES, 1)


def test_pd35_operations_never_wait_for_company() -> None:
    operations = tuple(phase.removeprefix("phase:") for phase in PHASES)
    clouds = Clouds(0, longest_ms=2_000, phases=operations)
    clouds.submit(0, states(300, operations, trickles=True))
    clouds.run()
    assert max(clouds.waits) <= CALL_MS


def test_how_quickly_lanes_were_called_is_forgotten_when_it_says_nothing_any_more() -> None:
    lanes = Lanes()

    def called(key: int, now: int) -> None:
        lane = lanes.lane(0, LaneSpec("phase:boot", form="bulk"), key)
        lane.began_at, lane.in_succession = now, GATHER_AFTER
        assert list(lanes.open_lanes(now, lambda: False)) == []  # nothing is left in it: it is forgotten

    for key in range(RECENT_KEPT):
        called(key, 0)
    late = 2 * GATHER_MS
    called(RECENT_KEPT, late)
    assert lanes.lane(0, LaneSpec("phase:boot", form="bulk"), RECENT_KEPT).in_succession == GATHER_AFTER
    assert lanes.lane(0, LaneSpec("phase:boot", form="bulk"), 0).in_succession == 0
