"""The PhaseMap of a blueprint node: its phase entries, read from the graphs of workflows (decision 15)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.graph import has_phases, phase_of, state_entered
from phaseline.model.graph.status import EntryStatus
from phaseline.model.phases.phase_data import data_in
from phaseline.model.rows import row_queries
from phaseline.use_cases.queries.resources.phase_entries import message_of
from phaseline.use_cases.queries.resources.state_stays import MET, WORDS, Stay
from phaseline.views.phase_entry import PhaseEntryView

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.graph.graph import Graph
    from phaseline.model.rows.rows import BatchRow, GraphRow
    from phaseline.ports.tenant_store import TenantStore

LATEST = 10
"""Number of executions that are searched; data of phases in older ones is in the instance's document."""


@frozen
class NodePhase:
    """One phase of one node in a graph, in a state that the node has entered."""

    phase: str
    state: str
    position: int
    status: EntryStatus


def phases_of_node(
    store: TenantStore, deployment: int, number: int, document: dict[str, Value]
) -> list[PhaseEntryView]:
    """Return the entries of all phases that an instance was in during the deployment's last ``LATEST`` executions.

    They are in the order of entering; of several entries of a phase, only the latest is returned. ``number`` and
    ``document`` are those of the instance.
    """
    found: dict[str, PhaseEntryView] = {}
    latest = row_queries.ExecutionQuery(deployments=(deployment,), is_latest_first=True, limit=LATEST)
    for row in reversed(store.listings.executions(latest)):
        batches: Sequence[BatchRow] = ()
        for graph in store.graphs(row.number):
            columns = store.graph(graph.id)
            if not has_phases(columns.steps):
                continue
            batches = batches or store.batches(execution=row.number)
            stay = _stay(store, graph, batches)
            for spot in _spots(columns, stay.status, number):
                found.pop(spot.phase, None)
                if spot.status is not EntryStatus.PASSED:
                    found[spot.phase] = _entry(stay, spot, batches, document)
    return list(found.values())


def _stay(store: TenantStore, graph: GraphRow, batches: Sequence[BatchRow]) -> Stay:
    """Return the stay that a graph describes; clusters read stays in the same way."""
    return Stay(store, graph.id, graph.execution, "", graph.created_at, lambda: batches)


def _spots(graph: Graph, status: np.ndarray, number: int) -> Iterator[NodePhase]:
    state, has_entered = "", False
    for step in graph.steps:
        entered, phase = state_entered(step.phase), phase_of(step.phase)
        if entered is None and phase is None:
            continue
        for place in np.flatnonzero(graph.subject[step.first : step.first + step.count] == number).tolist():
            position = step.first + place
            here = EntryStatus(int(status[position]))
            if entered is not None:
                state, has_entered = entered, here in MET
            elif phase is not None and has_entered:
                yield NodePhase(phase, state, position, here)


def _entry(stay: Stay, spot: NodePhase, batches: Sequence[BatchRow], document: dict[str, Value]) -> PhaseEntryView:
    note = stay.notes.get(spot.position)
    calls = [
        batch
        for batch in batches
        for of, positions in batch.segments
        if of == stay.graph and spot.position in positions
    ]
    last = calls[-1] if calls else None
    return PhaseEntryView(
        spot.phase,
        WORDS[spot.status],
        spot.state,
        message=message_of(note),
        description=spot.phase,
        started_at=last.started_at if last is not None else 0,
        ended_at=last.closed_at if last is not None else 0,
        next_run_at=note.due if note is not None and spot.status is EntryStatus.SLEEPING else 0,
        run_count=len(calls),
        attempt=note.generation + 1 if note is not None else 1,
        run=last.id if last is not None else 0,
        data=data_in(document, spot.phase),
    )
