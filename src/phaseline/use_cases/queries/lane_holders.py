"""Find the execution whose running call delays entries of another execution in the lane of a bulk operation.

A phase has only one run at a time (PD35), and a function by default only one call (ADR 0033).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.functions import Functions
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import EntryStatus, OutcomeKind
from phaseline.plan.explain import wait_reasons

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph, LaneSpec, Step
    from phaseline.model.rows.rows import BatchRow, ExecutionRow
    from phaseline.plan.explain.wait_reasons import Reason
    from phaseline.use_cases.lookup.read_ahead import ReadAhead

UNBEGUN = (EntryStatus.BLOCKED, EntryStatus.WAITING)


def held_up(reads: ReadAhead, row: ExecutionRow, graph: Graph, reason: Reason) -> Reason:
    """Return the reason of a ready entry, changed to name the execution whose running call it waits for.

    If it waits for no call of another execution, return ``reason`` unchanged.
    """
    other = holder(reads, row, graph, reason)
    if other is None:
        return reason
    return altered(
        reason,
        kind="slot",
        text=f"{reason.operation} is ready and waits for the running call of {other.id} of '{other.deployment_name}'",
        mend=f"one call of its function runs at a time; it begins when that one returns: phaseline executions follow {other.id}",
    )


def holder(reads: ReadAhead, row: ExecutionRow, graph: Graph, reason: Reason) -> ExecutionRow | None:
    """Return the other execution whose running call a ready entry waits for, or None."""
    is_ready = reason.kind == "slot" or (reason.kind == "blocked" and not reason.blocker_count)
    return _Calls(reads).holder(row, graph, reason.position) if is_ready else None


def first_held(
    reads: ReadAhead, row: ExecutionRow, graph: Graph, topology: Topology, statuses: np.ndarray
) -> tuple[Step, np.ndarray, ExecutionRow] | None:
    """Find entries of a stalled execution that wait for a running call of another execution.

    Return (step, positions, other): these entries of ``step`` call one function, which ``other`` is calling now. Return
    None if no entry waits in this way. The execution ``row`` must have no running and no sleeping entry.
    """
    busy = {batch.phase for batch in reads.batches(only_open=True)}
    for step in graph.steps if busy else ():
        here = np.arange(step.first, step.first + step.count)
        left = here[np.isin(statuses[here], UNBEGUN)]
        if step.kind is not SubjectKind.INSTANCE or not len(left) or _lane(graph, int(left[0])).phase not in busy:
            continue
        first = int(left[0])
        reasons = wait_reasons.explain(topology, graph, statuses, (), int(graph.subject[first]))
        for reason in reasons:
            other = holder(reads, row, graph, reason) if reason.position == first else None
            if other is not None:
                functions = _Calls(reads).functions(row).numbers(step.phase, step.kind, graph.subject[left])
                return step, left[functions == functions[0]], other
    return None


def _lane(graph: Graph, position: int) -> LaneSpec:
    return graph.policies[int(graph.policy[position])].lane


class _Calls:
    """The running calls in a store, with the executions and functions that they belong to."""

    def __init__(self, reads: ReadAhead) -> None:
        """Prepare lookups; read nothing yet."""
        self._reads = reads

    def holder(self, row: ExecutionRow, graph: Graph, position: int) -> ExecutionRow | None:
        """Return another open execution whose running calls fill the lane of an entry's function, or None.

        Lanes with a batch key are not examined, because it is unknown which entries share a key.
        """
        lane, step = _lane(graph, position), _step(graph, position)
        if lane.form != "bulk" or lane.key is not None:
            return None
        function = self.functions(row).number(step.phase, step.kind, int(graph.subject[position]))
        running = [batch for batch in self._reads.batches(only_open=True) if batch.phase == lane.phase]
        owners = self._reads.owners_of({number for batch in running for number in batch.places.graphs})
        held = [
            calling
            for batch in running
            if _is_of(self._reads, batch, lane) and (calling := list(self._callers(batch, lane, function, owners)))
        ]
        if len(held) < max(1, lane.concurrency):
            return None
        return next((other for calling in held for other in calling if other.number != row.number), None)

    def _callers(
        self, batch: BatchRow, lane: LaneSpec, function: int, owners: Mapping[int, ExecutionRow]
    ) -> Iterator[ExecutionRow]:
        """Yield the open executions with entries in a batch that call ``function`` and have no outcome yet."""
        first = 0
        for number, positions in batch.segments:
            kinds = None if batch.kinds is None or not len(batch.kinds) else batch.kinds[first : first + len(positions)]
            first += len(positions)
            pending = positions if kinds is None else positions[kinds == OutcomeKind.PENDING]
            row = owners.get(number)
            if row is None or row.status.is_ended or not len(pending):
                continue
            graph = self._reads.graph(number)
            kind = _step(graph, int(pending[0])).kind
            if (self.functions(row).numbers(lane.phase, kind, graph.subject[pending]) == function).any():
                yield row

    def functions(self, row: ExecutionRow) -> Functions:
        """Return the object that computes function numbers of entries in the deployment of an open execution.

        The deployment exists, because a deployment with an open execution cannot be deleted.
        """
        deployment = self._reads.deployment(row.deployment_name)
        assert deployment is not None
        return Functions(self._reads.topology(row.deployment), deployment.code)


def _step(graph: Graph, position: int) -> Step:
    return next(step for step in graph.steps if position < step.first + step.count)


def _is_of(reads: ReadAhead, batch: BatchRow, lane: LaneSpec) -> bool:
    number, positions = next(batch.segments)
    return _lane(reads.graph(number), int(positions[0])) == lane
