"""Lanes: entries that wait for a call, grouped by whether they may share a call.

A lane is keyed by (number of its specification, key). It keeps one queue for each execution and fills a batch from the
queues in turns, so that a large execution cannot starve a small one. When a bulk lane of an operation is full, an entry
waits only for calls of its own function (``shelves``).

The order of calls never depends on chance. Lanes are served in the order in which they were created, beginning one lane
further each time. Executions are served in the order in which they joined the lane. Entries are served in the order of
arrival, and by position if they arrived together.

A turn looks only at lanes in which something has changed since they were last found unable to begin a call, at lanes
whose time has come, and at lanes of a pool that has free slots (``lane_index``, ADR 0042).
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine.lanes import function_shelves
from phaseline.engine.lanes.lane_index import LaneIndex, rotated
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
"""Most members of one batch whose members are called one by one and may be called twice after a crash.

If they must not be called twice, a batch has at most as many members as its pool has free slots.
"""

GATHER_MS = 50
"""Time in ms from the start of a lane's last call during which new entries are collected for a shared call (PD35)."""
GATHER_AFTER = 4
"""Number of calls in quick succession after which a lane begins to collect entries for a shared call (ADR 0030)."""

RECENT_KEPT = 256
"""Number of removed lanes whose last call time is kept; when reached, times older than ``GATHER_MS`` are deleted."""

MOST_PASSED_OVER = 8
"""Number of batches of other lanes after which a lane with waiting entries comes first, whatever its priority."""


