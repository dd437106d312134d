"""Which execution's running call keeps others out of a bulk lane: one run of a phase at a time (PD35)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.frozen import altered
from phaseline.model.graph import SubjectKind
from phaseline.model.status import EntryStatus

if TYPE_CHECKING:
    from phaseline.model.graph import Graph, LaneSpec, Step
    from phaseline.model.rows import BatchRow, ExecutionRow
    from phaseline.model.topology import Topology
    from phaseline.plan.why import Reason
    from phaseline.ports import Store

UNBEGUN = (EntryStatus.BLOCKED, EntryStatus.WAITING)


def held_up(store: Store, row: ExecutionRow, graph: Graph, reason: Reason) -> Reason:
    """The reason of an entry that is ready, with the execution whose running call it waits for, if there is one."""
    other = holder(store, row, graph, reason)
    if other is None:
        return reason
    return altered(
        reason,
        kind="slot",
        text=f"{reason.operation} is ready and waits for the running call of {other.id} of '{other.deployment_name}'",
        mend=f"One call of it runs at a time; it begins when that one returns: phaseline executions follow {other.id}",
    )


def holder(store: Store, row: ExecutionRow, graph: Graph, reason: Reason) -> ExecutionRow | None:
    """The other execution whose running call an entry that is ready waits for, or None."""
    is_ready = reason.kind == "slot" or (reason.kind == "blocked" and not reason.blocker_count)
    return _holder(store, row, _lane(graph, reason.position)) if is_ready else None


def first_held(
    store: Store, row: ExecutionRow, graph: Graph, topology: Topology, statuses: np.ndarray
) -> tuple[Step, np.ndarray, ExecutionRow] | None:
    """Of an execution in which nothing runs or sleeps: (step, its positions that have not begun, the execution it waits for)."""
    from phaseline.plan.why import explain

    busy = {batch.phase for batch in store.batches(only_open=True)}
    for step in graph.steps if busy else ():
        here = np.arange(step.first, step.first + step.count)
        left = here[np.isin(statuses[here], UNBEGUN)]
        if step.kind is not SubjectKind.INSTANCE or not len(left) or _lane(graph, int(left[0])).phase not in busy:
            continue
        first = int(left[0])
        reasons = explain(topology, graph, statuses, (), int(graph.subject[first]))
        for reason in reasons:
            other = holder(store, row, graph, reason) if reason.position == first else None
            if other is not None:
                return step, left, other
    return None


def _lane(graph: Graph, position: int) -> LaneSpec:
    return graph.policies[int(graph.policy[position])].lane


def _holder(store: Store, row: ExecutionRow, lane: LaneSpec) -> ExecutionRow | None:
    """Another open execution that has the only call of the lane; of lanes with a key it is not known which entries share one."""
    if lane.form != "bulk" or lane.key is not None:
        return None
    running = [batch for batch in store.batches(only_open=True) if batch.phase == lane.phase]
    running = [batch for batch in running if _is_of(store, batch, lane)]
    if len(running) < max(1, lane.concurrency):
        return None
    graphs = {number for batch in running for number in batch.places.graphs}
    for other in store.executions(only_open=True):
        if other.number != row.number and any(one.id in graphs for one in store.graphs(other.number)):
            return other
    return None


def _is_of(store: Store, batch: BatchRow, lane: LaneSpec) -> bool:
    number, positions = next(batch.segments)
    return _lane(store.graph(number), int(positions[0])) == lane
