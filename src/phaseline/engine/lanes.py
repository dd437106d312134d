"""What waits for a call, in lanes of entries that may share one.

A lane is keyed by (number of its specification, key). It keeps one queue for each execution and fills a batch from them in
turns, so that a large execution cannot starve a small one. Ties: lanes in the order in which they were made,
beginning one further each turn; executions in the order in which they joined the lane; entries
in the order in which they arrived, those that arrived together by position.
"""

from __future__ import annotations

from collections import deque
from dataclasses import field
from itertools import pairwise
from operator import sub
from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine.rates import Rates
from phaseline.model.frozen import changeable
from phaseline.model.state_steps import LANE_PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from phaseline.model.graph import LaneSpec

REPEATABLE_EACH_BATCH = 1000
"""Members of one batch of a repeatable per-instance phase; others get no more than there are free slots."""

Crowd = tuple[list[int], "np.ndarray", list[int]]
"""(executions, positions, where the entries of each begin, and where the last ones end)."""

GATHER_MS = 50
"""Window of PD35: what trickles into a lane shares a call with whatever comes within so long after its last one began."""
GATHER_AFTER = 4
"""Calls of a lane in quick succession from which on its entries trickle (ADR 0030)."""

RECENT_KEPT = 256
"""Lanes that are gone of which it is remembered when they began their last call, before it is looked who may be forgotten."""

MOST_PASSED_OVER = 8
"""After so many batches of others a lane comes first, whatever its priority."""


