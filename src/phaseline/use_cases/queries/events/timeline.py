"""The timeline of an execution: its rounds, the phases of each round, and the calls on its critical path.

The critical path has the calls that determined when the round was finished.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.graph import phase_of
from phaseline.model.problems.problem import problem_error
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.plan.explain import critical_path as explain_critical_path
from phaseline.use_cases.lookup.entries import GraphEntries
from phaseline.use_cases.lookup.find import find_execution
from phaseline.use_cases.lookup.read_ahead import read_calls

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph, Step
    from phaseline.model.rows.rows import BatchRow, GraphRow
    from phaseline.plan.explain.critical_path import Times


@frozen
class PhaseTime:
    """One operation or phase in a round; times in ms.

    ``entries``: number of entries that were called; ``calls``: number of calls for them. ``busy_ms``: how long at least
    one of these calls was running.
    """

    phase: str
    began_at: int
    ended_at: int
    busy_ms: int
    entries: int
    calls: int


@frozen
class CriticalCall:
    """A call on the critical path: it helped to determine when its round was finished.

    ``waited_ms``: time between the end of the call before it on the path and its own start.
    """

    instance: str
    phase: str
    began_at: int
    took_ms: int
    waited_ms: int


@frozen
class RoundTime:
    """One round: the start of its first call, the end of its last call, its phases, and its critical path in order."""

    name: str
    attempt: int
    began_at: int
    ended_at: int
    phases: Sequence[PhaseTime]
    critical_path: Sequence[CriticalCall]


@frozen
class Timeline:
    """The rounds of an execution. ``now_at``: time of reading (ms), which serves as the end of calls still running."""

    execution: str
    deployment: str
    status: str
    created_at: int
    started_at: int
    ended_at: int
    now_at: int
    rounds: Sequence[RoundTime]


def timeline(ctx: RequestContext, id: str | None = None, *, deployment: str | None = None) -> Timeline:
    """Return the timeline of an execution.

    Raises: PL-C011; PL-C067 for an execution that brings resources to a target, because its resources move independently.
    """
    store = ctx.store
    row = find_execution(store, id, deployment)
    if row.request.workflow == REACH_WORKFLOW:
        mend = f"see: phaseline resources history NAME -d {row.deployment_name}, or phaseline phases show PHASE"
        raise problem_error(
            "PL-C067", f"{row.id} brings resources to their targets, each in its own time", mend, subject=row.id
        )
    now = ctx.clock.now()
    reads = read_calls(store, row)
    batches = reads.batches(execution=row.number)
    topology = reads.topology(row.deployment)
    rounds = [_round(stored, reads.graph(stored.id), batches, topology, now) for stored in reads.graphs(row.number)]
    return Timeline(
        row.id,
        row.deployment_name,
        row.status.value,
        row.created_at,
        row.started_at,
        row.ended_at,
        now,
        [one for one in rounds if one is not None],
    )


def _round(
    stored: GraphRow, graph: Graph, batches: Sequence[BatchRow], topology: Topology, now: int
) -> RoundTime | None:
    """Return the times of one round, or None if nothing was called in it."""
    times, calls = _times(stored.id, graph, batches, now)
    found = explain_critical_path.spent(graph, times)
    if not found:
        return None
    phases = [
        PhaseTime(
            phase_of(one.phase) or one.phase, one.began_at, one.ended_at, one.busy_ms, one.called, len(calls[one.phase])
        )
        for one in found
    ]
    path = _critical_calls(graph, topology, times, explain_critical_path.critical_path(graph, times))
    began, ended = min(one.began_at for one in found), max(one.ended_at for one in found)
    return RoundTime(stored.name, stored.attempt, began, ended, phases, path)


def _times(id: int, graph: Graph, batches: Sequence[BatchRow], now: int) -> tuple[Times, dict[str, set[int]]]:
    """Return (start and end of each entry's calls, {phase: ids of its batches})."""
    began, ended = np.zeros(len(graph), np.int64), np.zeros(len(graph), np.int64)
    entries = GraphEntries(graph)
    calls: dict[str, set[int]] = {}
    for batch in batches:
        for of, positions in batch.segments:
            if of == id and len(positions):
                began[positions] = np.where(began[positions] == 0, batch.started_at, began[positions])
                ended[positions] = batch.closed_at or now
                calls.setdefault(entries.phase(int(positions[0])), set()).add(batch.id)
    return explain_critical_path.Times(began, ended), calls


def _critical_calls(graph: Graph, topology: Topology, times: Times, path: Sequence[int]) -> list[CriticalCall]:
    found: list[CriticalCall] = []
    ready = int(times.began[path[0]]) if path else 0
    entries = GraphEntries(graph)
    for position in path:
        step = entries.step(position)
        began, ended = int(times.began[position]), int(times.ended[position])
        instance = entries.subject(topology, position)[0]
        found.append(CriticalCall(instance, _name(step), began, ended - began, max(0, began - ready)))
        ready = ended
    return found


def _name(step: Step) -> str:
    return phase_of(step.phase) or step.phase
