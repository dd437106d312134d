"""The store on a database, as far as it is the same for SQLite and PostgreSQL."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.blueprint.blueprint import Blueprint, Value
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.pre_post import PrePost
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import EntryStatus
from phaseline.model.health.checks import CheckResults
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.resources.resources import ResourceAddition
from phaseline.model.rows.rows import (
    ONLY_SHARD,
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
    Turn,
)
from phaseline.store.codec.topologies import KnownTopologies
from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.relational.connections import Connections, Moment, One, ReadSnapshot, Transaction
from phaseline.store.relational.deferred_parts import DeferredParts
from phaseline.store.sql import deployments as writes
from phaseline.store.sql import errors as failures
from phaseline.store.sql import health_checks
from phaseline.store.sql import queries as reads
from phaseline.store.sql import requests as asking
from phaseline.store.sql import resource_clusters as growing
from phaseline.store.sql.turn_writer import TurnWriter

if TYPE_CHECKING:
    from phaseline.model.rows.maintenance import PurgeRules
    from phaseline.model.rows.orders import NewOrder
    from phaseline.ports.clock import Clock
    from phaseline.ports.lease import Lease
    from phaseline.store.database.connection import Connection
    from phaseline.store.relational.copying import CopySource
    from phaseline.store.sql.purging.rounds import SqlPurge


class SqlStore(DeferredParts):
    """Implements ``ports.store.Store`` on a database; the protocol describes each method."""

    connections: Connections

    def __init__(self, path: str, clock: Clock, turns: TurnWriter, notices: Sequence[str] = ()) -> None:
        """``path`` names the store in problems; ``turns`` writes the owner's turns."""
        self.path = path
        self.notices = notices
        self._clock = clock
        self.read_only_version = 0
        """Version of the tables, if they are newer and this version of the program may only read them (UP1); else 0."""
        self._epoch = 0
        """Epoch in which this process owns the store; 0 if it does not."""
        self._turns = turns
        self._topologies = KnownTopologies()
        self._requests_seen = (0, 0)

    @abstractmethod
    def changed(self, since: int = 0) -> int:
        """Return 0 if nothing was written since the call that returned ``since``; otherwise the next ``since``."""

    @abstractmethod
    def version(self) -> int:
        """Return a number above 0 that changes whenever another process has written."""

    @abstractmethod
    def own(self, command: str) -> AbstractContextManager[Lease]:
        """Become the owner, the only process that writes for an engine, named ``command``; yield the lease."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[CopySource]:
        """Return a context with a connection of its own, whose reads all see one state of the store."""

    @abstractmethod
    def close(self) -> None:
        """Close what is open. Safe to call twice."""

    def commit(self, turn: Turn) -> None:
        """Write one turn of the engine's loop. Only the owner may: a call by any other process is a bug."""
        with self._turn() as db:
            self._turns.write(db, turn)
            versions = [(row, growing.version(db, row.deployment)) for row in turn.payload.reshaped]
        for row, version in versions:
            self._topologies.keep(row.deployment, version, row.topology)
        if turn.payload.answers:
            self.connections.tell_askers()

    def refresh_lists(self) -> None:
        """Write some of what lists read of deployments whose executions have ended. What fails is done later."""
        with suppress(ProblemsError):
            self._refresh_lists()

    def _refresh_lists(self) -> None:
        if self._epoch and self._turns.has_summaries_to_write:
            with self.connections.write_guard, self.connections.not_waiting(), self._owned() as db:
                self._turns.write_summaries(db)

    def _refresh_all_lists(self) -> None:
        """Do the same for all of them, if they are many, before another process becomes the owner."""
        with suppress(ProblemsError):
            with self._reading() as db:
                is_worth_it = bool(self._epoch) and self._turns.has_many_summaries_to_write(db)
            while is_worth_it and self._turns.has_summaries_to_write:
                self._refresh_lists()

    @property
    def has_packages(self) -> bool:
        """False if no package is, or ever was, installed."""
        with self._reading() as db:
            return reads.has_packages(db)

    def identity(self) -> str:
        """Return the store's random name."""
        with self._reading() as db:
            return reads.identity(db)

    def counters(self, shard: int = ONLY_SHARD) -> tuple[int, int]:
        """Return (the id of the next graph of a shard, the id of its next batch)."""
        with self._reading() as db:
            return reads.counters(db, shard)

    def as_one(self, order: NewOrder | None = None) -> One:
        """Return a context that makes all writes of this thread one transaction, with the order's row."""
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
        with self._writing(asks=request is not None and self._asks(asks)) as db:
            if replaces:
                writes.delete_deployment(db, replaces, self._clock.now(), new.actor)
            number = writes.add_deployment(db, new, self._topologies.text_of)
            row = writes.add_execution(db, request, number, asks=self._asks(asks)) if request else None
            if self._epoch:
                self._turns.expect(number, len(new.topology))
        if new.topology.blueprint is new.blueprint:
            self._topologies.keep(number, 0, new.topology)
        return number, row

    def delete_deployment(self, deployment: int, actor: Actor | None = None) -> None:
        """Delete a deployment, so that its name is free again; its executions stay."""
        with self._writing() as db:
            writes.delete_deployment(db, deployment, self._clock.now(), actor)

    def deleted(self, deployments: Collection[int], since: int = 0) -> tuple[int, Sequence[int]]:
        """Return (number of deployments ever deleted, which of the given deployments are deleted)."""
        with self._reading() as db:
            count, found = reads.deleted(db, deployments, since)
        with self.connections.write_guard:
            self._turns.drop(found)
        return count, found

    def create_execution(
        self, new: NewExecution, *, asks: bool | None = None, beside: ConcurrencyRule | None = None
    ) -> ExecutionRow:
        """Store an execution with status queued and return its row. ``asks``, ``beside``: as in ``ports.store``."""
        with self._writing(asks=self._asks(asks)) as db:
            return writes.add_execution(db, new, new.deployment, asks=self._asks(asks), beside=beside)

    def grow(
        self, deployment: int, growth: ResourceAddition, actor: Actor, *, asks: bool | None = None
    ) -> Sequence[ExecutionRow]:
        """Add resources to a cluster, and store the executions that ``growth`` requests."""
        with self._writing(asks=self._asks(asks)) as db:
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
            number = asking.add_request(db, kind, execution, body, actor, self._clock.now(), beside)
            if answer is not None:
                asking.write_answers(db, [RequestAnswer(number, answer)], self._clock.now())
            return number

    def last_reload(self) -> int:
        """Return the number of the latest request to reload plugins; 0 if there is none."""
        with self._reading() as db:
            return asking.last_reload(db)

    def requests(self, after: int = 0) -> Sequence[RequestRow]:
        """Return the requests with numbers above ``after`` that have no answer, oldest first."""
        seen, last = self._requests_seen
        if after >= last and seen == self.changed():
            return ()
        with self._reading() as db:
            version = self.version()
            rows = asking.unanswered(db, after)
            if len(rows) < asking.TAKEN_AT_ONCE:
                self._requests_seen = version, rows[-1].number if rows else after
            return rows

    def answer_of(self, request: int) -> Mapping[str, Value] | None:
        """Return the answer to a request, or None while it is unanswered."""
        with self._reading() as db:
            return asking.answer_of(db, request)

    def requests_of(self, execution: int) -> Sequence[RequestRow]:
        """Return all requests about an execution, oldest first."""
        with self._reading() as db:
            return asking.requests_of(db, execution)

    def set_process_group(self, batch: int, process_group: int) -> None:
        """Store the process group of a batch's call, which the next engine ends if this engine dies.

        Do not wait for the disk: a crash of the machine ends these processes too.
        """
        with self.connections.write_guard, self.connections.not_waiting(), self._owned() as db:
            db.execute("update batch set process_group = ? where id = ?", (process_group, batch))

    def at_once(self) -> Moment:
        """Return a context in which all reads see one state of the store."""
        return Moment(self.connections)

    def deployments(self) -> Sequence[DeploymentRow]:
        """Return all deployments that are not deleted, sorted by name."""
        with self._reading() as db:
            return reads.deployments(db)

    def deployment(self, name: str) -> DeploymentRow | None:
        """Return the deployment of this name that is not deleted, or None."""
        with self._reading() as db:
            return next(iter(reads.deployments(db, name)), None)

    def blueprint(self, deployment: int) -> Blueprint:
        """Return the stored blueprint of a deployment."""
        return self.topology(deployment).blueprint

    def inputs(self, deployment: int) -> Mapping[str, Value]:
        """Return the inputs of a deployment."""
        with self._reading() as db:
            return reads.inputs(db, deployment)

    def topology(self, deployment: int) -> Topology:
        """Return the instances and relationship instances of a deployment."""
        with self._reading() as db:
            version = growing.version(db, deployment)
            known = self._topologies.find(deployment, version)
            if known is None:
                known = reads.topology(db, deployment)
        self._topologies.keep(deployment, version, known)
        return known

    def state_names(self, deployment: int) -> tuple[str, ...]:
        """Return the names of a deployment's resource states, in the order of their numbers."""
        with self._reading() as db:
            return growing.state_names(db, deployment)

    def name_states(self, deployment: int, names: Sequence[str]) -> tuple[str, ...]:
        """Append those of ``names`` that are missing; return all state names of the deployment."""
        with self._writing() as db:
            return growing.name_states(db, deployment, names)

    def pause_phase(self, name: str, actor: Actor, reason: str) -> bool:
        """Pause a phase, so that it is not called. Return False if it was already paused."""
        with self._writing() as db:
            return growing.pause(db, name, actor, reason, self._clock.now())

    def unpause_phase(self, name: str) -> bool:
        """End the pause of a phase. Return False if the phase was not paused."""
        with self._writing() as db:
            return growing.unpause(db, name)

    def paused_phases(self) -> Mapping[str, PausedRow]:
        """Return {name of a paused phase in lower case: its pause}."""
        with self._reading() as db:
            return growing.paused(db)

    def know_phases(self, known: Mapping[str, str]) -> None:
        """Replace the stored list of known phases, {name in lower case: description}."""
        with self._writing() as db:
            growing.know(db, known)

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
            return reads.states(db, deployment)

    def checks(self, deployment: int, *, only_results: bool = False) -> CheckResults:
        """Return a copy of a deployment's check results."""
        with self._reading() as db:
            return health_checks.read_book(db, deployment, only_results=only_results)

    def documents(self, deployment: int, instances: Sequence[int] | None = None) -> Mapping[int, dict[str, Value]]:
        """Return {instance number: runtime properties}, without instances that have none."""
        with self._reading() as db:
            return reads.documents(db, deployment, instances)

    def executions(self, deployment: int | None = None, *, only_open: bool = False) -> Sequence[ExecutionRow]:
        """Return the executions that fulfil all given conditions, oldest first."""
        with self._reading() as db:
            return reads.executions(db, deployment=deployment, only_open=only_open)

    def execution(self, id: str) -> ExecutionRow | None:
        """Return the execution with this id, or None."""
        with self._reading() as db:
            return next(iter(reads.executions(db, id=id)), None)

    def around(self, execution: int) -> PrePost:
        """Return the hooks and stage tasks before and after an execution."""
        from phaseline.store.codec.pre_post import read_around

        with self._reading() as db:
            return read_around(db, execution)

    def graphs(self, execution: int) -> Sequence[GraphRow]:
        """Return the rows of an execution's graphs in the order of its rounds, without their entries."""
        with self._reading() as db:
            return reads.graphs(db, execution)

    def graph(self, graph: int) -> Graph:
        """Return one graph with its entries and edges."""
        with self._reading() as db:
            return reads.graph(db, graph)

    def statuses(self, graph: int) -> np.ndarray:
        """Return the stored statuses of a graph's entries, as bytes by position."""
        with self._reading() as db:
            return reads.statuses(db, graph)

    def entry_statuses(self, graph: int, calls: Sequence[BatchRow] | None = None) -> EntryStatuses:
        """Return the statuses of a graph's entries by position, including running ones."""
        with self._reading() as db:
            return reads.entry_statuses(db, graph, calls)

    def step_counts(self, graph: int) -> Mapping[int, Mapping[EntryStatus, int]]:
        """Return {index of the step in the graph: {status: number of its entries}}."""
        with self._reading() as db:
            return reads.step_counts(db, graph)

    def notes(self, graph: int, *, among: Collection[int] | None = None) -> Sequence[NoteRow]:
        """Return the notes of a graph, sorted by position."""
        with self._reading() as db:
            return reads.notes(db, graph, among)

    def messages(self, graph: int) -> Mapping[int, tuple[int, str]]:
        """Return {position: (due time in ms, message)} of all notes."""
        with self._reading() as db:
            return reads.messages(db, graph)

    def batches(self, *, execution: int | None = None, only_open: bool = False) -> Sequence[BatchRow]:
        """Return batches sorted by id, with all their members, including those of other executions."""
        with self._reading() as db:
            return reads.batches(db, execution, only_open=only_open)

    def runs_of(self, lane: str, *, last: int = 100) -> LaneStatistics:
        """Return statistics of all stored batches of a lane, and the ``last`` latest of these batches."""
        with self._reading() as db:
            return reads.runs_of(db, lane, last)

    def logs(
        self, execution: int, *, after: int = 0, instance: int | None = None, limit: int = 10_000
    ) -> Sequence[LogLine]:
        """Return log lines of an execution, sorted by sequence number."""
        with self._reading() as db:
            return reads.logs(db, execution, after, instance, limit)

    def events(self, execution: int, *, after: int = 0, limit: int = 10_000) -> Sequence[EventRow]:
        """Return events of an execution, sorted by sequence number."""
        with self._reading() as db:
            return reads.events(db, execution, after, limit)

    def purging(self, rules: PurgeRules) -> SqlPurge:
        """Begin to remove what is older than the rules allow, in slices."""
        from phaseline.store.sql.purging.rounds import SqlPurge

        return SqlPurge(self._writing, rules, around=self._slice_of_purge, slice_s=self.connections.brief_s)

    @contextmanager
    def _slice_of_purge(self) -> Iterator[None]:
        with self.connections.brief():
            yield
        self._turns.has_summaries_to_write = True

    @abstractmethod
    def listen(self, wake: Callable[[], None]) -> AbstractContextManager[int]:
        """Return a context in which ``wake`` is called after a request was stored, by any process."""

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
        return not self._epoch if asks is None else asks

    def _writing(self, *, asks: bool = False) -> Transaction:
        """Return a transaction. If this process owns the store, it is refused after another process has become the owner."""
        return self._owned(asks=asks) if self._epoch else self._transaction(asks=asks)

    def _owned(self, *, asks: bool = False) -> Transaction:
        """Return a transaction that is refused (PL-S004) if another process has become the owner."""
        return Transaction(self.connections, self._refuse_strangers, asks=asks)

    def _turn(self) -> Transaction:
        """Return the transaction of a turn of the owner."""
        return self._owned()

    def _transaction(self, *, asks: bool = False) -> Transaction:
        """Return a transaction that is stored as a whole or not at all, and is on the disk when it ends.

        Raises: PL-S002 if this version of the program may only read the store.
        """
        if self.read_only_version:
            raise failures.newer(self.path, self.read_only_version, SCHEMA_VERSION)
        return Transaction(self.connections, asks=asks)

    def _refuse_strangers(self, db: Connection) -> None:
        if not self._epoch:
            raise RuntimeError("only the owner of a store writes to it: use own() first")
        epoch = self._present_epoch(db)
        if epoch != self._epoch:
            raise failures.taken_over(self.path, self._epoch, epoch)

    def _present_epoch(self, db: Connection) -> int:
        """Return the epoch of the store in the caller's transaction."""
        return writes.epoch(db)
