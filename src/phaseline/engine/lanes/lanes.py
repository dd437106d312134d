"""Entries that wait for a call, in lanes of entries that may share one.

A lane is keyed by (number of its specification, key). It keeps one queue for each execution and fills a batch from them in
turns, so that a large execution cannot starve a small one. An entry that comes to a full bulk lane of operations waits
only for calls of its own function (``shelves``). Ties: lanes in the order in which they were made,
beginning one further each turn; executions in the order in which they joined the lane; entries
in the order in which they arrived, those that arrived together by position.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine.lanes.function_shelves import FunctionShelves
from phaseline.engine.lanes.queues import Queue
from phaseline.engine.lanes.rate_limits import TokenBuckets
from phaseline.lang.fast_dataclasses import mutable
from phaseline.model.graph.graph import LANE_PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from phaseline.engine.open_batches import OpenBatch
    from phaseline.model.graph.graph import LaneSpec

    FunctionsOf = Callable[[str, np.ndarray], np.ndarray]

REPEATABLE_EACH_BATCH = 1000
"""The most members of one batch of a repeatable per-instance phase; others get at most the number of free slots."""

GATHER_MS = 50
"""Window of PD35, in ms after the begin of a lane's last call: entries that trickle in during it share a call."""
GATHER_AFTER = 4
"""The number of calls in quick succession from which on entries of a lane count as trickling in (ADR 0030)."""

RECENT_KEPT = 256
"""The number of removed lanes whose last call is remembered before old ones are forgotten."""

MOST_PASSED_OVER = 8
"""The number of batches of other lanes after which a lane comes first, whatever its priority."""


@mutable
class Lane:
    """The waiting entries of one specification and key, and its limits in use."""

    spec: LaneSpec
    key: int
    pool: str
    """The pool whose slots its calls use."""
    fresh: Queue = field(default_factory=Queue)
    """Entries whose functions were not looked up yet."""
    shelves: FunctionShelves | None = None
    """Entries by function; None until the lane was full with entries waiting."""
    running: int = 0
    is_paused: bool = False
    is_probe: bool = False
    is_careful: bool = False
    """Some of its entries must not be called twice."""
    opens_at: int = 0
    began_at: int = -GATHER_MS
    in_succession: int = 0
    """The number of consecutive batches begun, each no later than ``GATHER_MS`` after the one before."""
    passed_over: int = 0
    """The number of batches of other lanes since this lane's last one, while entries wait in it."""
    untold: list[OpenBatch] = field(default_factory=list)
    """Open batches that are not yet reported to the shelves."""

    @property
    def waiting(self) -> int:
        """The number of waiting entries."""
        return self.fresh.count if self.shelves is None else self.fresh.count + self.shelves.count

    def take(self, limit: int) -> np.ndarray:
        """At most ``limit`` entries, first of those on the shelves; from the executions in equal shares."""
        if self.shelves is None or not self.shelves.count:
            return self.fresh.take(limit)
        taken = self.shelves.take(limit)
        room = limit - sum(map(len, taken))
        if room and self.fresh.count:
            taken.append(self.fresh.take(room))
        return taken[0] if len(taken) == 1 else np.concatenate(taken)

    def purge(self, execution: int, keeps: Callable[[np.ndarray], np.ndarray]) -> None:
        """Take out the entries of an execution that ``keeps`` (positions -> bool) does not keep."""
        for queue in (self.fresh, self.shelves):
            if queue is not None:
                queue.purge(execution, keeps)

    def move(self, moved: np.ndarray) -> None:
        """Replace the positions of entries by their new positions after a compaction."""
        for queue in (self.fresh, self.shelves):
            if queue is not None:
                queue.move(moved)

    def begin(self, batch: OpenBatch, now: int) -> None:
        """Record that a batch begins."""
        if self.is_mixed:
            self.untold = [*(one for one in self.untold if one.pending), batch]
        self.running += 1
        self.opens_at = now + self.spec.interval_ms
        self.in_succession = self.in_succession + 1 if now - self.began_at <= GATHER_MS else 1
        self.began_at = now

    def gathers_until(self, now: int) -> int:
        """Until when its entries should wait for others that could share their call; ``now`` or earlier: not at all.

        They wait in a bulk lane of a phase that began call after call, until 50 ms after the last one, unless a batch is full.
        """
        if self.in_succession < GATHER_AFTER or self.waiting >= self.spec.max_batch or not self.is_gathering:
            return now
        return self.began_at + GATHER_MS

    @property
    def is_gathering(self) -> bool:
        """Whether its entries may wait to share a call: those of bulk phases do, because one call runs at a time (PD35)."""
        return self.spec.form == "bulk" and self.spec.phase.startswith(LANE_PREFIX)

    @property
    def is_mixed(self) -> bool:
        """Whether its calls have several functions: those of operations do; a run of a phase takes all resources (PD35)."""
        return self.spec.form == "bulk" and not self.spec.phase.startswith(LANE_PREFIX)

    @property
    def is_full(self) -> bool:
        """Whether the lane has as many calls as it may, of any function."""
        calls = self.spec.concurrency or (1 if self.spec.form == "bulk" else 0)
        return 0 < calls <= self.running

    def sort(self, functions_of: FunctionsOf) -> None:
        """Put waiting entries on the shelves of their functions, and record the functions with running calls."""
        if self.shelves is None:
            self.shelves = FunctionShelves(self.spec.concurrency or 1)
        for batch in self.untold:
            members = batch.pending_members()
            if len(members):
                self.shelves.begun(batch.count(members, functions_of(self.spec.phase, batch.positions[members])))
        self.untold.clear()
        if self.fresh.count:
            for crowd in self.fresh.drain():
                self.shelves.put(crowd, functions_of(self.spec.phase, crowd[1]))

    def limit(self, free: int) -> int:
        """The most members of the next batch when the pool has ``free`` slots; 0: no batch now. A full lane must be sorted before."""
        if self.is_paused or not self.waiting or free <= 0:
            return 0
        if self.is_probe:
            return 0 if self.running else 1
        if self.is_full and not (self.shelves is not None and self.shelves.ready):
            return 0
        if self.spec.form == "each":
            return min(self.spec.max_batch, free if self.is_careful else REPEATABLE_EACH_BATCH)
        return self.spec.max_batch


