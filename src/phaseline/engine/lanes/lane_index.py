"""Which lanes a turn has to look at: not all, but those that may have become able to begin a call (ADR 0042).

A lane that was looked at and could not begin a call waits for something, and is looked at again when that happens:

- new entries, the outcome of a call, the end of a pause, removed entries: the code that does this *stirs* the lane;
- a time: the lane is in a heap by this time;
- free slots of its pool: the lane is in the pool's list, which is read only as far as there are free slots;
- more entries for a shared call, or a call of an older version of its phase: there are few of these lanes, and each
  turn looks at them.
"""

from __future__ import annotations

from bisect import bisect_left
from heapq import heappop, heappush, merge
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from phaseline.engine.lanes.lanes import Lane


def rotated(numbers: list[int], first: int) -> list[int]:
    """Return the numbers in ascending order, but beginning with ``first`` or the next larger one."""
    ordered = sorted(set(numbers))
    at = bisect_left(ordered, first)
    return ordered[at:] + ordered[:at] if at else ordered


class LaneIndex:
    """The lanes by number, by phase, and by what they wait for."""

    def __init__(self) -> None:
        self.lanes: dict[int, Lane] = {}
        self.numbers: list[int] = []
        """Numbers of all lanes, ascending."""
        self.stirred: set[int] = set()
        """Numbers of lanes in which something has changed since the last turn looked at them."""
        self.gathering: set[int] = set()
        """Numbers of lanes that may wait for more entries to share their call."""
        self.elsewhere: set[int] = set()
        """Numbers of lanes that wait for calls of an older or newer version of their phase."""
        self.windowed: dict[int, Lane] = {}
        """Lanes with a time window for sleeping entries."""
        self._made = 0
        self._specs: dict[int, int] = {}
        """{number of a lane: number of its specification}"""
        self._of_phase: dict[str, dict[int, list[Lane]]] = {}
        """{phase: {key: lanes}}"""
        self._spec_counts: dict[str, dict[int, int]] = {}
        """{phase: {number of a specification: number of its lanes}}"""
        self._blocked: dict[str, list[int]] = {}
        """{pool: numbers of lanes that wait for its slots, ascending}"""
        self._openings = LaneTimes()
        """When lanes with waiting entries may call again."""
        self._endings = LaneTimes()
        """When lanes without entries and calls may be deleted."""

    def add(self, lane: Lane, spec: int) -> bool:
        """Number and add a new lane of the specification ``spec``.

        Return True if its phase has lanes of another specification.
        """
        lane.number = self._made
        self._made += 1
        self.lanes[lane.number] = lane
        self.numbers.append(lane.number)
        self._specs[lane.number] = spec
        phase = lane.spec.phase
        self._of_phase.setdefault(phase, {}).setdefault(lane.key, []).append(lane)
        counts = self._spec_counts.setdefault(phase, {})
        counts[spec] = counts.get(spec, 0) + 1
        if lane.spec.coalesce_ms:
            self.windowed[lane.number] = lane
        return len(counts) > 1

    def _remove(self, lane: Lane) -> int:
        """Remove a lane; return the number of its specification."""
        number, phase = lane.number, lane.spec.phase
        del self.lanes[number]
        del self.numbers[bisect_left(self.numbers, number)]
        self.windowed.pop(number, None)
        self.gathering.discard(number)
        self.elsewhere.discard(number)
        self._unblock(lane)
        spec = self._specs.pop(number)
        keys, counts = self._of_phase[phase], self._spec_counts[phase]
        keys[lane.key].remove(lane)
        if not keys[lane.key]:
            del keys[lane.key]
        counts[spec] -= 1
        if not counts[spec]:
            del counts[spec]
        if not counts:
            del self._of_phase[phase], self._spec_counts[phase]
        return spec

    def of_phase(self, phase: str) -> Iterator[Lane]:
        """Yield the lanes of a phase."""
        for lanes in self._of_phase.get(phase, {}).values():
            yield from lanes

    def phases(self) -> list[str]:
        """Return the phases and operations that have lanes."""
        return list(self._of_phase)

    def alike(self, lane: Lane) -> list[Lane]:
        """Return the lanes of the same phase and key, of all versions of the phase."""
        return self._of_phase[lane.spec.phase][lane.key]

    def stir_all(self) -> None:
        """Have the next turn look at all lanes."""
        self.stirred.update(self.numbers)

    def take_empty(self, now: int) -> list[tuple[Lane, int]]:
        """Remove the lanes without entries and calls whose interval is over; return them with their specifications.

        Lanes whose time has come are stirred.
        """
        for times in (self._openings, self._endings):
            self.stirred.update(times.pop_due(now))
        empty = []
        for number in sorted(self.stirred):
            lane = self.lanes.get(number)
            if lane is None:
                self.stirred.discard(number)
            elif not (lane.waiting or lane.running):
                if lane.opens_at > now:
                    self.closed_until(lane)
                else:
                    self.stirred.discard(number)
                    empty.append((lane, self._remove(lane)))
        return empty

    def to_look_at(self, *, everything: bool) -> list[int]:
        """Return the numbers of the lanes to look at, and forget which were stirred."""
        if everything:
            self.stirred.clear()
            return list(self.numbers)
        chosen = [*self.stirred, *self.gathering, *self.elsewhere]
        self.stirred.clear()
        self.gathering.clear()  # those that still gather are added again
        self.elsewhere.clear()
        return chosen

    def closed_until(self, lane: Lane) -> None:
        """Have the lane looked at when it may call again, at its ``opens_at``."""
        (self._openings if lane.waiting else self._endings).add(lane.opens_at, lane.number)

    def block(self, lane: Lane) -> None:
        """Have the lane looked at when its pool has free slots."""
        blocked = self._blocked.setdefault(lane.pool, [])
        at = bisect_left(blocked, lane.number)
        if at == len(blocked) or blocked[at] != lane.number:
            blocked.insert(at, lane.number)

    def _unblock(self, lane: Lane) -> None:
        blocked = self._blocked.get(lane.pool, [])
        at = bisect_left(blocked, lane.number)
        if at < len(blocked) and blocked[at] == lane.number:
            del blocked[at]

    def merged(self, chosen: list[int], first: int, free: Callable[[str], int]) -> Iterator[int]:
        """Yield the chosen numbers, and the lanes that wait for slots as long as ``free(pool)`` is above 0.

        ``chosen`` and the result are in the order of ``rotated``, and no number comes twice.
        """
        pools = [pool for pool, blocked in self._blocked.items() if blocked and free(pool) > 0]
        if not pools:
            yield from chosen
            return
        waiting = [self._waiting_for(pool, first, free) for pool in pools]
        before = -1
        for number in merge(chosen, *waiting, key=lambda number: (number < first, number)):
            if number != before:
                before = number
                yield number

    def _waiting_for(self, pool: str, first: int, free: Callable[[str], int]) -> Iterator[int]:
        """Yield and unblock the lanes that wait for slots of a pool, in turn, as long as there are free slots."""
        blocked = self._blocked[pool]
        for low, high in ((first, None), (0, first)):
            at = low
            while free(pool) > 0:
                place = bisect_left(blocked, at)
                if place == len(blocked) or (high is not None and blocked[place] >= high):
                    break
                at = blocked.pop(place)
                yield at
                at += 1

    def first_opening(self, now: int) -> int | None:
        """Return the first time after ``now`` when a lane with waiting entries may call again, or None."""
        while (found := self._openings.first()) is not None:
            at, number = found
            lane = self.lanes.get(number)
            if lane is not None and lane.waiting and lane.opens_at == at > now:
                return at
            self._openings.pop()
            if lane is not None:
                self.stirred.add(number)
        return None


class LaneTimes:
    """A heap of (time in ms, number of a lane), each pair once."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int]] = []
        self._known: set[tuple[int, int]] = set()

    def add(self, at: int, number: int) -> None:
        """Add a pair, unless it is there."""
        pair = at, number
        if pair not in self._known:
            self._known.add(pair)
            heappush(self._heap, pair)

    def first(self) -> tuple[int, int] | None:
        """Return the pair with the first time, or None."""
        return self._heap[0] if self._heap else None

    def pop(self) -> int:
        """Remove the pair with the first time; return its number."""
        pair = heappop(self._heap)
        self._known.discard(pair)
        return pair[1]

    def pop_due(self, now: int) -> list[int]:
        """Remove the pairs up to the time ``now``; return their numbers."""
        found = []
        while self._heap and self._heap[0][0] <= now:
            found.append(self.pop())
        return found
