"""The store in one SQLite file: the embedded default.

Two connections: one writes, one reads, so that readers never wait for a commit. Each is guarded by a lock
and may be used from any thread.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
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
    Owner,
    PausedRow,
    RequestAnswer,
    RequestKind,
    RequestRow,
    Turn,
)
from phaseline.store.codec.topologies import KnownTopologies
from phaseline.store.sql import deployments as writes
from phaseline.store.sql import errors as failures
from phaseline.store.sql import queries as reads
from phaseline.store.sql import requests as asking
from phaseline.store.sql import resource_clusters as growing
from phaseline.store.sql.health_checks import read_book
from phaseline.store.sql.labels import SqliteLabels
from phaseline.store.sql.secrets import SqliteSecrets
from phaseline.store.sql.stored_blueprints import SqliteBlueprints
from phaseline.store.sql.turn_writer import TurnWriter
from phaseline.store.sqlite import database_file as file
from phaseline.store.sqlite.connections import Connections, Moment, One, Problems, ReadSnapshot, Transaction
from phaseline.store.sqlite.incarnations import SqliteIncarnations
from phaseline.store.sqlite.lazy_shelves import Seldom
from phaseline.store.sqlite.owner_lock import OwnerLock
from phaseline.store.sqlite.waiters import WaitingRoom

if TYPE_CHECKING:
    from phaseline.model.rows.maintenance import Compacted, Purged, StoreFinding
    from phaseline.model.rows.orders import NewOrder
    from phaseline.ports.clock import Clock


class SqliteStore(Seldom):
    """``ports.store.Store`` on one file; see there for what each method promises."""

    def __init__(self, path: str, clock: Clock, notices: Sequence[str] = ()) -> None:
        """Use ``open``."""
        self.path = path
        self.notices = notices
        self._clock = clock
        self._lock = OwnerLock(path + ".lock")
        self._waiting = WaitingRoom(path + ".waiting")
        self._epoch, self._is_noted = 0, False
        self._turns = TurnWriter()
        self.connections = Connections(path, self._turns.forget)
        self._topologies = KnownTopologies()
        self._requests_seen = (0, 0)
        self.secrets = SqliteSecrets(self._reading, self._writing)
        self.stored_blueprints = SqliteBlueprints(self._reading, self._writing)
        self.labels = SqliteLabels(self._reading, self._writing)
        self.incarnations = SqliteIncarnations(self._reading, self._transaction)

    @property
    def has_packages(self) -> bool:
        """False where no package is, or was."""
        with self._reading() as db:
            return reads.has_packages(db)

    @classmethod
    def open(cls, path: str | os.PathLike[str], clock: Clock, *, makes: bool = True) -> SqliteStore:
        """The store in the file; ``makes``: a new one if there is none. Raises: PL-S001, S002, S003, S005, S007."""
        whole = str(Path(path).resolve())  # one file, one lock, whatever leads to it
        if not makes:
            file.raise_if_missing(whole)
        return cls(whole, clock, file.make_ready(whole, clock.now()))

    @contextmanager
    def own(self, command: str) -> Iterator[int]:
        """Become the one process that writes; yields the epoch."""
        try:
            self._lock.take(command, self._clock.now())
        except ProblemsError:
            self.connections.refuse_gone()  # its folder was removed: that is the reason
            raise
        try:
            with self.connections.write_guard, self.connections.not_waiting(), self._transaction() as db:
                epoch = writes.raise_epoch(db)
                self._turns.forget()  # others have owned the store since
            self._epoch, self._is_noted = epoch, False
            yield epoch
        finally:
            with self.connections.write_guard:
                self._epoch = 0
                self._turns.forget()
                self._lock.release()

    def owner(self) -> Owner | None:
        """The process that owns the store at this moment, or None."""
        return self._lock.holder()

    def identity(self) -> str:
        """The store's random name."""
        with self._reading() as db:
            return reads.identity(db)

    def counters(self) -> tuple[int, int]:
        """(next graph id, next batch id)."""
        with self._reading() as db:
            return reads.counters(db)

    def as_one(self, order: NewOrder | None = None) -> One:
        """A context in which all writes of this thread are one transaction, including the row of the order."""
        return One(self.connections, order, self._topologies.forget)

    def create_deployment(
        self,
        new: NewDeployment,
        request: NewExecution | None = None,
        *,
        replaces: int = 0,
        asks: bool | None = None,
    ) -> tuple[int, ExecutionRow | None]:
        """Store a deployment; return its number and the execution stored with it."""
        with self._writing() as db:
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
        """Free the name."""
        with self._writing() as db:
            writes.delete_deployment(db, deployment, self._clock.now(), actor)

    def deleted(self, deployments: Collection[int], since: int = 0) -> tuple[int, Sequence[int]]:
        """(number of deployments deleted so far, the given deployments that were deleted)."""
        with self._reading() as db:
            count, found = reads.deleted(db, deployments, since)
        with self.connections.write_guard:
            self._turns.drop(found)
        return count, found

    def create_execution(
        self, new: NewExecution, *, asks: bool | None = None, beside: ConcurrencyRule | None = None
    ) -> ExecutionRow:
        """The stored execution, status queued."""
        with self._writing() as db:
            return writes.add_execution(db, new, new.deployment, asks=self._asks(asks), beside=beside)

    def grow(
        self, deployment: int, growth: ResourceAddition, actor: Actor, *, asks: bool | None = None
    ) -> Sequence[ExecutionRow]:
        """Add resources, and store executions with them."""
        with self._writing() as db:
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
        """The number of a new request to the owner."""
        with self._writing() as db:
            number = asking.add_request(db, kind, execution, body, actor, self._clock.now(), beside)
            if answer is not None:
                asking.write_answers(db, [RequestAnswer(number, answer)], self._clock.now())
            return number

    def last_reload(self) -> int:
        """The number of the latest request to reload plugins."""
        with self._reading() as db:
            return asking.last_reload(db)

    def requests(self, after: int = 0) -> Sequence[RequestRow]:
        """Requests with higher numbers that have no answer, oldest first."""
        seen, last = self._requests_seen
        if after >= last and seen == self.changed():
            return ()
        with self._reading() as db:
            version = reads.version(db)
            rows = asking.unanswered(db, after)
            if len(rows) < asking.TAKEN_AT_ONCE:
                self._requests_seen = version, rows[-1].number if rows else after
            return rows

    def answer_of(self, request: int) -> Mapping[str, Value] | None:
        """The answer to a request; None while there is none."""
        with self._reading() as db:
            return asking.answer_of(db, request)

    def requests_of(self, execution: int) -> Sequence[RequestRow]:
        """All requests about an execution, oldest first."""
        with self._reading() as db:
            return asking.requests_of(db, execution)

    def changed(self, since: int = 0) -> int:
        """0 if nothing was written since the look that gave ``since``; otherwise the present look."""
        with self.connections.read_guard, Problems(self.path):
            version = reads.version(self.connections.reader())
        self.connections.refuse_gone()
        return 0 if version == since else version

    def waiting(self) -> AbstractContextManager[None]:
        """Register as a process that would take over from the owner."""
        return self._waiting.inside()

    def somebody_waits(self) -> bool:
        """True while another process waits."""
        return self._waiting.somebody_else()

    def commit(self, turn: Turn) -> None:
        """Write one turn of the loop. Only the owner may: any other caller is a bug."""
        with self._owned() as db:
            self._turns.write(db, turn)
            versions = [(row, growing.version(db, row.deployment)) for row in turn.payload.reshaped]
        if not self._is_noted:  # from now on the epoch is on the disk
            self._is_noted = True
            self._lock.remember(self.identity(), self._epoch)
        for row, version in versions:
            self._topologies.keep(row.deployment, version, row.topology)

    def set_process_group(self, batch: int, process_group: int) -> None:
        """Store the processes to end if the engine dies. The disk is not awaited: if the machine dies, so do they."""
        with self.connections.write_guard, self.connections.not_waiting(), self._owned() as db:
            db.execute("update batch set process_group = ? where id = ?", (process_group, batch))

    def at_once(self) -> Moment:
        """A context in which all reads see the same state of the store."""
        return Moment(self.connections)

    def deployments(self) -> Sequence[DeploymentRow]:
        """All that are not deleted, by name."""
        with self._reading() as db:
            return reads.deployments(db)

    def deployment(self, name: str) -> DeploymentRow | None:
        """The one that is not deleted, or None."""
        with self._reading() as db:
            return next(iter(reads.deployments(db, name)), None)

    def blueprint(self, deployment: int) -> Blueprint:
        """The blueprint as it was stored."""
        return self.topology(deployment).blueprint

    def inputs(self, deployment: int) -> Mapping[str, Value]:
        """The inputs of a deployment."""
        with self._reading() as db:
            return reads.inputs(db, deployment)

    def topology(self, deployment: int) -> Topology:
        """Instances and relationship instances."""
        with self._reading() as db:
            version = growing.version(db, deployment)
            known = self._topologies.find(deployment, version)
            if known is None:
                known = reads.topology(db, deployment)
        self._topologies.keep(deployment, version, known)
        return known

    def state_names(self, deployment: int) -> tuple[str, ...]:
        """The names of states of resources, in the order of their numbers."""
        with self._reading() as db:
            return growing.state_names(db, deployment)

    def name_states(self, deployment: int, names: Sequence[str]) -> tuple[str, ...]:
        """The names of states, after missing ones were appended."""
        with self._writing() as db:
            return growing.name_states(db, deployment, names)

    def pause_phase(self, name: str, actor: Actor, reason: str) -> bool:
        """Have a phase called no more; False if it was paused already."""
        with self._writing() as db:
            return growing.pause(db, name, actor, reason, self._clock.now())

    def unpause_phase(self, name: str) -> bool:
        """Have it called again; False if it was not paused."""
        with self._writing() as db:
            return growing.unpause(db, name)

    def paused_phases(self) -> Mapping[str, PausedRow]:
        """{name in lower case: the pause}."""
        with self._reading() as db:
            return growing.paused(db)

    def know_phases(self, known: Mapping[str, str]) -> None:
        """Store these phases and forget the former ones."""
        with self._writing() as db:
            growing.know(db, known)

    def known_phases(self) -> Mapping[str, str]:
        """{name in lower case: the stored definition}."""
        with self._reading() as db:
            return growing.known(db)

    def measures(self) -> Mapping[str, Metric]:
        """{name: value measured by engines}."""
        with self._reading() as db:
            return growing.measures(db)

    def states(self, deployment: int) -> np.ndarray:
        """Instance states, uint8 by instance number."""
        with self._reading() as db:
            return reads.states(db, deployment)

    def checks(self, deployment: int, *, only_results: bool = False) -> CheckResults:
        """The check results of a deployment."""
        with self._reading() as db:
            return read_book(db, deployment, only_results=only_results)

    def documents(self, deployment: int, instances: Sequence[int] | None = None) -> Mapping[int, dict[str, Value]]:
        """{instance number: runtime properties}, without instances that have none."""
        with self._reading() as db:
            return reads.documents(db, deployment, instances)

    def executions(self, deployment: int | None = None, *, only_open: bool = False) -> Sequence[ExecutionRow]:
        """Executions that meet all conditions, oldest first."""
        with self._reading() as db:
            return reads.executions(db, deployment=deployment, only_open=only_open)

    def execution(self, id: str) -> ExecutionRow | None:
        """The execution with this id, or None."""
        with self._reading() as db:
            return next(iter(reads.executions(db, id=id)), None)

    def around(self, execution: int) -> PrePost:
        """The pre and post of an execution."""
        from phaseline.store.codec.pre_post import read_around

        with self._reading() as db:
            return read_around(db, execution)

    def graphs(self, execution: int) -> Sequence[GraphRow]:
        """In the order of their rounds."""
        with self._reading() as db:
            return reads.graphs(db, execution)

    def graph(self, graph: int) -> Graph:
        """One graph with its columns."""
        with self._reading() as db:
            return reads.graph(db, graph)

    def statuses(self, graph: int) -> np.ndarray:
        """Status bytes by position."""
        with self._reading() as db:
            return reads.statuses(db, graph)

    def entry_statuses(self, graph: int, calls: Sequence[BatchRow] | None = None) -> EntryStatuses:
        """Statuses by position, running ones included."""
        with self._reading() as db:
            return reads.entry_statuses(db, graph, calls)

    def step_counts(self, graph: int) -> Mapping[int, Mapping[EntryStatus, int]]:
        """{place of the step in the graph: {status: how many entries}}, statuses with none left out."""
        with self._reading() as db:
            return reads.step_counts(db, graph)

    def notes(self, graph: int, *, among: Collection[int] | None = None) -> Sequence[NoteRow]:
        """The notes of a graph, sorted by position."""
        with self._reading() as db:
            return reads.notes(db, graph, among)

    def messages(self, graph: int) -> Mapping[int, tuple[int, str]]:
        """{position: (due in ms, message)} of all notes."""
        with self._reading() as db:
            return reads.messages(db, graph)

    def batches(self, *, execution: int | None = None, only_open: bool = False) -> Sequence[BatchRow]:
        """Batches sorted by id, with all their members, also those of other executions."""
        with self._reading() as db:
            return reads.batches(db, execution, only_open=only_open)

    def runs_of(self, lane: str, *, last: int = 100) -> LaneStatistics:
        """The batches of a lane that are remembered."""
        with self._reading() as db:
            return reads.runs_of(db, lane, last)

    def logs(
        self, execution: int, *, after: int = 0, instance: int | None = None, limit: int = 10_000
    ) -> Sequence[LogLine]:
        """Lines sorted by sequence number."""
        with self._reading() as db:
            return reads.logs(db, execution, after, instance, limit)

    def events(self, execution: int, *, after: int = 0, limit: int = 10_000) -> Sequence[EventRow]:
        """Lines sorted by sequence number."""
        with self._reading() as db:
            return reads.events(db, execution, after, limit)

    def check(self) -> Sequence[StoreFinding]:
        """Everything in the store that does not fit together."""
        from phaseline.store.sqlite import integrity as checking

        with Problems(self.path), closing(file.open_reader(self.path)) as db:
            return checking.check(db)

    def backup(self, path: str) -> int:
        """Copy the store as it is at this moment into a new file; its size in bytes."""
        from phaseline.store.sqlite.backup import copy

        with Problems(self.path), closing(file.open_reader(self.path)) as db:
            return copy(db, path)

    def compact(self) -> Compacted:
        """Give free space back to the operating system."""
        from phaseline.store.sqlite import compaction as compacting

        with Problems(self.path), compacting.owned(self, is_owner=bool(self._epoch)) as alone:
            return compacting.compact(self.path, self.connections.patience_s, alone=alone)

    def purge(self, before: int, *, deployment: int | None = None) -> Purged:
        """Remove executions that ended before this time, with everything about them."""
        from phaseline.store.sql import purge as purging

        return purging.purge(self._transaction, before, deployment)

    def close(self) -> None:
        """Release files; safe to call twice."""
        with self.connections.read_guard, self.connections.write_guard:
            self.connections.close()
            self._waiting.close()
            self._lock.release()

    def _reading(self) -> ReadSnapshot:
        """One snapshot; what cannot be decoded is damage."""
        return ReadSnapshot(self.connections)

    def _asks(self, asks: bool | None) -> bool:  # noqa: FBT001  # handed on from a keyword
        """Whether an execution is stored with a request to start it."""
        return not self._epoch if asks is None else asks

    def _writing(self) -> Transaction:
        """A transaction of any process; the owner makes sure that it still is."""
        return self._owned() if self._epoch else self._transaction()

    def _owned(self) -> Transaction:
        """A transaction that is refused (PL-S004) when another process has become the owner."""
        return Transaction(self.connections, self._refuse_strangers)

    def _refuse_strangers(self, db: sqlite3.Connection) -> None:
        if not self._epoch:
            raise RuntimeError("only the owner of a store writes to it: use own() first")
        epoch = writes.epoch(db)
        if epoch != self._epoch:
            raise failures.taken_over(self.path, self._epoch, epoch)

    def _transaction(self) -> Transaction:
        """All or nothing; on the disk when it is over."""
        return Transaction(self.connections)
