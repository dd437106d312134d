"""What a store on a database lets a tenant or the engine read and request; the same for SQLite and PostgreSQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Blueprint, Value
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.pre_post import PrePost
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import EntryStatus
from phaseline.model.health.checks import CheckResults
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.resources.resources import ResourceAddition
from phaseline.model.rows.rows import (
    Actor,
    BatchRow,
    ConcurrencyRule,
    DeploymentRow,
    EntryStatuses,
    EventRow,
    ExecutionRow,
    GraphRow,
    LaneStatistics,
    LogLine,
    Metric,
    NewDeployment,
    NewExecution,
    NoteRow,
    PausedRow,
    RequestAnswer,
    RequestKind,
    RequestRow,
)
from phaseline.store.codec.topologies import KnownTopologies
from phaseline.store.relational.connections import Connections, Moment, One, ReadSnapshot, Transaction
from phaseline.store.relational.deferred_parts import DeferredParts
from phaseline.store.sql import deployments as writes
from phaseline.store.sql import health_checks
from phaseline.store.sql import queries as reads
from phaseline.store.sql import requests as asking
from phaseline.store.sql import resource_clusters as growing
from phaseline.store.sql.turn_writer import TurnWriter

if TYPE_CHECKING:
    from phaseline.model.rows.maintenance import PurgeRules
    from phaseline.model.rows.orders import NewOrder
    from phaseline.ports.clock import Clock
    from phaseline.store.database.connection import Connection
    from phaseline.store.database.tenant_rows import TenantRows
    from phaseline.store.sql.purging.rounds import SqlPurge


class SqlRows(DeferredParts, ABC):
    """Rows of a store on a database: those of one tenant or all. The protocol ``ports.store.StoreRows`` describes each method."""

    connections: Connections

    def __init__(self, clock: Clock, topologies: KnownTopologies, turns: TurnWriter, rows: TenantRows) -> None:
        """``topologies`` and ``turns`` are those of the whole store."""
        self._clock = clock
        self._topologies = topologies
        self._turns = turns
        self._rows = rows
        self._requests_seen = (0, 0)

    @abstractmethod
    def _writing(self, *, asks: bool = False) -> Transaction:
        """Return a transaction. If this process owns the store, it is refused after another process has become the owner.

        ``asks``: it stores a request, so that the owner is woken after the commit.
        """

    @abstractmethod
    def _transaction(self) -> Transaction:
        """Return a transaction that is stored as a whole or not at all, and is on the disk when it ends."""

    @property
    @abstractmethod
    def is_owner(self) -> bool:
        """True while this process owns the store."""

    @abstractmethod
    def changed(self, since: int = 0) -> int:
        """Return 0 if nothing was written since the call that returned ``since``; otherwise the next ``since``."""

    @abstractmethod
    def version(self) -> int:
        """Return a number above 0 that changes whenever another process has written."""

    @property
    def has_packages(self) -> bool:
        """False if no package is, or ever was, installed."""
        with self._reading() as db:
            return reads.has_packages(db, self._rows)

    @property
    def has_dependencies(self) -> bool:
        """False if no deployment has a record of reading another one."""
        where, values = self._rows.where("true")
        with self._reading() as db:
            return bool(db.execute(f"select exists (select 1 from dependency where {where})", values).fetchone()[0])

    @property
    def has_schedules(self) -> bool:
        """False if no deployment has a schedule."""
        where, values = self._rows.where("true")
        with self._reading() as db:
            return bool(db.execute(f"select exists (select 1 from schedule where {where})", values).fetchone()[0])

    def identity(self) -> str:
        """Return the store's random name."""
        with self._reading() as db:
            return reads.identity(db)

    def as_one(self, order: NewOrder | None = None) -> One:
        """Return a context that makes all writes of this thread one transaction, with the order's row."""
        if order is not None:
            order.actor = self._rows.by(order.actor)
        return One(self.connections, order, self._topologies.forget)

    def create_deployment(
        self,
        new: NewDeployment,
        request: NewExecution | None = None,
        *,
        replaces: int = 0,
        asks: bool | None = None,
    ) -> tuple[int, ExecutionRow | None]:
        """Store a deployment; return its number and the execution stored with the deployment, or None."""
        actor = self._rows.by(new.actor)
        wakes = request is not None or "default_schedules" in new.blueprint.deployment_settings
        with self._writing(asks=wakes and self._asks(asks)) as db:
            if replaces:
                own = self._rows.own(db, "deployment", replaces)
                writes.delete_deployment(db, own, self._clock.now(), actor)
            number = writes.add_deployment(db, altered(new, actor=actor), self._topologies.text_of)
            row = writes.add_execution(db, request, number, asks=self._asks(asks)) if request else None
            if self.is_owner:
                self._turns.expect(number, len(new.topology))
        if new.topology.blueprint is new.blueprint:
            self._topologies.keep(number, 0, new.topology)
        return number, row

    def delete_deployment(self, deployment: int, actor: Actor | None = None) -> None:
        """Delete a deployment, so that its name is free again; its executions stay."""
        with self._writing() as db:
            own = self._rows.own(db, "deployment", deployment)
            writes.delete_deployment(db, own, self._clock.now(), actor)

    def create_execution(
        self, new: NewExecution, *, asks: bool | None = None, beside: ConcurrencyRule | None = None
    ) -> ExecutionRow:
        """Store an execution with status queued and return its row. ``asks``, ``beside``: as in ``ports.store``."""
        with self._writing(asks=self._asks(asks)) as db:
            number = self._rows.require(db, "deployment", new.deployment)
            return writes.add_execution(db, new, number, asks=self._asks(asks), beside=beside)

    def grow(
        self, deployment: int, growth: ResourceAddition, actor: Actor, *, asks: bool | None = None
    ) -> Sequence[ExecutionRow]:
        """Add resources to a cluster, and store the executions that ``growth`` requests."""
        with self._writing(asks=self._asks(asks)) as db:
            self._rows.require(db, "deployment", deployment)
            writes.raise_if_deleted(db, deployment)
            growing.grow(db, deployment, growth, reads.topology(db, deployment))
            new = [NewExecution(deployment, request, actor, self._clock.now()) for request in growth.requests]
            return [writes.add_execution(db, one, deployment, asks=self._asks(asks)) for one in new]

    def ask(
        self,
        kind: RequestKind,
        execution: int,
        body: Mapping[str, Value],
        actor: Actor,
        *,
        beside: ConcurrencyRule | None = None,
        answer: Mapping[str, Value] | None = None,
    ) -> int:
        """Store a request to the owner and return its number."""
        with self._writing(asks=answer is None) as db:
            self._rows.require(db, "execution", execution)
            number = asking.add_request(db, kind, execution, body, self._rows.by(actor), self._clock.now(), beside)
            if answer is not None:
                asking.write_answers(db, [RequestAnswer(number, answer)], self._clock.now())
            return number

    def requests(self, after: int = 0) -> Sequence[RequestRow]:
        """Return the requests with numbers above ``after`` that have no answer, oldest first."""
        seen, last = self._requests_seen
        if after >= last and seen == self.changed():
            return ()
        with self._reading() as db:
            version = self.version()
            rows = asking.unanswered(db, after, self._rows)
            self._looked(db)
            if len(rows) < asking.TAKEN_AT_ONCE:
                self._requests_seen = version, rows[-1].number if rows else after
            return rows

    def _looked(self, db: Connection) -> None:
        """Read more with the requests of a look; nothing for a tenant."""

    def answer_of(self, request: int) -> Mapping[str, Value] | None:
        """Return the answer to a request, or None while it is unanswered."""
        with self._reading() as db:
            return asking.answer_of(db, request, self._rows)

    def requests_of(self, execution: int) -> Sequence[RequestRow]:
        """Return all requests about an execution, oldest first."""
        with self._reading() as db:
            return asking.requests_of(db, self._rows.own(db, "execution", execution))

    def at_once(self) -> Moment:
        """Return a context in which all reads see one state of the store."""
        return Moment(self.connections)

    def deployments(self) -> Sequence[DeploymentRow]:
        """Return all deployments that are not deleted, sorted by name."""
        with self._reading() as db:
            return reads.deployments(db, self._rows)

    def deployment(self, name: str) -> DeploymentRow | None:
        """Return the deployment of this name that is not deleted, or None."""
        with self._reading() as db:
            return reads.deployment(db, name, self._rows)

    def blueprint(self, deployment: int) -> Blueprint:
        """Return the stored blueprint of a deployment."""
        return self.topology(deployment).blueprint

    def inputs(self, deployment: int) -> Mapping[str, Value]:
        """Return the inputs of a deployment."""
        with self._reading() as db:
            return reads.inputs(db, self._rows.require(db, "deployment", deployment))

    def topology(self, deployment: int) -> Topology:
        """Return the instances and relationship instances of a deployment."""
        with self._reading() as db:
            self._rows.require(db, "deployment", deployment)
            version = growing.version(db, deployment)
            known = self._topologies.find(deployment, version)
            if known is None:
                known = reads.topology(db, deployment)
        self._topologies.keep(deployment, version, known)
        return known

    def state_names(self, deployment: int) -> tuple[str, ...]:
        """Return the names of a deployment's resource states, in the order of their numbers."""
        with self._reading() as db:
            return growing.state_names(db, self._rows.own(db, "deployment", deployment))

    def name_states(self, deployment: int, names: Sequence[str]) -> tuple[str, ...]:
        """Append those of ``names`` that are missing; return all state names of the deployment."""
        with self._writing() as db:
            return growing.name_states(db, self._rows.require(db, "deployment", deployment), names)

    def pause_phase(self, name: str, actor: Actor, reason: str) -> bool:
        """Pause a phase, so that it is not called. Return False if it was already paused."""
        with self._writing() as db:
            return growing.pause(db, name, self._rows.by(actor), reason, self._clock.now())

    def unpause_phase(self, name: str) -> bool:
        """End the pause of a phase. Return False if the phase was not paused."""
        with self._writing() as db:
            return growing.unpause(db, name, self._rows.named)

    def paused_phases(self) -> Mapping[str, PausedRow]:
        """Return {name of a paused phase in lower case: its pause}."""
        with self._reading() as db:
            return growing.paused(db, self._rows)

    def known_phases(self) -> Mapping[str, str]:
        """Return {name in lower case: description} of the phases that the last engine knew."""
        with self._reading() as db:
            return growing.known(db)

    def measures(self) -> Mapping[str, Metric]:
        """Return {name: the latest measurement that an engine stored under this name}."""
        with self._reading() as db:
            return growing.measures(db)

    def states(self, deployment: int) -> np.ndarray:
        """Return the instance states as uint8, by instance number."""
        with self._reading() as db:
            return reads.states(db, self._rows.require(db, "deployment", deployment))

    def checks(self, deployment: int, *, only_results: bool = False) -> CheckResults:
        """Return a copy of a deployment's check results."""
        with self._reading() as db:
            return health_checks.read_book(db, self._rows.own(db, "deployment", deployment), only_results=only_results)

    def documents(self, deployment: int, instances: Sequence[int] | None = None) -> Mapping[int, dict[str, Value]]:
        """Return {instance number: runtime properties}, without instances that have none."""
        with self._reading() as db:
            return reads.documents(db, self._rows.own(db, "deployment", deployment), instances)

    def executions(self, deployment: int | None = None, *, only_open: bool = False) -> Sequence[ExecutionRow]:
        """Return the executions that fulfil all given conditions, oldest first."""
        with self._reading() as db:
            own = None if deployment is None else self._rows.own(db, "deployment", deployment)
            return reads.executions(db, self._rows, deployment=own, only_open=only_open)

    def execution(self, id: str) -> ExecutionRow | None:
        """Return the execution with this id, or None."""
        with self._reading() as db:
            return next(iter(reads.executions(db, self._rows, id=id)), None)

    def around(self, execution: int) -> PrePost:
        """Return the hooks and stage tasks before and after an execution."""
        from phaseline.store.codec.pre_post import read_around

        with self._reading() as db:
            return read_around(db, self._rows.own(db, "execution", execution))

    def graphs(self, execution: int) -> Sequence[GraphRow]:
        """Return the rows of an execution's graphs in the order of its rounds, without their entries."""
        with self._reading() as db:
            found = reads.graphs(db, self._rows.own(db, "execution", execution))
        self._rows.remember("graph", (row.id for row in found))
        return found

    def graph(self, graph: int) -> Graph:
        """Return one graph with its entries and edges."""
        with self._reading() as db:
            return reads.graph(db, self._rows.require(db, "graph", graph))

    def statuses(self, graph: int) -> np.ndarray:
        """Return the stored statuses of a graph's entries, as bytes by position."""
        with self._reading() as db:
            return reads.statuses(db, self._rows.require(db, "graph", graph))

    def entry_statuses(self, graph: int, calls: Sequence[BatchRow] | None = None) -> EntryStatuses:
        """Return the statuses of a graph's entries by position, including running ones."""
        with self._reading() as db:
            return reads.entry_statuses(db, self._rows.require(db, "graph", graph), calls)

    def step_counts(self, graph: int) -> Mapping[int, Mapping[EntryStatus, int]]:
        """Return {index of the step in the graph: {status: number of its entries}}."""
        with self._reading() as db:
            return reads.step_counts(db, self._rows.require(db, "graph", graph))

    def notes(self, graph: int, *, among: Collection[int] | None = None) -> Sequence[NoteRow]:
        """Return the notes of a graph, sorted by position."""
        with self._reading() as db:
            return reads.notes(db, self._rows.own(db, "graph", graph), among)

    def messages(self, graph: int) -> Mapping[int, tuple[int, str]]:
        """Return {position: (due time in ms, message)} of all notes."""
        with self._reading() as db:
            return reads.messages(db, self._rows.own(db, "graph", graph))

    def batches(self, *, execution: int | None = None, only_open: bool = False) -> Sequence[BatchRow]:
        """Return batches sorted by id, with all their members, including those of other executions."""
        with self._reading() as db:
            own = None if execution is None else self._rows.own(db, "execution", execution)
            return reads.batches(db, own, self._rows, only_open=only_open)

    def runs_of(self, lane: str, *, last: int = 100) -> LaneStatistics:
        """Return statistics of all stored batches of a lane, and the ``last`` latest of these batches."""
        with self._reading() as db:
            return reads.runs_of(db, lane, last, self._rows)

    def logs(
        self, execution: int, *, after: int = 0, instance: int | None = None, limit: int = 10_000
    ) -> Sequence[LogLine]:
        """Return log lines of an execution, sorted by sequence number."""
        with self._reading() as db:
            return reads.logs(db, self._rows.own(db, "execution", execution), after, instance, limit)

    def events(self, execution: int, *, after: int = 0, limit: int = 10_000) -> Sequence[EventRow]:
        """Return events of an execution, sorted by sequence number."""
        with self._reading() as db:
            return reads.events(db, self._rows.own(db, "execution", execution), after, limit)

    def purging(self, rules: PurgeRules) -> SqlPurge:
        """Begin to remove what is older than the rules allow, in slices."""
        from phaseline.store.sql.purging.rounds import SqlPurge

        return SqlPurge(self._writing, rules, self._rows, around=self._slice_of_purge, slice_s=self.connections.brief_s)

    @contextmanager
    def _slice_of_purge(self) -> Iterator[None]:
        with self.connections.brief():
            yield
        self._turns.has_summaries_to_write = True

    def listen_for_answers(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """Return a context in which ``wake`` is called after an answer was stored through this object."""
        return self.connections.listeners().on_answers(wake)

    def _reading(self) -> ReadSnapshot:
        """Return a context for reads of one snapshot, which reports undecodable values as damage."""
        return ReadSnapshot(self.connections)

    def _damaged(self, reason: str) -> ProblemsError:
        """Return PL-S003 for a stored value that cannot be decoded."""
        return self.connections.damaged(reason)

    def _asks(self, asks: bool | None) -> bool:  # noqa: FBT001  # handed on from a keyword
        """Return True if an execution is stored with a request to start it; if ``asks`` is None, unless we are the owner."""
        return not self.is_owner if asks is None else asks
