"""A turn looks at few lanes, and begins the calls that it would begin if it looked at all of them (rule FL4)."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.lanes.lane_index import rotated
from phaseline.engine.lanes.lanes import GATHER_MS, Lane, Lanes
from phaseline.engine.open_batches import OpenBatch
from phaseline.model.graph.graph import LANE_PREFIX, LaneSpec

SPECS = (
    LaneSpec("start"),
    LaneSpec("stop", concurrency=2),
    LaneSpec("create", form="each", pool="threads", max_batch=3),
    LaneSpec("delete", form="each", pool="threads", concurrency=1),
    LaneSpec("wait", interval_ms=70),
    LaneSpec("limited", rate=5.0, burst=2),
    LaneSpec(f"{LANE_PREFIX}Boot", max_batch=4),
    LaneSpec(f"{LANE_PREFIX}Boot", max_batch=7),
    LaneSpec(f"{LANE_PREFIX}Halt"),
)


class Walk(Lanes):
    """All lanes are looked at, as often as one of them may begin a call."""

    def open_lanes(self, now: int, is_more_likely: Callable[[], bool]) -> Iterator[tuple[Lane, int]]:
        for (number, _), lane in list(self.by_key.items()):
            if not (lane.waiting or lane.running or lane.opens_at > now):
                self._forget(lane, number, now)
                self.index._remove(lane)
        lanes = list(self.by_key.values())
        self._next += 1
        turn = (self._next - 1) % max(1, len(lanes))
        waiting = [lane for lane in lanes[turn:] + lanes[:turn] if lane.waiting]
        while waiting:
            begun = False
            for lane in self._ordered(waiting) if self.has_priorities else waiting:
                size = self._may_begin(lane, now, is_more_likely)
                if size:
                    begun = True
                    yield lane, size
                    if self.has_priorities:
                        self._passed_over(lane)
            waiting = [lane for lane in waiting if lane.waiting] if begun else []


class World:
    """Lanes with entries, calls and pauses, told what to do by the numbers of a random story."""

    def __init__(self, lanes: Lanes, specs: tuple[LaneSpec, ...]) -> None:
        self.lanes, self.specs = lanes, specs
        self.lanes.slots = {"bulk": 4, "threads": 3, "workers": 2}
        self.now, self.position, self.told = 1_000, 0, []  # type: int, int, list[object]
        self.batches: list[OpenBatch] = []

    def put(self, spec: int, key: int, count: int, execution: int) -> None:
        lane = self.lanes.lane(spec, self.specs[spec], key)
        lane.fresh.put(execution, np.arange(self.position, self.position + count))
        self.position += count

    def turn(self, *, is_more_likely: bool) -> None:
        for lane, size in self.lanes.open_lanes(self.now, lambda: is_more_likely):
            positions = lane.take(size)
            held = min(len(positions), self.lanes.free(lane.pool)) if lane.spec.form == "each" else 1
            self.lanes.used[lane.pool] = self.lanes.used.get(lane.pool, 0) + held
            number = len(self.told)
            batch = OpenBatch(number, lane, positions, np.zeros(len(positions), np.uint8), len(positions), held)
            lane.begin(batch, self.now)
            self.batches.append(batch)
            self.told.append((self.now, lane.spec.phase, lane.spec.max_batch, lane.key, positions.tolist()))

    def end(self, which: int) -> None:
        if self.batches:
            batch = self.batches.pop(which % len(self.batches))
            lane = batch.lane
            assert lane is not None
            batch.answer(np.arange(len(batch.positions)), 1)
            self.lanes.used[lane.pool] -= batch.held
            lane.running -= 1
            self.lanes.index.stirred.add(lane.number)

    def purge(self, execution: int) -> None:
        for lane in self.lanes.by_key.values():
            lane.purge(execution, lambda chunk: chunk % 2 == 0)
        self.lanes.index.stir_all()


def play(world: World, seed: int, steps: int) -> list[object]:
    """One story; the same numbers for each kind of lanes."""
    draw = random.Random(seed)
    for _ in range(steps):
        kind, one, two = draw.choice("pppptteeeewuslx"), draw.randrange(1_000), draw.randrange(1_000)
        if kind == "p":
            world.put(one % len(world.specs), two % 5, 1 + one % 6, two % 3)
        elif kind in "te":
            world.turn(is_more_likely=bool(one % 3))
            world.end(two)
        elif kind == "w":
            world.now += (1, 20, GATHER_MS, 500)[one % 4]
        elif kind == "u":
            phase = world.specs[one % len(world.specs)].phase
            world.lanes.pause(phase, is_paused=bool(two % 2), is_probe=two % 5 == 0)
        elif kind == "s":
            world.lanes.slots["threads"] = one % 4
        elif kind == "x":
            world.purge(two % 3)
        world.lanes.next_opening(world.now)
    return world.told


@pytest.mark.parametrize("specs", [SPECS, (*SPECS, LaneSpec("first", priority=3))], ids=["plain", "priorities"])
@given(seed=st.integers(0, 2**32))
def test_fl4_the_calls_are_those_of_a_walk_over_all_lanes(specs: tuple[LaneSpec, ...], seed: int) -> None:
    assert play(World(Lanes(), specs), seed, 120) == play(World(Walk(), specs), seed, 120)


@given(seed=st.integers(0, 2**32))
def test_fl4_whatever_may_call_at_a_time_is_told_before(seed: int) -> None:
    """No lane is forgotten: where a walk would begin a call at a later time, the alarm is set by then."""
    world = World(Lanes(), SPECS)
    play(world, seed, 80)
    world.lanes.slots = {"bulk": 99, "threads": 99}
    for phase in {spec.phase for spec in SPECS}:
        world.lanes.pause(phase, is_paused=False)
    for _ in range(400):
        world.turn(is_more_likely=False)
        while world.batches:
            world.end(0)
        if not sum(lane.waiting for lane in world.lanes.by_key.values()):
            break
        at = world.lanes.next_opening(world.now)
        world.turn(is_more_likely=False)
        if not world.batches and at is not None:
            world.now = at
    assert sum(lane.waiting for lane in world.lanes.by_key.values()) == 0


@pytest.mark.parametrize(("first", "found"), [(0, [1, 3, 7]), (3, [3, 7, 1]), (4, [7, 1, 3]), (9, [1, 3, 7])])
def test_numbers_are_rotated(first: int, found: list[int]) -> None:
    assert rotated([7, 1, 3, 1], first) == found


def lone(lanes: Lanes, number: int) -> Lane:
    """A lane of its own operation with an entry."""
    lane = lanes.lane(number, LaneSpec(f"operation-{number}"), 0)
    lane.fresh.put(1, np.array([number]))
    return lane


def test_a_lane_that_is_told_to_have_changed_after_it_is_gone_is_forgotten() -> None:
    lanes = Lanes()
    gone, there = lanes.lane(0, LaneSpec("gone"), 0), lone(lanes, 1)
    list(lanes.open_lanes(0, lambda: False))
    assert list(lanes.index.lanes) == [there.number]
    lanes.index.stirred = {gone.number, there.number}
    assert lanes.index.take_empty(0) == []
    assert lanes.index.stirred == {there.number}


def test_the_time_of_a_lane_that_is_gone_is_forgotten() -> None:
    lanes = Lanes()
    gone = lanes.lane(0, LaneSpec("gone"), 0)
    gone.fresh.put(1, np.array([0]))
    gone.opens_at = 70
    lanes.index.closed_until(gone)
    gone.purge(1, lambda chunk: chunk < 0)
    gone.opens_at = 0
    assert lanes.index.take_empty(0) == [(gone, 0)]
    assert lanes.index.first_opening(0) is None
    assert lanes.index.stirred == set()


def test_a_lane_that_has_changed_and_waits_for_slots_comes_once() -> None:
    lanes = Lanes()
    first, second, third = (lone(lanes, number) for number in range(3))
    for lane in (first, second):
        lanes.index.block(lane)
    chosen = [first.number, third.number]
    assert list(lanes.index.merged(chosen, 0, lambda pool: 9)) == [first.number, second.number, third.number]


def hosts(lanes: Lanes, count: int) -> None:
    """An entry and a running call in each of ``count`` lanes of nine operations."""
    for number in range(count):
        spec = number % 9
        lane = lanes.lane(spec, LaneSpec(f"operation-{spec}"), number // 9)
        lane.fresh.put(1, np.array([number]))
        lane.running = 1
        lane.shelves = None


class Looks(Lanes):
    """Counts how many lanes are looked at."""

    looked = 0

    def _may_begin(self, lane: Lane, now: int, is_more_likely: Callable[[], bool]) -> int:
        self.looked += 1
        return super()._may_begin(lane, now, is_more_likely)


def test_fl4_a_turn_with_ten_thousand_lanes_looks_at_those_in_which_something_has_changed() -> None:
    lanes = Looks(lambda _, positions: np.zeros(len(positions), np.int64))
    lanes.slots["bulk"] = 0
    hosts(lanes, 10_000)
    assert list(lanes.open_lanes(0, lambda: False)) == []
    assert lanes.looked == 10_000
    lanes.looked = 0
    assert list(lanes.open_lanes(1, lambda: False)) == []
    assert lanes.looked == 0
    lanes.lane(3, LaneSpec("operation-3"), 40)
    assert list(lanes.open_lanes(2, lambda: False)) == []
    assert lanes.looked == 1


@pytest.mark.alone
def test_fl4_ten_thousand_lanes_are_made_in_100_ms_and_a_turn_takes_less_than_1_ms() -> None:
    made, turns = [], []
    for _ in range(5):
        lanes = Lanes()
        lanes.slots["bulk"] = 0
        began = time.thread_time()
        hosts(lanes, 10_000)
        made.append(time.thread_time() - began)
        list(lanes.open_lanes(0, lambda: False))
        began = time.thread_time()
        for now in range(100):
            lanes.lane(3, LaneSpec("operation-3"), 40)
            assert list(lanes.open_lanes(now, lambda: False)) == []
            lanes.next_opening(now)
        turns.append((time.thread_time() - began) / 100)
    assert min(made) < 0.1
    assert min(turns) < 0.001
