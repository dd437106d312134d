"""Events of an execution that brings resources to a target: one line for each state and for each call.

Resources get no lines of their own, because thousands may move at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.graph.graph import phase_of
from phaseline.model.graph.status import OutcomeKind
from phaseline.use_cases.queries.resources.state_stays import Stay
from phaseline.views.views import Line

if TYPE_CHECKING:
    from phaseline.model.rows.rows import BatchRow, ExecutionRow
    from phaseline.ports.execution_reads import ExecutionReads

WORDS = {
    OutcomeKind.PENDING: "without an answer",
    OutcomeKind.COMPLETED: "completed",
    OutcomeKind.AGAIN: "sleeping",
    OutcomeKind.RETRY: "failed, to be tried again",
    OutcomeKind.FAILED: "failed",
    OutcomeKind.UNSURE: "unsure",
    OutcomeKind.LOST: "interrupted",
}


def path_lines(store: ExecutionReads, row: ExecutionRow) -> Iterator[Line]:
    """Yield a line for each state that was entered, and lines for the start and end of each call, unsorted."""
    batches = store.batches(execution=row.number)
    for graph in store.graphs(row.number):
        stay = Stay(store, graph.id, row.number, graph.name, graph.created_at, lambda: batches)
        for state in stay.entered:
            text = f"{_resources(len(stay.subjects))} entered {state}" if state else "removed"
            yield Line(graph.created_at, "state", row.deployment_name, "", "", text)
    for batch in batches:
        yield from _call(batch, row)


def _call(batch: BatchRow, row: ExecutionRow) -> Iterator[Line]:
    phase = phase_of(batch.phase)
    if phase is None:
        return
    size = len(batch.places.positions)
    begun = f"run {batch.id} begins with {_resources(size)}"
    yield Line(batch.started_at, "run", row.deployment_name, "", phase, begun)
    if batch.closed_at and batch.kinds is not None:
        tally = np.bincount(batch.kinds, minlength=len(OutcomeKind))
        counts = ", ".join(
            f"{count:,} {WORDS[OutcomeKind(kind)]}" for kind, count in enumerate(tally.tolist()) if count
        )
        yield Line(batch.closed_at, "run", row.deployment_name, "", phase, f"run {batch.id} ends: {counts}")


def _resources(count: int) -> str:
    return f"{count:,} resource{'s' * (count != 1)}"
