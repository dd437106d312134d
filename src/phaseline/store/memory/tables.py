"""Data of the store in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Blueprint
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.pre_post import PrePost
from phaseline.model.graph.graph import Graph
from phaseline.model.health.checks import CheckResults, HeldBodies
from phaseline.model.resources.resources import ResourceAddition, grown
from phaseline.model.rows.causes import CauseKey
from phaseline.model.rows.rows import (
    BatchRow,
    DeploymentRow,
    EntryStatuses,
    EventRow,
    ExecutionRow,
    GraphRow,
    LaneStatistics,
    LogLine,
    Metric,
    NewDeployment,
    NoteRow,
    PausedRow,
    RequestRow,
    Reshaped,
)
from phaseline.model.rows.shard_ids import shard_of
from phaseline.store.codec.columns import from_pages
from phaseline.store.codec.json_documents import EMPTY, to_text
from phaseline.store.memory.tenant_rows import MemoryTenantRows
from phaseline.store.wake_ups import WakeUps


@dataclass(slots=True)
class HeldDeployment:
    """A deployment with all its data. ``deleted_at`` is 0 while it is not deleted.

    ``version`` counts how often the deployment has changed its shape, blueprint or inputs.
    """

    row: DeploymentRow
    blueprint: Blueprint
    inputs: str
    topology: Topology
    states: np.ndarray
    documents: dict[int, str] = field(default_factory=dict)
    checks: CheckResults = field(default_factory=lambda: CheckResults(HeldBodies()))
    deleted_at: int = 0
    cause: CauseKey | None = None
    state_names: tuple[str, ...] = ()
    version: int = 0

    @classmethod
    def of(cls, number: int, new: NewDeployment) -> HeldDeployment:
        """Make a new deployment from the data with which a user creates it."""
        row = DeploymentRow(
            number=number,
            name=new.name,
            blueprint_file=new.blueprint.file,
            description=new.blueprint.description,
            code=new.code,
            created_at=new.created_at,
            created_by=new.actor.name,
            instance_count=len(new.topology),
            kind=new.kind,
            tenant=new.actor.tenant,
        )
        texts = {instance: to_text(dict(body)) for instance, body in new.documents.items()}
        return cls(
            row,
            blueprint=new.blueprint,
            inputs=to_text(dict(new.inputs)),
            topology=new.topology,
            states=np.zeros(len(new.topology), np.uint8),
            documents={instance: text for instance, text in texts.items() if text != EMPTY},
            cause=new.cause,
        )

    def grow(self, growth: ResourceAddition) -> None:
        """Append resources to the existing ones. Raises: ``OutgrownError`` if other resources were added meanwhile."""
        self.topology = grown(self.topology, growth)
        self.version += 1
        self.blueprint = self.topology.blueprint
        self.row = altered(self.row, instance_count=len(self.topology))
        self.states = np.concatenate((self.states, np.zeros(len(growth.ids), np.uint8)))
        texts = ((number, to_text(dict(body))) for number, body in growth.documents.items())
        self.documents.update((number, text) for number, text in texts if text != EMPTY)

    def reshape(self, row: Reshaped) -> None:
        """Replace the deployment's topology, and the blueprint and inputs if these changed too."""
        added = len(row.topology) - len(self.topology)
        self.topology = row.topology
        self.version += 1
        self.states = np.concatenate((self.states, np.zeros(added, np.uint8)))
        self.row = altered(self.row, instance_count=len(row.topology), code=row.code or self.row.code)
        if row.inputs is not None:
            self.inputs = to_text(dict(row.inputs))
        if row.blueprint is not None:
            self.blueprint = row.blueprint
            self.row = altered(self.row, blueprint_file=row.blueprint.file, description=row.blueprint.description)


