"""List the instances that are stopped at breakpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution.breakpoints import PREFIX
from phaseline.model.graph.status import EntryStatus
from phaseline.use_cases.lookup.find import find_deployment

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.tenant_store import StoreRows


@frozen
class StoppedInstance:
    """An instance that is stopped at the breakpoint ``point``.

    ``graph`` and ``position`` identify the entry of the breakpoint that waits for this instance.
    """

    point: str
    instance: str
    node: str
    deployment: str
    execution: str
    message: str
    graph: int
    position: int


def list_breakpoints(ctx: RequestContext, deployment: str | None = None) -> Sequence[StoppedInstance]:
    """Return the instances that are stopped at breakpoints, oldest execution first.

    ``deployment``: return only instances of this deployment; None: of all deployments.
    """
    number = find_deployment(ctx.store, deployment).number if deployment else None
    rows = ctx.store.executions(number, only_open=True)
    return [one for row in rows if row.request.breakpoints for one in stopped_in(ctx.store, row)]


def stopped_in(store: StoreRows, row: ExecutionRow) -> Iterator[StoppedInstance]:
    """Yield the instances that are stopped at breakpoints in one execution."""
    topology = store.topology(row.deployment)
    for known in store.graphs(row.number):
        is_asleep = store.statuses(known.id) == EntryStatus.SLEEPING
        if not is_asleep.any():
            continue
        graph = store.graph(known.id)
        steps = [step for step in graph.steps if step.phase.startswith(PREFIX)]
        if not steps:
            continue
        notes = {note.position: note.message for note in store.notes(known.id)}
        for step in steps:
            mine = np.arange(step.first, step.first + step.count)
            for position in mine[is_asleep[mine]].tolist():
                number = int(graph.subject[position])
                yield StoppedInstance(
                    step.phase.removeprefix(PREFIX),
                    topology.ids[number],
                    topology.nodes[int(topology.node[number])].name,
                    row.deployment_name,
                    row.id,
                    notes.get(position, ""),
                    known.id,
                    position,
                )
