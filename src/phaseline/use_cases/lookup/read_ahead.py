"""Reads that a list makes for all its rows at once, instead of one after the other for each row (rule RF5).

Functions that explain one execution take ``ExecutionReads``. Given the store, they ask it what they need. Given a
``ReadAhead``, they find what a list has read ahead for all its executions with a few statements, and ask the store only
for the rest. So the same rules serve one execution and ten thousand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.model.rows.details import BatchRange, Decoded, DetailQuery
from phaseline.model.rows.rows import EntryStatuses, LaneStatistics

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph
    from phaseline.model.rows.rows import (
        BatchRow,
        DeploymentRow,
        EventRow,
        ExecutionRow,
        GraphRow,
        NoteRow,
        Owner,
        PausedRow,
        RequestRow,
    )
    from phaseline.ports.tenant_store import TenantStore


NOTES_READ_AHEAD = 10_000
"""Largest number of entries of an execution whose notes are all read ahead. In larger ones, only the shown notes are read."""


class ReadAhead:
    """Implements ``ports.execution_reads.ExecutionReads`` by what was read ahead from a store."""

    def __init__(self, store: TenantStore) -> None:
        """Begin with nothing; ``read`` reads ahead."""
        self.store = store
        self._owner: tuple[Owner | None] | None = None
        self._rows: dict[int, ExecutionRow] = {}
        self._graphs: dict[int, Sequence[GraphRow]] = {}
        self._ranges: dict[int, BatchRange] = {}
        self._of: dict[int, int] = {}
        """{graph: its execution}"""
        self._statuses: dict[int, Decoded[np.ndarray]] = {}
        self._columns: dict[int, Decoded[Graph]] = {}
        self._notes: dict[int, Decoded[Sequence[NoteRow]]] = {}
        self._batches: dict[int, Sequence[Decoded[BatchRow]]] = {}
        self._with_batches: set[int] = set()
        """Executions of which all batches were read."""
        self._open: Mapping[int, Sequence[Decoded[BatchRow]]] | None = None
        self._events: dict[int, Sequence[EventRow]] = {}
        self._requests: dict[int, Decoded[Sequence[RequestRow]]] = {}
        self._topologies: dict[int, Decoded[Topology]] = {}
        self._inputs: dict[int, Decoded[Mapping[str, Value]]] = {}
        self._states: dict[int, Decoded[np.ndarray]] = {}
        self._names: dict[int, tuple[str, ...]] = {}
        self._executions: dict[int, Sequence[ExecutionRow]] = {}
        self._open_executions: dict[int, Sequence[ExecutionRow]] = {}
        self._documents: dict[int, tuple[frozenset[int], Decoded[Mapping[int, dict[str, Value]]]]] = {}
        self._deployments: dict[str, DeploymentRow] = {}
        self._lanes: dict[str, LaneStatistics] = {}
        self._paused: Mapping[str, PausedRow] | None = None
        self.latest: dict[int, int] = {}
        """{deployment: number of its latest execution}, of those of which rounds were read."""
        self._owners: dict[int, ExecutionRow | None] = {}
        """{graph: its execution}, of graphs of which the contexts were read."""
        self.open_requests: Decoded[Sequence[RequestRow]] | None = None
        self.held = 0
        """Highest number of an execution that waits since a restore, if open requests were read."""
        self.has_schedules = False
        """True if there are schedules, if open requests were read."""

    def know(self, rows: Iterable[ExecutionRow]) -> None:
        """Take rows of executions that the caller has read."""
        self._rows.update((row.number, row) for row in rows)

    def know_deployments(self, rows: Iterable[DeploymentRow]) -> None:
        """Take rows of deployments that the caller has read."""
        self._deployments.update((row.name, row) for row in rows)

    def read(self, wanted: DetailQuery) -> None:
        """Read details of many executions, graphs and deployments by one statement."""
        found = self.store.listings.details(wanted)
        known = dict.fromkeys([*wanted.graphs_of, *found.graphs], ())
        self._graphs |= known | dict(found.graphs)
        self._ranges |= found.ranges
        self._of.update((graph.id, number) for number, graphs in found.graphs.items() for graph in graphs)
        self._statuses |= found.statuses
        self._columns |= found.columns
        self._notes |= found.notes
        self._batches |= found.batches
        self._with_batches.update(wanted.batches_of)
        self._open = self._open if found.open_batches is None else found.open_batches
        self._events |= found.events
        self._requests |= found.requests
        self._topologies |= found.topologies
        self._inputs |= found.inputs
        self._states |= found.states
        self._names |= found.state_names
        if wanted.only_open:
            self._open_executions |= found.executions
        else:
            self._executions |= found.executions
        for rows in found.executions.values():
            self.know(rows)
        self._documents |= {
            number: (frozenset(wanted.documents_of[number]), some) for number, some in found.documents.items()
        }
        self.know_deployments(found.deployments.values())
        self._lanes |= found.lanes
        self.latest |= found.latest
        self._owners |= dict.fromkeys(wanted.contexts_of) | dict(found.owners)
        self.know(found.owners.values())
        if found.open_requests is not None:
            self.open_requests, self.held = found.open_requests, found.held
            self.has_schedules = found.has_schedules

    def ranges_of(self, executions: Iterable[int]) -> Mapping[int, BatchRange]:
        """Return {execution: range of its batches}, of executions with graphs that were read, for another query."""
        return {number: self._ranges[number] for number in executions if number in self._ranges}

    def owners_of(self, graphs: Iterable[int]) -> Mapping[int, ExecutionRow]:
        """Return {graph: its execution}; with the deployments, topologies and columns of those not read before."""
        numbers = list(graphs)
        unknown = [number for number in numbers if number not in self._owners]
        if unknown:
            self.read(DetailQuery(contexts_of=unknown))
        return {number: row for number in numbers if (row := self._owners[number]) is not None}

    # -- the methods of ``ExecutionReads``

    def owner(self) -> Owner | None:
        """Return the process that owns the store, as it was when it was first asked for."""
        if self._owner is None:
            self._owner = (self.store.owner(),)
        return self._owner[0]

    def deployment(self, name: str) -> DeploymentRow | None:
        """Return the deployment of this name that is not deleted, or None."""
        return self._deployments[name] if name in self._deployments else self.store.deployment(name)

    def topology(self, deployment: int) -> Topology:
        """Return the instances and relationship instances of a deployment."""
        known = self._topologies.get(deployment)
        return self.store.topology(deployment) if known is None else known()

    def inputs(self, deployment: int) -> Mapping[str, Value]:
        """Return the inputs of a deployment."""
        known = self._inputs.get(deployment)
        return self.store.inputs(deployment) if known is None else known()

    def states(self, deployment: int) -> np.ndarray:
        """Return the states of all instances as uint8, by instance number."""
        known = self._states.get(deployment)
        return self.store.states(deployment) if known is None else known()

    def state_names(self, deployment: int) -> tuple[str, ...]:
        """Return the names of a deployment's resource states."""
        return self._names[deployment] if deployment in self._names else self.store.state_names(deployment)

    def documents(self, deployment: int, instances: Sequence[int] | None = None) -> Mapping[int, dict[str, Value]]:
        """Return {instance number: runtime properties} without instances that have none."""
        numbers, known = self._documents.get(deployment, (frozenset[int](), None))
        if known is None or instances is None or not numbers.issuperset(instances):
            return self.store.documents(deployment, instances)
        found, wanted = known(), set(instances)
        return {number: found[number] for number in found if number in wanted}

    def executions(self, deployment: int | None = None, *, only_open: bool = False) -> Sequence[ExecutionRow]:
        """Return executions sorted by number, oldest first."""
        if deployment is not None:
            if only_open and deployment in self._open_executions:
                return self._open_executions[deployment]
            if deployment in self._executions:
                rows = self._executions[deployment]
                return [row for row in rows if not row.status.is_ended] if only_open else rows
        return self.store.executions(deployment, only_open=only_open)

    def graphs(self, execution: int) -> Sequence[GraphRow]:
        """Return the rows of an execution's graphs in the order of its rounds."""
        known = self._graphs.get(execution)
        return self.store.graphs(execution) if known is None else known

    def graph(self, graph: int) -> Graph:
        """Return one graph with its entries and edges."""
        known = self._columns.get(graph)
        return self.store.graph(graph) if known is None else known()

    def statuses(self, graph: int) -> np.ndarray:
        """Return a copy of the stored statuses of a graph's entries, as uint8 by position."""
        known = self._statuses.get(graph)
        return self.store.statuses(graph) if known is None else known().copy()

    def entry_statuses(self, graph: int, calls: Sequence[BatchRow] | None = None) -> EntryStatuses:
        """Return the statuses of a graph's entries by position, including running ones."""
        row = self._rows.get(self._of.get(graph, 0))
        if graph not in self._statuses or (calls is None and (row is None or self._open is None)):
            return self.store.entry_statuses(graph, calls)
        stored = self.statuses(graph)
        if calls is None:
            if row is not None and row.status.is_ended:
                return EntryStatuses(stored, stored)
            calls = self._open_in([graph])
        return EntryStatuses.of(stored, graph, calls)

    def open_calls(self, graph: int) -> Sequence[BatchRow]:
        """Return the open batches with members of a graph, by id."""
        if self._open is None:
            return [row for row in self.store.batches(only_open=True) if graph in row.places.graphs]
        return self._open_in([graph])

    def _open_in(self, graphs: Iterable[int]) -> list[BatchRow]:
        """Return the open batches with members of these graphs, by id."""
        known = self._open or {}
        return _distinct(one for graph in graphs for one in known.get(graph, ()))

    def notes(self, graph: int, *, among: Collection[int] | None = None) -> Sequence[NoteRow]:
        """Return the notes of a graph sorted by position; if ``among`` is given, only those at these positions."""
        known = self._notes.get(graph)
        if known is None:
            return self.store.notes(graph, among=among)
        if among is None:
            return known()
        wanted = set(among)
        return [note for note in known() if note.position in wanted]

    def messages(self, graph: int) -> Mapping[int, tuple[int, str]]:
        """Return {position: (due time in ms, message)} of all notes."""
        if graph not in self._notes:
            return self.store.messages(graph)
        return {note.position: (note.due, note.message) for note in self.notes(graph)}

    def batches(self, *, execution: int | None = None, only_open: bool = False) -> Sequence[BatchRow]:
        """Return batches sorted by id: all, or those with members of one execution."""
        if execution is None:
            if only_open and self._open is not None:
                return self._open_in(self._open)
            return self.store.batches(only_open=only_open)
        if execution in self._with_batches or self._graphs.get(execution) == ():
            rows = _distinct(one for graph in self.graphs(execution) for one in self._batches.get(graph.id, ()))
            return [row for row in rows if not row.closed_at] if only_open else rows
        if only_open and self._open is not None and execution in self._graphs:
            return self._open_in([graph.id for graph in self._graphs[execution]])
        return self.store.batches(execution=execution, only_open=only_open)

    def runs_of(self, lane: str, *, last: int = 100) -> LaneStatistics:
        """Return statistics of a lane's stored batches, over all executions."""
        return self._lanes[lane] if lane in self._lanes else self.store.runs_of(lane, last=last)

    def events(self, execution: int, *, after: int = 0, limit: int = 10_000) -> Sequence[EventRow]:
        """Return events of an execution above a sequence number; only those of the types that were read ahead."""
        if execution not in self._events:
            return self.store.events(execution, after=after, limit=limit)
        return [event for event in self._events[execution] if event.sequence > after][:limit]

    def requests_of(self, execution: int) -> Sequence[RequestRow]:
        """Return all requests about an execution, answered or not, oldest first."""
        known = self._requests.get(execution)
        return self.store.requests_of(execution) if known is None else known()

    def paused_phases(self) -> Mapping[str, PausedRow]:
        """Return {name of a paused phase in lower case: its pause}."""
        if self._paused is None:
            self._paused = self.store.paused_phases()
        return self._paused


def _distinct(batches: Iterable[Decoded[BatchRow]]) -> list[BatchRow]:
    """Return batches, each once, by id; a batch with members of several graphs is known for each of them."""
    return sorted({row.id: row for row in (one() for one in batches)}.values(), key=lambda row: row.id)


def read_calls(store: TenantStore, row: ExecutionRow) -> ReadAhead:
    """Read the rounds of an execution, their entries and calls, and the topology, with two statements."""
    reads = ReadAhead(store)
    reads.know([row])
    reads.read(DetailQuery(graphs_of=[row.number], with_columns=True, topologies_of=[row.deployment]))
    graphs = reads.graphs(row.number)
    with_notes = sum(graph.entry_count for graph in graphs) <= NOTES_READ_AHEAD
    reads.read(
        DetailQuery(
            batches_of=reads.ranges_of([row.number]), notes_of=[graph.id for graph in graphs] if with_notes else ()
        )
    )
    return reads
