"""Executions in the scheduler: their graphs, their cancellation, and their limits of failures and time."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import unique
from phaseline.lang.fast_dataclasses import mutable
from phaseline.model.graph.status import ExecutionStatus

if TYPE_CHECKING:
    from phaseline.engine.arena import Arena
    from phaseline.engine.arena_layout import GraphSlot
    from phaseline.model.execution.execution import StopAfter


@mutable
class OpenExecution:
    """One execution that has not ended.

    ``asked`` has the graphs after which the planner was asked what comes next (0: before the first graph). Only one
    question to the planner is open at a time (``is_asking``). If an event makes it outdated (``is_overtaken``), its
    answer is dropped and the question is repeated. ``failures`` counts failed entries that are not tolerated, by
    (graph, group). ``failed`` has the subjects of these entries, if a share of them is limited or a graph has bounds.
    ``retried`` is the work that a user wants to continue, if the planner agrees: (graph, positions of entries in it
    or None for all). ``timeout_ms`` is the time of an attempt (0: no limit). ``ends_at`` is when this time is over;
    after the time-out (``is_timed_out``) it is when running calls are given up.
    """

    execution: int
    deployment: int
    stop_after: StopAfter | None
    status: ExecutionStatus = ExecutionStatus.QUEUED
    reason: str = ""
    attempt: int = 0
    is_canceled: bool = False
    asked: set[int] = field(default_factory=set)
    is_asking: bool = False
    is_overtaken: bool = False
    graphs: list[int] = field(default_factory=list)
    failures: dict[tuple[int, int], int] = field(default_factory=dict)
    failed: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)
    first_failure_at: int | None = None
    is_stopped: bool = False
    retried: tuple[int, np.ndarray | None] = (0, None)
    timeout_ms: int = 0
    ends_at: int | None = None
    is_timed_out: bool = False

    @property
    def is_limited(self) -> bool:
        """True if a limit of failures or time may end the execution before its planner ends it."""
        return self.stop_after is not None or self.timeout_ms > 0

    def begin_time(self, now: int) -> None:
        """Set the end of the time of an attempt that begins at ``now`` (ms)."""
        self.ends_at = now + self.timeout_ms if self.timeout_ms else None
        self.is_timed_out = False

    @property
    def stops_at(self) -> int | None:
        """The time (ms) when entries that have not begun are canceled because of the first failure, or None."""
        if self.stop_after is None or self.stop_after.seconds is None or self.is_stopped:
            return None
        if self.first_failure_at is None:
            return None
        return self.first_failure_at + round(self.stop_after.seconds * 1000)

    def overtake(self) -> None:
        """Mark the open question to the planner as outdated, because an event happened that the planner must know before it answers."""
        self.asked.clear()
        self.is_overtaken = self.is_asking

    def count_failures(self, arena: Arena, slot: GraphSlot, positions: np.ndarray, now: int) -> None:
        """Count failures that are not tolerated, by group of the graph.

        Failures outside all groups are not counted and stop nothing.
        """
        if (self.stop_after is None and not slot.bounds) or not len(positions):
            return
        groups = slot.group[positions - slot.base] if len(slot.group) else np.zeros(len(positions), np.int32)
        if len(slot.group):
            positions, groups = positions[groups >= 0], groups[groups >= 0]
        if not len(positions):
            return
        if self.first_failure_at is None:
            self.first_failure_at = now
        for group, count in enumerate(np.bincount(groups).tolist()):
            if not count:
                continue
            key = (slot.graph_id, group)
            self.failures[key] = self.failures.get(key, 0) + count
            if slot.bounds or (self.stop_after is not None and self.stop_after.share is not None):
                subjects = arena.subject[positions[groups == group]]
                self.failed[key] = unique(np.concatenate((self.failed.get(key, subjects[:0]), subjects)))

    def forgive(self) -> None:
        """Reset all counts of failures, because a user wants to continue."""
        self.failures.clear()
        self.failed.clear()
        self.first_failure_at = None
        self.is_stopped = False

    def stop_reason(self, arena: Arena, now: int) -> str:
        """Return the reason for which entries that have not begun must be canceled now, or an empty text."""
        if self.is_stopped or not self.failures:
            return ""
        reason = next(
            filter(None, [self._broken_bound(arena.slots[graph]) for graph in {graph for graph, _ in self.failures}]),
            "",
        )
        limit = self.stop_after
        if limit is None or reason:
            return reason
        for (graph, group), count in self.failures.items():
            if limit.failures is not None and count > limit.failures:
                return f"{count} failed, {limit.failures} are tolerated"
            if limit.share is not None:
                slot = arena.slots[graph]
                size = group_size(arena, slot, group)
                bad = len(self.failed[graph, group])
                if bad > limit.share * size:
                    return f"{bad} of {size} failed, {limit.share:.0%} are tolerated"
        due = self.stops_at
        return f"{limit.seconds:g} s have passed since the first failure" if due is not None and due <= now else ""

    def _broken_bound(self, slot: GraphSlot) -> str:
        """Return a text about the first exceeded bound of a graph, or an empty text if none is exceeded."""
        for bound in slot.bounds:
            found = [
                self.failed[key] for key in ((slot.graph_id, group) for group in bound.groups) if key in self.failed
            ]
            bad = len(unique(np.concatenate(found))) if found else 0
            if bad > bound.failures:
                return f"{bad} of {bound.name} failed, {bound.failures} are tolerated"
        return ""


def group_size(arena: Arena, slot: GraphSlot, group: int) -> int:
    """Return the number of different subjects in a group of a graph, or in the whole graph if it has no groups."""
    subjects = arena.subject[slot.base : slot.end]
    if len(slot.group):
        subjects = subjects[slot.group == group]
    return len(unique(subjects[subjects >= 0]))
