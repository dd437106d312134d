"""Compute the times of a graph's phases, and its critical path: the chain of calls that decided when it was done.

The *critical path* is found backwards, from the call that ended last. The call before it on the path is the one of its
needs that ended last, and so on. Entries that are never called, such as milestones, are replaced by their own needs.
The execution ends sooner only if a call on this path becomes shorter, or a wait between two of its calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from phaseline.model.graph.graph import Graph


@frozen
class Spent:
    """The time that one phase of a graph took.

    ``began_at`` is the begin of its first call and ``ended_at`` the end of its last call, both in ms. ``called`` is the
    number of entries that were called. ``busy_ms`` is the time during which at least one call ran.
    """

    phase: str
    began_at: int
    ended_at: int
    called: int
    busy_ms: int


@frozen
class Times:
    """The times of the calls of all entries: int64 arrays indexed by entry position, in ms, 0 if never called.

    ``began`` is when the first call of an entry began, ``ended`` is when its last call ended.
    """

    began: np.ndarray
    ended: np.ndarray


def spent(graph: Graph, times: Times) -> list[Spent]:
    """Return the times of each phase that was called, ordered by when it began."""
    called: dict[str, list[np.ndarray]] = {}
    for step in graph.steps:
        positions = times.began[step.first : step.first + step.count].nonzero()[0] + step.first
        if len(positions):
            called.setdefault(step.phase, []).append(positions)
    found = []
    for phase, parts in called.items():
        positions = np.concatenate(parts)
        began, ended = times.began[positions], times.ended[positions]
        found.append(Spent(phase, int(began.min()), int(ended.max()), len(positions), _covered(began, ended)))
    return sorted(found, key=lambda one: one.began_at)


def critical_path(graph: Graph, times: Times) -> list[int]:
    """Return the positions of the calls on the critical path, first to last; empty if nothing was called."""
    if not times.ended.any():
        return []
    entries, starts = _needs(graph)
    path = [int(times.ended.argmax())]
    while True:
        before = _last_before(path[-1], entries, starts, times)
        if before is None:
            return path[::-1]
        path.append(before)


def _last_before(position: int, entries: np.ndarray, starts: np.ndarray, times: Times) -> int | None:
    """Return the position of the need whose call ended last, among the needs of one entry; None if no need was called.

    A need that is never called is replaced by its own needs.
    """
    best: int | None = None
    seen = {position}
    front = [position]
    while front:
        at = front.pop()
        for need in entries[starts[at] : starts[at + 1]].tolist():
            if need in seen:
                continue
            seen.add(need)
            if not times.ended[need]:
                front.append(need)
            elif best is None or times.ended[need] > times.ended[best]:
                best = need
    return best


def _needs(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return (entries, starts): the needs of entry i are ``entries[starts[i]:starts[i + 1]]``."""
    sources = np.repeat(np.arange(len(graph), dtype=np.int32), np.diff(graph.ptr))
    starts = np.concatenate(([0], np.cumsum(graph.needs_count())))
    return sources[np.argsort(graph.idx, kind="stable")], starts


def _covered(began: np.ndarray, ended: np.ndarray) -> int:
    """Return the time in ms during which at least one span was open. Span i lasts from ``began[i]`` to ``ended[i]``."""
    order = np.argsort(began, kind="stable")
    began, ended = began[order], np.maximum.accumulate(ended[order])
    is_gap = began[1:] > ended[:-1]
    return int(ended[-1] - began[0] - (began[1:] - ended[:-1])[is_gap].sum())
