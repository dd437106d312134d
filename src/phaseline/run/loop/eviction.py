"""Eviction from an engine's memory: ended executions, deleted deployments, and idle deployments beyond a size limit.

A deployment is *idle* while no execution of it is open in this engine. Idle deployments stay in memory, so that their
next execution begins without reading them. If all of them together exceed ``most_bytes``, the least recently used are
dropped; they are read from the store when needed again. A deployment is never dropped while a call about it runs,
because the call writes runtime properties into the object in memory.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from itertools import islice
from typing import TYPE_CHECKING

from phaseline.calls.threads.memory_release import return_freed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.deployments.lane_keys import LaneKeys
    from phaseline.calls.deployments.planner_driver import Planning
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.store import Store
    from phaseline.run.loop.admission import Claims
    from phaseline.run.loop.open_batches import OpenBatches
    from phaseline.run.phases.phase_engine import PhaseEngine

MOST_BYTES = 256 << 20
"""Default limit in bytes for all idle deployments together."""
NODE_BYTES, INSTANCE_BYTES, ROW_BYTES = 8_000, 300, 32
"""Estimated bytes in memory, for ``size_of``, of a node template with its mappings, an instance with its indexes, and a
relationship instance.
"""
DOCUMENTS_SAMPLED = 16
"""Number of documents that are measured; the others are assumed to have their average size."""
DEEPEST = 8
"""Number of nested levels of a document that are measured."""


class Eviction:
    """Drops from memory what the engine no longer needs. Used only by the thread that runs a turn.

    ``most_bytes`` limits the size of all idle deployments together; ``evicted`` counts deployments dropped for it.
    """

    def __init__(
        self,
        store: Store,
        planning: Planning,
        deployments: DeploymentCache,
        claims: Claims,
        outstanding: OpenBatches,
        keys: LaneKeys,
    ) -> None:
        self._store, self._scheduler, self._keys = store, outstanding.scheduler, keys
        self._deployments, self._planning = deployments, planning
        self._claims, self._outstanding = claims, outstanding
        claims.on_left = deployments.used.add
        self._idle: dict[int, int] = {}
        self._idle_bytes = 0
        self._just_ended: list[int] = []
        self._deleted: set[int] = set()
        self._deletions = self._seen = 0
        self.most_bytes, self.evicted = MOST_BYTES, 0
        self.ended = EndedExecutions()

    @property
    def idle_bytes(self) -> int:
        """Estimated bytes of all idle deployments in memory together."""
        return self._idle_bytes

    def note_end(self, row: ExecutionRow) -> None:
        """Record that an execution has its final result, so that it is dropped at the end of the turn."""
        self.ended.add(row.number)
        self._just_ended.append(row.number)

    def tidy(self, phases: PhaseEngine | None) -> None:
        """Drop what ended in the finished turn, and the least recently used idle deployments beyond the limit."""
        if self._planning.turns_until_freed:
            self._planning.turns_until_freed -= 1
            if not self._planning.turns_until_freed:
                return_freed()
        dropped = self._scheduler.arena.dropped
        if dropped:
            for graph in dropped:
                self._deployments.drop_graph(graph)
                self._planning.drop_graph(graph)
            if phases is not None:
                phases.conditions.forget_graphs(dropped)
            dropped.clear()
        for execution in self._just_ended:
            if execution not in self._scheduler.runs:
                self._deployments.drop_execution(execution)
                self._planning.drop(execution)
        self._just_ended.clear()
        used = self._deployments.used
        if used:
            self._sort_out(used)
            used.clear()
            self._keys.trim(self._scheduler.lanes)
            if self._idle_bytes > self.most_bytes:
                self._drop_oldest(phases)

    def look(self, phases: PhaseEngine | None) -> None:
        """Drop deployments that any process has deleted. Costs almost nothing if the store is unchanged."""
        seen = self._store.changed(self._seen)
        if seen:
            self._seen = seen
            self._deletions, deleted = self._store.deleted(self._deployments.numbers, self._deletions)
            self._deleted.update(deleted)
        if self._deleted:
            called = self._called()
            for deployment in sorted(self._deleted - called):
                self._drop(deployment, phases)
            self._deleted &= called

    def _sort_out(self, used: set[int]) -> None:
        """Mark each deployment used in this turn as busy, or as the most recently used idle deployment."""
        for deployment in sorted(used):
            self._idle_bytes -= self._idle.pop(deployment, 0)
            loaded = self._deployments.held(deployment)
            if loaded is not None and not self._claims.holds(deployment):
                self._idle[deployment] = size = size_of(loaded)
                self._idle_bytes += size

    def _drop_oldest(self, phases: PhaseEngine | None) -> None:
        called = self._called()
        for deployment in list(self._idle):
            if self._idle_bytes <= self.most_bytes:
                return
            if deployment not in called:
                self.evicted += 1
                self._drop(deployment, phases)

    def _called(self) -> set[int]:
        """Return the deployments with running calls, including given-up calls."""
        found: set[int] = set()
        for dispatched in self._outstanding.batches.values():
            found.update(dispatched.batch.members.deployments)
        return found

    def _drop(self, deployment: int, phases: PhaseEngine | None) -> None:
        self._idle_bytes -= self._idle.pop(deployment, 0)
        loaded = self._deployments.held(deployment)
        if loaded is not None and phases is not None:
            phases.forget_deployment(deployment, loaded.blueprint)
        self._deployments.forget(deployment)
        self._planning.forget_deployment(deployment)


def size_of(loaded: LoadedDeployment) -> int:
    """Return the estimated bytes of a deployment in memory."""
    topology, documents = loaded.topology, loaded.documents
    sampled = [bytes_of(document) for document in islice(documents.values(), DOCUMENTS_SAMPLED)]
    mean = sum(sampled) // len(sampled) if sampled else 0
    fixed = NODE_BYTES * len(topology.nodes) + INSTANCE_BYTES * len(topology) + ROW_BYTES * len(topology.link)
    return fixed + mean * len(documents)


def bytes_of(value: Value | Mapping[str, Value], depth: int = DEEPEST) -> int:
    """Return the bytes of a value including its nested values, down to ``depth`` levels.

    >>> bytes_of({"disk": ["a" * 1000]}) > 1000
    True
    """
    inner: list[Value] = []
    if depth and isinstance(value, dict):
        inner = [*value, *value.values()]
    elif depth and isinstance(value, list):
        inner = value
    return sys.getsizeof(value) + sum([bytes_of(one, depth - 1) for one in inner])


class EndedExecutions:
    """A set of integers kept as ranges, so that its memory grows with the number of gaps, not of members.

    >>> ended = EndedExecutions()
    >>> for number in (1, 2, 4, 3):
    ...     ended.add(number)
    >>> ended.ranges, 3 in ended, 5 in ended
    ([(1, 5)], True, False)
    """

    def __init__(self) -> None:
        """Start with an empty set."""
        self._firsts: list[int] = []
        self._ends: list[int] = []

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The ranges as (first, end), ascending; ``end`` is excluded."""
        return list(zip(self._firsts, self._ends, strict=True))

    def __contains__(self, number: int) -> bool:
        """Return True if the set contains the number."""
        at = bisect_right(self._firsts, number) - 1
        return at >= 0 and number < self._ends[at]

    def add(self, number: int) -> None:
        """Add a number, and merge ranges that become adjacent."""
        at = bisect_right(self._firsts, number)
        if at and number < self._ends[at - 1]:
            return
        joins_left = at > 0 and self._ends[at - 1] == number
        joins_right = at < len(self._firsts) and self._firsts[at] == number + 1
        if joins_left and joins_right:
            self._ends[at - 1] = self._ends[at]
            del self._firsts[at], self._ends[at]
        elif joins_left:
            self._ends[at - 1] = number + 1
        elif joins_right:
            self._firsts[at] = number
        else:
            self._firsts.insert(at, number)
            self._ends.insert(at, number + 1)

    def discard(self, number: int) -> None:
        """Remove a number if the set contains it."""
        at = bisect_right(self._firsts, number) - 1
        if at < 0 or number >= self._ends[at]:
            return
        first, end = self._firsts[at], self._ends[at]
        kept = [(low, high) for low, high in ((first, number), (number + 1, end)) if low < high]
        self._firsts[at : at + 1] = [low for low, _ in kept]
        self._ends[at : at + 1] = [high for _, high in kept]