@dataclass(slots=True)
class HeldGraph:
    """A graph with the pages of its statuses and its notes."""

    row: GraphRow
    graph: Graph
    pages: dict[int, bytes] = field(default_factory=dict)
    notes: dict[int, NoteRow] = field(default_factory=dict)

    def statuses(self) -> np.ndarray:
        """Return the stored statuses of the graph's entries, by position."""
        return from_pages(self.row.entry_count, self.pages.items())


@dataclass(slots=True)
class HeldExecution:
    """An execution with all its data."""

    row: ExecutionRow
    around: PrePost = field(default_factory=PrePost)
    graphs: list[int] = field(default_factory=list)
    batches: dict[int, None] = field(default_factory=dict)
    logs: list[LogLine] = field(default_factory=list)
    events: list[EventRow] = field(default_factory=list)
    last_log: int = 0
    last_event: int = 0
    cause: CauseKey | None = None


@dataclass(slots=True)
class MemoryTables:
    """All stored data by number, and the highest numbers ever given out."""

    deployments: dict[int, HeldDeployment] = field(default_factory=dict)
    executions: dict[int, HeldExecution] = field(default_factory=dict)
    graphs: dict[int, HeldGraph] = field(default_factory=dict)
    batches: dict[int, BatchRow] = field(default_factory=dict)
    open_batches: dict[int, None] = field(default_factory=dict)
    requests: dict[int, RequestRow] = field(default_factory=dict)
    paused: dict[tuple[str, str], PausedRow] = field(default_factory=dict)
    known_phases: dict[str, str] = field(default_factory=dict)
    measures: dict[str, Metric] = field(default_factory=dict)
    awaiting: dict[tuple[int, int, int, int], int] = field(default_factory=dict)
    blueprint_causes: dict[int, CauseKey] = field(default_factory=dict)
    """{(execution, graph, position, awaited execution): since when in ms}."""
    last_deployment: int = 0
    last_execution: int = 0
    last_request: int = 0
    last_ids: dict[tuple[str, int], int] = field(default_factory=dict)
    last_heard: int = 0
    wake_ups: WakeUps = field(default_factory=WakeUps)
    """{("graph" or "batch", shard): the highest id that was stored}."""
    looks: int = 1
    """How often something was written, plus 1."""

    def note_id(self, kind: str, id: int) -> None:
        """Record that an id was used."""
        key = kind, shard_of(id)
        self.last_ids[key] = max(self.last_ids.get(key, 0), id)

    def batches_of(self, execution: int | None, *, only_open: bool) -> list[BatchRow]:
        """Return batches sorted by id, with all their members: those of one execution, or all."""
        if execution is None:
            wanted = self.open_batches if only_open else self.batches
        else:
            wanted = self.executions[execution].batches if execution in self.executions else {}
        rows = (self.batches[number] for number in sorted(wanted))
        return [row for row in rows if not (only_open and row.closed_at)]

    def runs_of(self, lane: str, last: int, own: MemoryTenantRows) -> LaneStatistics:
        """Return statistics of the batches of a lane, with the ``last`` latest of them."""
        lanes = (row for row in self.batches_of(None, only_open=False) if row.phase == lane)
        mine = (own.without_others(row) for row in lanes if own.tenant is None or own.graph(row.places.graphs[0]) > 0)
        found = [row for row in mine if row is not None]
        took_ms = sum(row.closed_at - row.started_at for row in found if row.closed_at)
        return LaneStatistics(len(found), took_ms, found[-last:])

    def entry_statuses(self, graph: int, calls: Sequence[BatchRow] | None) -> EntryStatuses:
        """Return the stored and the present statuses of a graph's entries by position.

        ``calls``: the open batches, whose members are running. If None, they are read, unless the execution has ended.
        """
        held = self.graphs[graph]
        stored = held.statuses()
        if calls is None and self.executions[held.row.execution].row.status.is_ended:
            return EntryStatuses(stored, stored)
        return EntryStatuses.of(stored, graph, self.batches_of(None, only_open=True) if calls is None else calls)
