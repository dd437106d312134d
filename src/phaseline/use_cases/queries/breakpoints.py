"""List the instances that are stopped at breakpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution.breakpoints import PREFIX
from phaseline.model.graph.status import EntryStatus
from phaseline.model.rows.details import DetailQuery
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.lookup.read_ahead import ReadAhead

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.execution_reads import ExecutionReads


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
    rows = [row for row in ctx.store.executions(number, only_open=True) if row.request.breakpoints]
    ahead = ReadAhead(ctx.store)
    ahead.read(DetailQuery(graphs_of=[row.number for row in rows]))
    asleep = {
        graph.id: row.deployment
        for row in rows
        for graph in ahead.graphs(row.number)
        if (ahead.statuses(graph.id) == EntryStatus.SLEEPING).any()
    }
    ahead.read(DetailQuery(columns_of=asleep, notes_of=asleep, topologies_of=set(asleep.values())))
    return [one for row in rows for one in stopped_in(ahead, row)]


def stopped_in(store: ExecutionReads, row: ExecutionRow) -> Iterator[StoppedInstance]:
    """Yield the instances that are stopped at breakpoints in one execution."""
    for known in store.graphs(row.number):
        is_asleep = store.statuses(known.id) == EntryStatus.SLEEPING
        if not is_asleep.any():
            continue
        graph = store.graph(known.id)
        steps = [step for step in graph.steps if step.phase.startswith(PREFIX)]
        if not steps:
            continue
        notes = {note.position: note.message for note in store.notes(known.id)}
        topology = store.topology(row.deployment)
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
