"""Many lanes, as 1,000 hosts with nine operations each make them: what making a lane and looking for calls costs."""

from __future__ import annotations

import time

import numpy as np

from bench.figures import Spread
from bench.report import Row
from phaseline.engine.lanes.lanes import Lanes
from phaseline.model.graph.graph import LaneSpec

LANES, OPERATIONS, TURNS = 10_000, 9, 1_000


def rows(count: int) -> list[Row]:
    """10,000 lanes that wait for slots are made one by one; then entries come into one of them each turn."""
    print("lanes", flush=True)
    made, turns = zip(*(_laps() for _ in range(count)), strict=True)
    making, turn = Spread(made), Spread(turns)
    return [
        Row(f"{LANES:,} lanes made (FL4)", making.text("ms", 0), "≤ 100 ms", making.median <= 100),
        Row(f"a turn's look at {LANES:,} lanes (FL4)", turn.text("ms", 4), "≤ 1 ms", turn.median <= 1),
    ]


def _laps() -> tuple[float, float]:
    """Milliseconds of (making all lanes, one turn)."""
    lanes = Lanes()
    specs = [LaneSpec(f"operation-{number}") for number in range(OPERATIONS)]
    began = time.perf_counter()
    for number in range(LANES):
        lane = lanes.lane(number % OPERATIONS, specs[number % OPERATIONS], number // OPERATIONS)
        lane.fresh.put(1, np.array([number]))
    made = time.perf_counter() - began
    list(lanes.open_lanes(0, lambda: False))
    began = time.perf_counter()
    for now in range(TURNS):
        lanes.lane(3, specs[3], now % 1_000).fresh.put(1, np.array([LANES + now]))
        list(lanes.open_lanes(now, lambda: False))
        lanes.next_opening(now)
    return made * 1_000, (time.perf_counter() - began) * 1_000 / TURNS