@changeable
class Lane:
    """The waiting entries of one specification and key, and its limits in use."""

    spec: LaneSpec
    key: int
    pool: str
    """Whose slots its calls take."""
    _queues: dict[int, deque[np.ndarray]] = field(default_factory=dict)
    _crowds: list[Crowd] = field(default_factory=list)
    waiting: int = 0
    running: int = 0
    is_paused: bool = False
    is_probe: bool = False
    is_careful: bool = False
    """Some of its entries must not be called twice."""
    opens_at: int = 0
    began_at: int = -GATHER_MS
    in_succession: int = 0
    """Batches begun one after the other, each no later than ``GATHER_MS`` after the one before."""
    passed_over: int = 0
    """Batches that others have begun since this one began its last and something waits in it."""

    @property
    def queues(self) -> dict[int, deque[np.ndarray]]:
        """{execution: chunks of its entries}, in the order in which executions are served."""
        if self._crowds:
            crowds, self._crowds = self._crowds, []
            for executions, positions, cuts in crowds:
                for execution, (low, high) in zip(executions, pairwise(cuts), strict=True):
                    self._queues.setdefault(execution, deque()).append(positions[low:high])
        return self._queues

    def put(self, execution: int, positions: np.ndarray) -> None:
        """Add entries at the end of the queue of their execution."""
        queues = self.queues if self._crowds else self._queues
        queue = queues.get(execution)
        if queue is None:
            queues[execution] = deque((positions,))
        else:
            queue.append(positions)
        self.waiting += len(positions)

    def put_crowd(self, executions: list[int], positions: np.ndarray, cuts: list[int]) -> None:
        """The same for many executions: entries ``cuts[i]`` ... ``cuts[i + 1]`` - 1 are those of the i-th.

        They are queued one by one only when somebody asks for the queues.
        """
        self._crowds.append((executions, positions, cuts))
        self.waiting += len(positions)

    def take(self, limit: int) -> np.ndarray:
        """At most ``limit`` entries, drawn from the executions in equal shares; who was served goes to the back."""
        taken: list[np.ndarray] = []
        room = min(limit, self.waiting)
        if len(self._crowds) == 1 and not self._queues and _is_served_at_once(self._crowds[0], room):
            (_, positions, _), self._crowds = self._crowds[0], []
            self.waiting = 0
            return positions
        queues = self.queues if self._crowds else self._queues
        if len(queues) == 1 and room == self.waiting:  # all of the only one
            self.waiting = 0
            chunks = queues.popitem()[1]
            return chunks[0] if len(chunks) == 1 else np.concatenate(chunks)
        while room:
            share = max(1, room // len(queues))
            for execution in list(queues):
                if not room:
                    break
                part = self._draw(execution, min(share, room))
                room -= sum(map(len, part))
                taken.extend(part)
        self.waiting -= sum(map(len, taken))
        return taken[0] if len(taken) == 1 else np.concatenate(taken)

    def _draw(self, execution: int, count: int) -> list[np.ndarray]:
        queue = self._queues.pop(execution)
        part: list[np.ndarray] = []
        while queue and count:
            chunk = queue.popleft()
            if len(chunk) > count:
                queue.appendleft(chunk[count:])
                chunk = chunk[:count]
            part.append(chunk)
            count -= len(chunk)
        if queue:
            self._queues[execution] = queue
        return part

    def purge(self, execution: int, keeps: Callable[[np.ndarray], np.ndarray]) -> None:
        """Take out the entries of an execution that ``keeps`` (positions -> bool) does not keep."""
        chunks = self.queues.pop(execution, None)
        if chunks is None:
            return
        kept = [chunk[keeps(chunk)] for chunk in chunks]
        left = deque(chunk for chunk in kept if len(chunk))
        self.waiting += sum(map(len, left)) - sum(map(len, chunks))
        if left:
            self.queues[execution] = left

    def move(self, moved: np.ndarray) -> None:
        """Follow entries to their new positions after a compaction."""
        for execution, chunks in self.queues.items():
            self.queues[execution] = deque(moved[chunk] for chunk in chunks)

    def begin(self, now: int) -> None:
        """A batch begins."""
        self.running += 1
        self.opens_at = now + self.spec.interval_ms
        self.in_succession = self.in_succession + 1 if now - self.began_at <= GATHER_MS else 1
        self.began_at = now

    def gathers_until(self, now: int) -> int:
        """Until when its entries had better wait for company, if any is likely; ``now`` or earlier: not at all.

        So it is in a bulk lane of a phase that began call after call, until 50 ms after the last one, unless a batch is full.
        """
        if self.in_succession < GATHER_AFTER or self.waiting >= self.spec.max_batch or not self.is_gathering:
            return now
        return self.began_at + GATHER_MS

    @property
    def is_gathering(self) -> bool:
        """Whether it may let entries wait for company: bulk calls of phases do, for one runs at a time (PD35)."""
        return self.spec.form == "bulk" and self.spec.phase.startswith(LANE_PREFIX)

    def limit(self, free: int) -> int:
        """How many members the next batch may have when the pool has ``free`` slots; 0: none now."""
        if self.is_paused or not self.waiting or free <= 0:
            return 0
        if self.is_probe:
            return 0 if self.running else 1
        calls = self.spec.concurrency or (1 if self.spec.form == "bulk" else 0)
        if calls and self.running >= calls:
            return 0
        if self.spec.form == "each":
            return min(self.spec.max_batch, free if self.is_careful else REPEATABLE_EACH_BATCH)
        return self.spec.max_batch


def _is_served_at_once(crowd: Crowd, room: int) -> bool:
    """True if all of a crowd fit, each execution comes once and asks for no more than its share."""
    executions, positions, cuts = crowd
    if len(positions) > room or len(set(executions)) < len(executions):
        return False
    longest: int = max(map(sub, cuts[1:], cuts))
    return longest <= room // len(executions)


class Lanes:
    """All lanes, and how many slots of each pool are free."""

    def __init__(self) -> None:
        """No lane, no slot."""
        self.by_key: dict[tuple[int, int], Lane] = {}
        self.paused: set[str] = set()
        self.probed: set[str] = set()
        self.slots: dict[str, int] = {}
        self.used: dict[str, int] = {}
        self.careful: set[int] = set()
        """Numbers of specifications of which some entries must not be called twice."""
        self.rates = Rates()
        self.has_windows = self.has_priorities = False
        self.changed: set[str] = set()
        """Phases of which lanes of an older and a newer specification have been there together."""
        self._next = 0
        self._recent: dict[tuple[int, int], tuple[int, int]] = {}
        self._recent_looks_at = RECENT_KEPT

    def lane(self, number: int, spec: LaneSpec, key: int) -> Lane:
        """The lane of the specification of this number and of a key, made if need be."""
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
        """Pause or open every lane of a phase, those still to come as well; or open it for one member at a time."""
        (self.paused.add if is_paused else self.paused.discard)(phase)
        (self.probed.add if is_probe else self.probed.discard)(phase)
        for lane in self.by_key.values():
            if lane.spec.phase == phase:
                lane.is_paused, lane.is_probe = is_paused, is_probe

    def free(self, pool: str) -> int:
        """Free slots of a pool."""
        return self.slots.get(pool, 0) - self.used.get(pool, 0)

    def about_to_begin(self, now: int) -> list[Lane]:
        """Lanes with a window, of which a batch may begin now: sleepers that are due soon may come along (X5)."""
        lanes = [lane for lane in self.by_key.values() if lane.spec.coalesce_ms and lane.opens_at <= now]
        return [lane for lane in lanes if lane.limit(self.free(lane.pool))]

    def open_lanes(self, now: int, is_more_likely: Callable[[], bool]) -> Iterator[tuple[Lane, int]]:
        """(lane, batch size) as long as one may begin a batch; the caller takes it before the next is asked for.

        After a whole turn without a batch it ends. Lanes with nothing left are forgotten. ``is_more_likely``: whether
        anything may come soon that could share a call; only asked where entries trickle.
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
                size = lane.limit(self.slots.get(lane.pool, 0) - self.used.get(lane.pool, 0))
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
        """Forget a lane; how quickly its calls came one after the other is remembered as long as it says anything."""
        lane = self.by_key.pop(key)
        if lane.is_gathering and now - lane.began_at <= GATHER_MS:
            if len(self._recent) >= self._recent_looks_at:
                self._recent = {key: began for key, began in self._recent.items() if now - began[0] <= GATHER_MS}
                self._recent_looks_at = max(RECENT_KEPT, 2 * len(self._recent))  # seldom, however many there are
            self._recent[key] = lane.began_at, lane.in_succession

    def _in_turn(self) -> list[Lane]:
        """Lanes in which something waits, beginning one further each time."""
        lanes = list(self.by_key.values())
        self._next += 1
        if len(lanes) > 1:
            turn = (self._next - 1) % len(lanes)
            lanes = lanes[turn:] + lanes[:turn]
        return [lane for lane in lanes if lane.waiting]

    def _ordered(self, lanes: list[Lane]) -> list[Lane]:
        """By priority, others in their turn; who was passed over too often is first, so that nobody starves (PD32)."""
        return sorted(lanes, key=lambda lane: (lane.passed_over < MOST_PASSED_OVER, -lane.spec.priority))

    def _passed_over(self, begun: Lane) -> None:
        """A lane has begun a batch: those that still wait were passed over."""
        for lane in self.by_key.values():
            lane.passed_over += lane.waiting > 0
        begun.passed_over = 0

    def _runs_elsewhere(self, lane: Lane) -> bool:
        """True for a phase of states that has as many runs as it may, some of them by another specification of its."""
        spec = lane.spec
        if spec.phase not in self.changed or spec.form != "bulk" or not spec.phase.startswith(LANE_PREFIX):
            return False
        others = [other for other in self.by_key.values() if other.spec.phase == spec.phase and other.key == lane.key]
        return sum(other.running for other in others) >= (spec.concurrency or 1)

    def next_opening(self, now: int) -> int | None:
        """When the next lane that only waits for its interval, its rate or company opens."""
        first = None
        for lane in self.by_key.values():
            opens_at = max(lane.opens_at, lane.gathers_until(now))
            if opens_at > now and lane.waiting and (first is None or opens_at < first):
                first = opens_at
        return first


def pool_of(spec: LaneSpec) -> str:
    """The pool whose slots count: bulk calls have one of their own, so that slow members never keep them out."""
    return "bulk" if spec.form == "bulk" else spec.pool