class Lanes:
    """All lanes, and the free slots of each pool."""

    def __init__(self, functions_of: FunctionsOf = lambda _, positions: np.zeros(len(positions), np.int64)) -> None:
        """Begin without lanes and slots. ``functions_of``: numbers of the functions that an operation calls for entries at positions."""
        self._functions_of = functions_of
        self.by_key: dict[tuple[int, int], Lane] = {}
        self.paused: set[str] = set()
        self.probed: set[str] = set()
        self.slots: dict[str, int] = {}
        self.used: dict[str, int] = {}
        self.careful: set[int] = set()
        """Numbers of specifications with entries that must not be called twice."""
        self.rates = TokenBuckets()
        self.has_windows = self.has_priorities = False
        self.changed: set[str] = set()
        """Phases that had lanes of an older and a newer specification at the same time."""
        self._next = 0
        self._recent: dict[tuple[int, int], tuple[int, int]] = {}
        self._recent_looks_at = RECENT_KEPT

    def lane(self, number: int, spec: LaneSpec, key: int) -> Lane:
        """The lane of the specification with this number and of a key; it is created if necessary."""
        lane = self.by_key.get((number, key))
        if lane is None:
            self.has_windows |= spec.coalesce_ms > 0
            self.has_priorities |= spec.priority != 0
            for (other, _), known in self.by_key.items():
                if other != number and known.spec.phase == spec.phase:
                    self.changed.add(spec.phase)
            is_paused, is_probe = spec.phase in self.paused, spec.phase in self.probed
            lane = Lane(spec, key, pool_of(spec), is_paused=is_paused, is_probe=is_probe)
            if (number, key) in self._recent:
                lane.began_at, lane.in_succession = self._recent.pop((number, key))
            self.by_key[number, key] = lane
        lane.is_careful = number in self.careful
        return lane

    def pause(self, phase: str, *, is_paused: bool, is_probe: bool = False) -> None:
        """Pause or open every lane of a phase, future ones included; or open it for one member at a time."""
        (self.paused.add if is_paused else self.paused.discard)(phase)
        (self.probed.add if is_probe else self.probed.discard)(phase)
        for lane in self.by_key.values():
            if lane.spec.phase == phase:
                lane.is_paused, lane.is_probe = is_paused, is_probe

    def free(self, pool: str) -> int:
        """Free slots of a pool."""
        return self.slots.get(pool, 0) - self.used.get(pool, 0)

    def about_to_begin(self, now: int) -> list[Lane]:
        """Lanes with a window that may begin a batch now: sleepers that are due soon may join it (X5)."""
        lanes = [lane for lane in self.by_key.values() if lane.spec.coalesce_ms and lane.opens_at <= now]
        return [lane for lane in lanes if lane.limit(self.free(lane.pool))]

    def open_lanes(self, now: int, is_more_likely: Callable[[], bool]) -> Iterator[tuple[Lane, int]]:
        """(lane, batch size) while one may begin a batch; the caller takes it before it asks for the next.

        The iteration ends after a whole turn without a batch. Empty lanes are forgotten. ``is_more_likely``: whether
        entries that could share a call may come soon; only called if entries trickle in.
        """
        empty = [key for key, lane in self.by_key.items() if not (lane.waiting or lane.running or lane.opens_at > now)]
        for key in empty:
            self._forget(key, now)
        waiting = self._in_turn()
        while waiting:
            begun = False
            for lane in self._ordered(waiting) if self.has_priorities else waiting:
                if lane.opens_at > now or (lane.gathers_until(now) > now and is_more_likely()):
                    continue
                free = self.slots.get(lane.pool, 0) - self.used.get(lane.pool, 0)
                if free > 0 and lane.is_full and lane.is_mixed and not lane.is_paused:
                    lane.sort(self._functions_of)
                size = lane.limit(free)
                if not size or (self.changed and self._runs_elsewhere(lane)):
                    continue
                delay = self.rates.take(lane.spec, lane.key, now) if lane.spec.rate else 0
                if delay:
                    lane.opens_at = now + delay
                else:
                    begun = True
                    yield lane, size
                    if self.has_priorities:
                        self._passed_over(lane)
            waiting = [lane for lane in waiting if lane.waiting] if begun else []

    def _forget(self, key: tuple[int, int], now: int) -> None:
        """Forget a lane; the pace of its calls is remembered while it matters."""
        lane = self.by_key.pop(key)
        if lane.is_gathering and now - lane.began_at <= GATHER_MS:
            if len(self._recent) >= self._recent_looks_at:
                self._recent = {key: began for key, began in self._recent.items() if now - began[0] <= GATHER_MS}
                self._recent_looks_at = max(RECENT_KEPT, 2 * len(self._recent))  # seldom, however many there are
            self._recent[key] = lane.began_at, lane.in_succession

    def _in_turn(self) -> list[Lane]:
        """Lanes with waiting entries, beginning one further each time."""
        lanes = list(self.by_key.values())
        self._next += 1
        if len(lanes) > 1:
            turn = (self._next - 1) % len(lanes)
            lanes = lanes[turn:] + lanes[:turn]
        return [lane for lane in lanes if lane.waiting]

    def _ordered(self, lanes: list[Lane]) -> list[Lane]:
        """Lanes by priority, then in turn; one that was passed over too often comes first, so that none starves (PD32)."""
        return sorted(lanes, key=lambda lane: (lane.passed_over < MOST_PASSED_OVER, -lane.spec.priority))

    def _passed_over(self, begun: Lane) -> None:
        """Count that other lanes with waiting entries were passed over by this batch."""
        for lane in self.by_key.values():
            lane.passed_over += lane.waiting > 0
        begun.passed_over = 0

    def _runs_elsewhere(self, lane: Lane) -> bool:
        """True for a phase of states with the most runs allowed, some of them in lanes of another specification."""
        spec = lane.spec
        if spec.phase not in self.changed or spec.form != "bulk" or not spec.phase.startswith(LANE_PREFIX):
            return False
        others = [other for other in self.by_key.values() if other.spec.phase == spec.phase and other.key == lane.key]
        return sum(other.running for other in others) >= (spec.concurrency or 1)

    def next_opening(self, now: int) -> int | None:
        """When the next lane opens that waits only for its interval, its rate or further entries."""
        first = None
        for lane in self.by_key.values():
            opens_at = max(lane.opens_at, lane.gathers_until(now))
            if opens_at > now and lane.waiting and (first is None or opens_at < first):
                first = opens_at
        return first


def pool_of(spec: LaneSpec) -> str:
    """The pool whose slots count: bulk calls have their own, so that slow members never block them."""
    return "bulk" if spec.form == "bulk" else spec.pool