@mutable
class Lane:
    """The waiting entries that share the specification ``spec`` and the key ``key``, and the state of their calls."""

    spec: LaneSpec
    key: int
    pool: str
    """Name of the pool whose slots the lane's calls use."""
    fresh: Queue = field(default_factory=Queue)
    """Waiting entries whose functions have not been looked up."""
    shelves: function_shelves.FunctionShelves | None = None
    """Waiting entries sorted by function, or None if the lane has never been full while entries waited."""
    running: int = 0
    is_paused: bool = False
    is_probe: bool = False
    is_careful: bool = False
    """True if some entries of the lane must not be called twice, even after a crash."""
    opens_at: int = 0
    began_at: int = -GATHER_MS
    in_succession: int = 0
    """Number of consecutive batches that each began at most ``GATHER_MS`` after the batch before."""
    passed_over: int = 0
    """Number of batches that other lanes began since this lane's last batch while this lane had waiting entries."""
    untold: list[OpenBatch] = field(default_factory=list)
    """Open batches that ``shelves`` does not count yet."""
    number: int = 0
    """Number of lanes created before this one; lanes are served in the order of these numbers."""

    @property
    def waiting(self) -> int:
        """Number of waiting entries."""
        return self.fresh.count if self.shelves is None else self.fresh.count + self.shelves.count

    def take(self, limit: int) -> np.ndarray:
        """Remove and return at most ``limit`` entries, entries on shelves first; executions get equal shares."""
        if self.shelves is None or not self.shelves.count:
            return self.fresh.take(limit)
        taken = self.shelves.take(limit)
        room = limit - sum(map(len, taken))
        if room and self.fresh.count:
            taken.append(self.fresh.take(room))
        return taken[0] if len(taken) == 1 else np.concatenate(taken)

    def purge(self, execution: int, keeps: Callable[[np.ndarray], np.ndarray]) -> None:
        """Of this execution's entries, keep only those for which ``keeps`` (positions -> bool array) is True."""
        for queue in (self.fresh, self.shelves):
            if queue is not None:
                queue.purge(execution, keeps)

    def move(self, moved: np.ndarray) -> None:
        """Replace the positions of entries by their new positions after a compaction of the arena."""
        for queue in (self.fresh, self.shelves):
            if queue is not None:
                queue.move(moved)

    def begin(self, batch: OpenBatch, now: int) -> None:
        """Record that a call for this batch begins at the time ``now`` (ms)."""
        if self.is_mixed:
            self.untold = [*(one for one in self.untold if one.pending), batch]
        self.running += 1
        self.opens_at = now + self.spec.interval_ms
        self.in_succession = self.in_succession + 1 if now - self.began_at <= GATHER_MS else 1
        self.began_at = now

    def rejoin(self, batch: OpenBatch) -> None:
        """Record that a call for this batch runs already: a former engine began it."""
        if self.is_mixed:
            self.untold = [*self.untold, batch]
        self.running += 1

    def gathers_until(self, now: int) -> int:
        """Return the time (ms) until which the lane's entries wait for others that could share their call.

        A time not later than ``now`` means that they do not wait. Entries wait only in a bulk lane of a phase with
        calls in quick succession, for at most 50 ms after the start of the last call, and only while they do not fill a
        batch.
        """
        if self.in_succession < GATHER_AFTER or self.waiting >= self.spec.max_batch or not self.is_gathering:
            return now
        return self.began_at + GATHER_MS

    @property
    def is_gathering(self) -> bool:
        """True if entries may wait here to share a call: in bulk phases, because only one call runs at a time (PD35)."""
        return self.spec.form == "bulk" and self.spec.phase.startswith(LANE_PREFIX)

    @property
    def is_mixed(self) -> bool:
        """True if entries here may have different functions: in bulk operations; a phase has only one function (PD35)."""
        return self.spec.form == "bulk" and not self.spec.phase.startswith(LANE_PREFIX)

    @property
    def is_full(self) -> bool:
        """True if the lane has as many open calls as it may have, counting all functions."""
        calls = self.spec.concurrency or (1 if self.spec.form == "bulk" else 0)
        return 0 < calls <= self.running

    def sort(self, functions_of: FunctionsOf) -> None:
        """Move the waiting entries to the shelves of their functions, and count the open calls of each function."""
        if self.shelves is None:
            self.shelves = function_shelves.FunctionShelves(self.spec.concurrency or 1)
        for batch in self.untold:
            members = batch.pending_members()
            if len(members):
                self.shelves.begun(batch.count(members, functions_of(self.spec.phase, batch.positions[members])))
        self.untold.clear()
        if self.fresh.count:
            for crowd in self.fresh.drain():
                self.shelves.put(crowd, functions_of(self.spec.phase, crowd[1]))

    def limit(self, free: int) -> int:
        """Return how many members the next batch may have if the pool has ``free`` slots, or 0 if no batch may begin.

        If the lane is full, ``sort`` must have been called before.
        """
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
    """All lanes of the engine, and the slots of each pool."""

    def __init__(self, functions_of: FunctionsOf = lambda _, positions: np.zeros(len(positions), np.int64)) -> None:
        """Create an object without lanes and slots.

        ``functions_of(operation, positions)`` returns the number of the function that the operation calls for each
        entry.
        """
        self._functions_of = functions_of
        self.by_key: dict[tuple[int, int], Lane] = {}
        self.paused: set[str] = set()
        self.probed: set[str] = set()
        self.slots: dict[str, int] = {}
        self.used: dict[str, int] = {}
        self.careful: set[int] = set()
        """Numbers of specifications that have entries which must not be called twice."""
        self.rates = TokenBuckets()
        self.has_windows = self.has_priorities = False
        self.changed: set[str] = set()
        """Phases that once had lanes of an older and a newer specification at the same time."""
        self.index = LaneIndex()
        self._next = 0
        self._recent: dict[tuple[int, int], tuple[int, int]] = {}
        self._recent_looks_at = RECENT_KEPT

    def lane(self, number: int, spec: LaneSpec, key: int) -> Lane:
        """Return the lane for a key and the specification with this number, for entries to be put into it.

        Create the lane if necessary.
        """
        lane = self.by_key.get((number, key))
        if lane is None:
            self.has_windows |= spec.coalesce_ms > 0
            self.has_priorities |= spec.priority != 0
            is_paused, is_probe = spec.phase in self.paused, spec.phase in self.probed
            lane = Lane(spec, key, pool_of(spec), is_paused=is_paused, is_probe=is_probe)
            if (number, key) in self._recent:
                lane.began_at, lane.in_succession = self._recent.pop((number, key))
            self.by_key[number, key] = lane
            if self.index.add(lane, number):
                self.changed.add(spec.phase)
        self.index.stirred.add(lane.number)
        lane.is_careful = number in self.careful
        return lane

    def pause(self, phase: str, *, is_paused: bool, is_probe: bool = False) -> None:
        """Pause or reopen the present and future lanes of a phase. With ``is_probe`` they call one member at a time."""
        (self.paused.add if is_paused else self.paused.discard)(phase)
        (self.probed.add if is_probe else self.probed.discard)(phase)
        for lane in self.index.of_phase(phase):
            lane.is_paused, lane.is_probe = is_paused, is_probe
            self.index.stirred.add(lane.number)

    def free(self, pool: str) -> int:
        """Return the number of free slots of a pool."""
        return self.slots.get(pool, 0) - self.used.get(pool, 0)

    def about_to_begin(self, now: int) -> list[Lane]:
        """Return lanes that may begin a batch now and have a time window (``coalesce_ms``).

        Sleeping entries that are due within the window may join the batch (X5).
        """
        lanes = [lane for lane in self.index.windowed.values() if lane.opens_at <= now]
        return [lane for lane in lanes if lane.limit(self.free(lane.pool))]

    def open_lanes(self, now: int, is_more_likely: Callable[[], bool]) -> Iterator[tuple[Lane, int]]:
        """Yield (lane, batch size) for each batch that may begin; the caller takes the batch before it continues.

        The iteration ends when no lane may begin a batch. Empty lanes are deleted. ``is_more_likely`` is a function that
        returns whether entries that could share a call may come soon.
        """
        for lane, number in self.index.take_empty(now):
            self._forget(lane, number, now)
        first = self.index.numbers[self._next % len(self.index.numbers)] if self.index.numbers else 0
        self._next += 1
        chosen = self.index.to_look_at(everything=self.has_priorities)
        while True:
            begun: list[int] = []
            for lane in self._in_turn(chosen, first):
                size = self._may_begin(lane, now, is_more_likely)
                if size:
                    begun.append(lane.number)
                    yield lane, size
                    if self.has_priorities:
                        self._passed_over(lane)
            if not begun:
                return
            chosen = self.index.to_look_at(everything=True) if self.has_priorities else begun

    def _in_turn(self, chosen: list[int], first: int) -> Iterator[Lane]:
        """Yield the chosen lanes that have waiting entries, and lanes of pools that have free slots.

        The lane with the number ``first``, which is another one each time, or the next one after it comes first; so each
        lane is first at some time.
        """
        if self.has_priorities:
            lanes = [self.index.lanes[number] for number in rotated(chosen, first)]
            yield from self._ordered([lane for lane in lanes if lane.waiting])
            return
        for number in self.index.merged(rotated(chosen, first), first, self.free):
            lane = self.index.lanes[number]
            if lane.waiting:
                yield lane

    def _may_begin(self, lane: Lane, now: int, is_more_likely: Callable[[], bool]) -> int:
        """Return the size of the lane's next batch, or 0 if none may begin; then note what the lane waits for."""
        index = self.index
        if lane.opens_at > now:
            index.closed_until(lane)
            return 0
        if lane.gathers_until(now) > now:
            index.gathering.add(lane.number)
            if is_more_likely():
                return 0
        free = self.slots.get(lane.pool, 0) - self.used.get(lane.pool, 0)
        if free > 0 and lane.is_full and lane.is_mixed and not lane.is_paused:
            lane.sort(self._functions_of)
        size = lane.limit(free)
        if not size:
            if free <= 0 and not lane.is_paused:
                index.block(lane)
            return 0
        if self.changed and self._runs_elsewhere(lane):
            index.elsewhere.add(lane.number)
            return 0
        delay = self.rates.take(lane.spec, lane.key, now) if lane.spec.rate else 0
        if delay:
            lane.opens_at = now + delay
            index.closed_until(lane)
            return 0
        return size

    def _forget(self, lane: Lane, number: int, now: int) -> None:
        """Delete a lane. Keep the time of a recent call: a later lane with this key uses it to collect entries."""
        key = number, lane.key
        del self.by_key[key]
        if lane.is_gathering and now - lane.began_at <= GATHER_MS:
            if len(self._recent) >= self._recent_looks_at:
                self._recent = {key: began for key, began in self._recent.items() if now - began[0] <= GATHER_MS}
                self._recent_looks_at = max(RECENT_KEPT, 2 * len(self._recent))  # seldom, however many there are
            self._recent[key] = lane.began_at, lane.in_succession

    def _ordered(self, lanes: list[Lane]) -> list[Lane]:
        """Return lanes by priority, otherwise in the given order.

        A lane that was passed over ``MOST_PASSED_OVER`` times comes first, so that no lane starves (PD32).
        """
        return sorted(lanes, key=lambda lane: (lane.passed_over < MOST_PASSED_OVER, -lane.spec.priority))

    def _passed_over(self, begun: Lane) -> None:
        """Count, for every other lane with waiting entries, that the lane ``begun`` was served before it."""
        for lane in self.by_key.values():
            lane.passed_over += lane.waiting > 0
        begun.passed_over = 0

    def _runs_elsewhere(self, lane: Lane) -> bool:
        """Return whether the phase has as many open calls as it may, counting lanes of its older and newer versions.

        Return False for operations, and for phases that are not called in bulk.
        """
        spec = lane.spec
        if spec.phase not in self.changed or spec.form != "bulk" or not spec.phase.startswith(LANE_PREFIX):
            return False
        others = self.index.alike(lane)
        return sum(other.running for other in others) >= (spec.concurrency or 1)

    def next_opening(self, now: int) -> int | None:
        """Return the first time (ms) when a lane that waits for its interval, rate or entries may call, or None."""
        first = self.index.first_opening(now)
        for number in self.index.gathering:
            lane = self.index.lanes[number]
            opens_at = max(lane.opens_at, lane.gathers_until(now))
            if opens_at > now and lane.waiting and (first is None or opens_at < first):
                first = opens_at
        return first


def pool_of(spec: LaneSpec) -> str:
    """Return the name of the pool whose slots a call uses: ``bulk`` for bulk calls, so that slow single calls do not block them."""
    return "bulk" if spec.form == "bulk" else spec.pool
