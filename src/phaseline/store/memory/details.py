"""Details of many executions, graphs and deployments, from the store in memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from phaseline.model.rows import details
from phaseline.model.rows.details import BatchRange, Decoded, DetailQuery, Details
from phaseline.store.codec.json_documents import EMPTY
from phaseline.store.memory.requests import unanswered

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from phaseline.model.rows.rows import BatchRow, DeploymentRow, ExecutionRow, NoteRow
    from phaseline.store.memory.tables import HeldGraph, MemoryTables
    from phaseline.store.memory.tenant_rows import MemoryTenantRows

UNBOUNDED = BatchRange(0, 0)


def read_details(
    held: MemoryTables,
    wanted: DetailQuery,
    own: MemoryTenantRows,
    found_in: Callable[[DeploymentRow], DeploymentRow],
    *,
    has_schedules: bool,
) -> Details:
    """Return the details of the tenant's rows that a query wants; the caller has the lock of the tables.

    ``found_in`` returns a deployment's row with the folders of its packages.
    """
    wanted = details.restricted(wanted, own.strange)
    rounds = _executions(held, wanted)
    graphs = {number: [held.graphs[graph] for graph in held.executions[number].graphs] for number in sorted(rounds)}
    owners = _owners(held, wanted.contexts_of)
    places = {row.deployment for row in owners.values()}
    columns = {*wanted.columns_of, *wanted.contexts_of}
    if wanted.with_columns:
        columns.update(known.row.id for some in graphs.values() for known in some)
    return Details(
        graphs={number: [known.row for known in some] for number, some in graphs.items() if some},
        ranges=dict.fromkeys((number for number, some in graphs.items() if some), UNBOUNDED),
        statuses={known.row.id: _ready(known.statuses()) for some in graphs.values() for known in some},
        columns={graph: _ready(held.graphs[graph].graph) for graph in _known(columns, held.graphs)},
        notes={graph: _ready(_notes(held.graphs[graph]) if graph in held.graphs else []) for graph in wanted.notes_of},
        batches=_batches(held, own, wanted.batches_of),
        open_batches=_by_graph(own, held.batches_of(None, only_open=True)) if wanted.open_batches else None,
        events={
            number: [event for event in held.executions[number].events if event.type in wanted.event_types]
            if number in held.executions
            else []
            for number in wanted.events_of
        },
        requests={number: _ready(_requests(held, number)) for number in wanted.requests_of},
        topologies={
            number: _ready(held.deployments[number].topology)
            for number in _known({*wanted.topologies_of, *places}, held.deployments)
        },
        inputs={
            number: _ready(json.loads(held.deployments[number].inputs))
            for number in _known(wanted.inputs_of, held.deployments)
        },
        states={
            number: _ready(held.deployments[number].states.copy())
            for number in _known(wanted.states_of, held.deployments)
        },
        state_names={
            number: held.deployments[number].state_names for number in _known(wanted.states_of, held.deployments)
        },
        executions={number: _rows(held, number, only_open=wanted.only_open) for number in wanted.executions_of},
        owners=owners,
        documents={number: _ready(_documents(held, number, some)) for number, some in wanted.documents_of.items()},
        latest={
            number: max((row.number for row in _rows(held, number)), default=0)
            for number in _known(wanted.rounds_of, held.deployments)
        },
        deployments={number: found_in(held.deployments[number].row) for number in places},
        lanes={lane: held.runs_of(lane, wanted.last_calls, own) for lane in wanted.lanes},
        open_requests=_ready(unanswered(held, 0, own)) if wanted.open_requests else None,
        has_schedules=has_schedules,
    )


def _ready(value: Any) -> Decoded[Any]:
    return Decoded(lambda: value)


def _known(wanted: Collection[int], held: Mapping[int, object]) -> Iterable[int]:
    return (number for number in wanted if number in held)


def _executions(held: MemoryTables, wanted: DetailQuery) -> set[int]:
    """Return the executions of which graphs are wanted."""
    found = set(_known(wanted.graphs_of, held.executions))
    found.update(row.number for number in wanted.graphs_within for row in _rows(held, number))
    for number in wanted.rounds_of:
        rows = _rows(held, number)
        found.update(row.number for row in rows if not row.status.is_ended or row is rows[-1])
    return found


def _rows(held: MemoryTables, deployment: int, *, only_open: bool = False) -> Sequence[ExecutionRow]:
    rows = (known.row for known in held.executions.values())
    return [row for row in rows if row.deployment == deployment and not (only_open and row.status.is_ended)]


def _notes(known: HeldGraph) -> Sequence[NoteRow]:
    return [known.notes[position] for position in sorted(known.notes)]


def _batches(
    held: MemoryTables, own: MemoryTenantRows, wanted: Iterable[int]
) -> Mapping[int, Sequence[Decoded[BatchRow]]]:
    rows = {row.id: row for number in wanted for row in held.batches_of(number, only_open=False)}
    return _by_graph(own, [rows[id] for id in sorted(rows)])


def _by_graph(own: MemoryTenantRows, rows: Iterable[BatchRow]) -> Mapping[int, Sequence[Decoded[BatchRow]]]:
    found: dict[int, list[Decoded[BatchRow]]] = {}
    for each in rows:
        row = own.without_others(each)
        if row is None:
            continue
        batch = _ready(row)
        for graph in set(row.places.graphs):
            found.setdefault(graph, []).append(batch)
    return found


def _requests(held: MemoryTables, execution: int) -> Sequence[object]:
    return [request for request in held.requests.values() if request.execution == execution]


def _owners(held: MemoryTables, graphs: Iterable[int]) -> Mapping[int, ExecutionRow]:
    return {graph: held.executions[held.graphs[graph].row.execution].row for graph in graphs if graph in held.graphs}


def _documents(held: MemoryTables, deployment: int, instances: Iterable[int]) -> Mapping[int, object]:
    texts = held.deployments[deployment].documents if deployment in held.deployments else {}
    wanted = sorted(set(map(int, instances)) & texts.keys())
    return {number: json.loads(texts[number]) for number in wanted if texts[number] != EMPTY}
