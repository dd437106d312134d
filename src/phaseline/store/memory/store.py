"""The store in this process's memory: it behaves like the store in a file, but ends with its process.

It is used for tests, simulations and rehearsals. Like a file it keeps values separate: a caller may change what it
passed in or received without changing the stored value. A turn that cannot be written is a bug. It may then be half
written, which does no harm, because no engine continues from it.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Blueprint, Value
from phaseline.model.blueprint.labels import labels_of
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.pre_post import PrePost
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import EntryStatus
from phaseline.model.health.checks import CheckResults, HeldBodies
from phaseline.model.resources.resources import ResourceAddition
from phaseline.model.rows.maintenance import PurgeRules
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
    Owner,
    PausedRow,
    RequestKind,
    RequestRow,
    Turn,
)
from phaseline.model.rows.shard_ids import next_id
from phaseline.ports.clock import Clock
from phaseline.store.codec import json_documents as texts
from phaseline.store.codec.limits import HOLDER_BYTES, IDENTITY_BYTES
from phaseline.store.codec.step_counts import count_by_step
from phaseline.store.memory import requests as asking
from phaseline.store.memory import turn_writer as memory_turns
from phaseline.store.memory.definition_files import MemoryDefinitions
from phaseline.store.memory.executions import add_execution
from phaseline.store.memory.fileless import Fileless
from phaseline.store.memory.hook_switches import MemorySwitches
from phaseline.store.memory.incarnations import MemoryIncarnations
from phaseline.store.memory.labels import MemoryLabels
from phaseline.store.memory.lease import MemoryLease
from phaseline.store.memory.listings import MemoryListings
from phaseline.store.memory.orders import MemoryOrders
from phaseline.store.memory.packages import MemoryPackages
from phaseline.store.memory.purge import MemoryPurge
from phaseline.store.memory.requests import ThreadsWaiting
from phaseline.store.memory.secrets import MemorySecrets
from phaseline.store.memory.stack_documents import MemoryDocuments
from phaseline.store.memory.stored_blueprints import MemoryBlueprints
from phaseline.store.memory.stored_plans import MemoryPlans
from phaseline.store.memory.tables import HeldDeployment, MemoryTables
from phaseline.store.sql import errors as failures
from phaseline.store.sql.resource_clusters import missing_names
from phaseline.store.wake_ups import UNHEARD_MS, WakeUps

PLACE = "memory:"


class MemoryStore(Fileless):
    """Implements ``ports.store.Store`` in memory; the protocol describes each method."""

    def __init__(self, clock: Clock, *, identity: str = "") -> None:
        """Make an empty store. Simulations set ``identity``, so that equal seeds give equal tokens."""
        self._clock = clock
        self._identity = identity or os.urandom(IDENTITY_BYTES).hex()
        self._guard = threading.RLock()
        self._owner: Owner | None = None
        self._epoch, self._looks = 0, 1
        self._held = MemoryTables()
        self._waiting = ThreadsWaiting()
        self._wake_ups, self._last_heard = WakeUps(), 0
        self.notices: Sequence[str] = ()
        self.secrets = MemorySecrets(self._changing)
        self.stored_blueprints = MemoryBlueprints(self._changing, self._living)
        self.definitions = MemoryDefinitions(self._changing)
        self.stored_plans = MemoryPlans(self._changing)
        self.orders = MemoryOrders(self._changing)
        self.as_one = self.orders.as_one
        self.labels = MemoryLabels(self._changing)
        self.stack_documents = MemoryDocuments(self._changing)
        self.packages = MemoryPackages(self._changing, self._living, self._refuse_open, self.executions, clock)
        self.listings = MemoryListings(
            self._guard, self._held, self.deployments, self.labels, self.packages, self.secrets
        )
        self.hook_switches = MemorySwitches(self._changing, clock)
        self.incarnations = MemoryIncarnations()

    @property
    def has_packages(self) -> bool:
        """False if no package is, or ever was, installed."""
        return bool(self.packages.kept())

    @contextmanager
    def own(self, command: str) -> Iterator[MemoryLease]:
        """Become the owner, the only process that writes for an engine, under the name ``command``; yield the lease."""
        with self._guard:
            if self._owner is not None:
                raise failures.owned(PLACE, str(self._owner))
            self._owner = owner = Owner(0, command, self._clock.now(), os.urandom(HOLDER_BYTES).hex())
            self._epoch += 1
            lease = MemoryLease(PLACE, self._epoch, owner.holder)
        try:
            yield lease
        finally:
            if self._owner is owner:
                self._owner = None

    def disown(self) -> None:
        """End the ownership as if the owner had died, so that another owner can follow."""
        self._owner = None

    def owner(self) -> Owner | None:
        """Return the process that owns the store now, or None."""
        return self._owner

    def identity(self) -> str:
        """Return the store's random name."""
        return self._identity

    def counters(self, shard: int = ONLY_SHARD) -> tuple[int, int]:
        """Return (the id of the next graph of a shard, the id of its next batch)."""
        last = self._held.last_ids
        return next_id(shard, last.get(("graph", shard))), next_id(shard, last.get(("batch", shard)))

    def create_deployment(
        self, new: NewDeployment, request: NewExecution | None = None, *, replaces: int = 0, asks: bool | None = None
    ) -> tuple[int, ExecutionRow | None]:
        """Store a deployment; return its number and the execution stored with the deployment, or None."""
        with self._changing() as held:
            if replaces:
                self._refuse_open(replaces)
            for number, known in held.deployments.items():
                same = (known.tenant, known.row.name) == (new.actor.tenant, new.name)
                if same and not known.deleted_at and number != replaces:
                    raise failures.name_taken(new.name)
            self.stored_blueprints.refuse_gone(new.uses)
            if replaces:
                self.delete_deployment(replaces, new.actor)
            held.last_deployment += 1
            number = held.last_deployment
            self.stored_blueprints.add_uses(number, new.uses)
            self.labels.add(number, labels_of(new.blueprint.labels))
            self.packages.add_uses(number, new.packages)
            held.deployments[number] = HeldDeployment.of(number, new)
            return number, self._add_execution(request, number, asks) if request else None

    def delete_deployment(self, deployment: int, actor: Actor | None = None) -> None:
        """Delete a deployment, so that its name is free again; its executions stay."""
        del actor  # deletions in memory are not recorded
        with self._changing() as held:
            self._refuse_open(deployment)
            self.stack_documents.drop_snapshots(deployment)
            known = held.deployments.get(deployment)
            if known is not None and not known.deleted_at:
                known.deleted_at = max(1, self._clock.now())

    def deleted(self, deployments: Collection[int], since: int = 0) -> tuple[int, Sequence[int]]:
        """Return (number of deployments ever deleted, which of the given deployments are deleted)."""
        with self._guard:
            living = {number for number, known in self._held.deployments.items() if not known.deleted_at}
            count = self._held.last_deployment - len(living)
            return count, [number for number in sorted(deployments) if number not in living] if count != since else []

    def create_execution(
        self, new: NewExecution, *, asks: bool | None = None, beside: ConcurrencyRule | None = None
    ) -> ExecutionRow:
        """Store an execution with status queued and return its row. ``asks`` and ``beside`` work as in ``Store``."""
        with self._changing():
            return self._add_execution(new, new.deployment, asks, beside)

    def grow(
        self, deployment: int, growth: ResourceAddition, actor: Actor, *, asks: bool | None = None
    ) -> Sequence[ExecutionRow]:
        """Add resources to a cluster, and store the executions that ``growth`` requests."""
        with self._changing() as held:
            known = held.deployments[deployment]
            if known.deleted_at:
                raise failures.deleted(known.row.name)
            if growth.requests:
                self._refuse_open(deployment, growth.requests[0].workflow)
            known.grow(growth)
            now = self._clock.now()
            new = [NewExecution(deployment, request, actor, now) for request in growth.requests]
            return [self._add_execution(one, deployment, asks) for one in new]

    def _add_execution(
        self,
        new: NewExecution,
        deployment: int,
        asks: bool | None,  # noqa: FBT001 - handed on from a keyword
        beside: ConcurrencyRule | None = None,
    ) -> ExecutionRow:
        wants_start = self._owner is None if asks is None else asks
        return add_execution(self._held, new, deployment, asks=wants_start, beside=beside)

    def _refuse_open(self, deployment: int, workflow: str = "", beside: ConcurrencyRule | None = None) -> None:
        asking.raise_if_unavailable(self._held, deployment, workflow, beside)

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
        with self._changing() as held:
            return asking.add_request(held, kind, execution, body, actor, self._clock.now(), beside, answer)

    def last_reload(self) -> int:
        """Return the number of the latest request to reload plugins; 0 if there is none."""
        with self._guard:
            return asking.last_reload(self._held)

    def requests(self, after: int = 0) -> Sequence[RequestRow]:
        """Return the requests with numbers above ``after`` that have no answer, oldest first."""
        with self._guard:
            return asking.unanswered(self._held, after)

    def answer_of(self, request: int) -> Mapping[str, Value] | None:
        """Return the answer to a request, or None while it is unanswered."""
        with self._guard:
            return asking.answer_of(self._held, request)

    def requests_of(self, execution: int) -> Sequence[RequestRow]:
        """Return all requests about an execution, oldest first."""
        with self._guard:
            return asking.requests_of(self._held, execution)

    def changed(self, since: int = 0) -> int:
        """Return 0 if nothing was written since the call that returned ``since``; otherwise the next ``since``."""
        return 0 if self._looks == since else self._looks

    @contextmanager
    def listen(self, wake: Callable[[], None]) -> Iterator[int]:
        """Return a context in which ``wake`` is called after a request was stored."""
        with self._wake_ups.on_requests(wake):
            yield UNHEARD_MS

    def listen_for_answers(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """Return a context in which ``wake`` is called after an answer was stored."""
        return self._wake_ups.on_answers(wake)

    def at_once(self) -> AbstractContextManager[object]:
        """Return the lock that separates readers from writers; while it is held, nothing changes."""
        return self._guard

    def waiting(self) -> AbstractContextManager[None]:
        """Return a context that registers this thread as waiting to become the owner."""
        return self._waiting.inside()

    def somebody_waits(self) -> bool:
        """Return True while another thread waits to become the owner."""
        return self._waiting.somebody_else()

    @contextmanager
    def _changing(self) -> Iterator[MemoryTables]:
        """Return a context in which only this thread uses the store; then ``changed`` reports that something was written."""
        with self._guard:
            self._looks += 1
            yield self._held
            is_asked, self._last_heard = self._held.last_request > self._last_heard, self._held.last_request
        if is_asked:
            self._wake_ups.asked()

    def commit(self, turn: Turn) -> None:
        """Write one turn of the engine's loop. Only the owner may: a call by any other process is a bug."""
        with self._guard:
            self._looks += 1
            if self._owner is None:
                raise RuntimeError("only the owner of a store writes to it: use own() first")
            memory_turns.write(self._held, turn)
            self.stack_documents.write(self._held, turn.payload.written, turn.at)
            self.labels.write(turn.payload.written.labels)
            for row in turn.payload.reshaped:
                if row.uses is not None:
                    self.stored_blueprints.add_uses(row.deployment, row.uses)
                if row.blueprint is not None:
                    self.labels.add(row.deployment, labels_of(row.blueprint.labels))
        if turn.payload.answers:
            self._wake_ups.answered()

    def set_process_group(self, batch: int, process_group: int) -> None:
        """Store the process group of a batch's call, which the next engine ends if this engine dies."""
        with self._changing():
            self._held.batches[batch] = altered(self._held.batches[batch], process_group=process_group)

    def _living(self) -> Mapping[int, str]:
        return {number: held.row.name for number, held in self._held.deployments.items() if not held.deleted_at}

    def deployments(self) -> Sequence[DeploymentRow]:
        """Return all deployments that are not deleted, sorted by name."""
        with self._guard:
            rows = [known.row for known in self._held.deployments.values() if not known.deleted_at]
        return sorted(map(self.packages.found_in, rows), key=lambda row: row.name)

    def deployment(self, name: str) -> DeploymentRow | None:
        """Return the deployment of this name that is not deleted, or None."""
        return next((row for row in self.deployments() if row.name == name), None)

    def blueprint(self, deployment: int) -> Blueprint:
        """Return the stored blueprint of a deployment."""
        return self._held.deployments[deployment].blueprint

    def inputs(self, deployment: int) -> Mapping[str, Value]:
        """Return the inputs of a deployment."""
        told: dict[str, Value] = json.loads(self._held.deployments[deployment].inputs)
        return told

    def topology(self, deployment: int) -> Topology:
        """Return the instances and relationship instances of a deployment."""
        return self._held.deployments[deployment].topology

    def state_names(self, deployment: int) -> tuple[str, ...]:
        """Return the names of a deployment's resource states, in the order of their numbers."""
        return self._held.deployments[deployment].state_names

    def name_states(self, deployment: int, names: Sequence[str]) -> tuple[str, ...]:
        """Append those of ``names`` that are missing; return all state names of the deployment."""
        with self._changing() as held:
            known = held.deployments[deployment]
            known.state_names += missing_names(known.state_names, names)
            return known.state_names

    def pause_phase(self, name: str, actor: Actor, reason: str) -> bool:
        """Pause a phase, so that it is not called. Return False if it was already paused."""
        row = PausedRow(name, self._clock.now(), actor.name, reason)
        with self._changing() as held:
            return held.paused.setdefault(name.lower(), row) is row

    def unpause_phase(self, name: str) -> bool:
        """End the pause of a phase. Return False if the phase was not paused."""
        with self._changing() as held:
            return held.paused.pop(name.lower(), None) is not None

    def paused_phases(self) -> Mapping[str, PausedRow]:
        """Return {name of a paused phase in lower case: its pause}."""
        with self._guard:
            return dict(sorted(self._held.paused.items()))

    def know_phases(self, known: Mapping[str, str]) -> None:
        """Replace the stored list of known phases, {name in lower case: description}."""
        with self._changing() as held:
            held.known_phases = dict(sorted(known.items()))

    def known_phases(self) -> Mapping[str, str]:
        """Return {name in lower case: description} of the phases that the last engine knew."""
        with self._guard:
            return dict(self._held.known_phases)

    def measures(self) -> Mapping[str, Metric]:
        """Return {name: the latest measurement that an engine stored under this name}."""
        with self._guard:
            return dict(self._held.measures)

    def states(self, deployment: int) -> np.ndarray:
        """Return the instance states as uint8, by instance number."""
        with self._guard:
            return self._held.deployments[deployment].states.copy()

    def checks(self, deployment: int, *, only_results: bool = False) -> CheckResults:
        """Return a copy of a deployment's check results."""
        with self._guard:
            book = self._held.deployments[deployment].checks.copy()
        return CheckResults(HeldBodies(), book.columns) if only_results else book

    def documents(self, deployment: int, instances: Sequence[int] | None = None) -> Mapping[int, dict[str, Value]]:
        """Return {instance number: runtime properties}, without instances that have none."""
        with self._guard:
            held = self._held.deployments[deployment].documents
            wanted = sorted(held) if instances is None else [int(number) for number in instances]
            found = [(number, held.get(number, texts.EMPTY)) for number in wanted]
        return {number: json.loads(body) for number, body in found if body != texts.EMPTY}

    def executions(self, deployment: int | None = None, *, only_open: bool = False) -> Sequence[ExecutionRow]:
        """Return the executions that fulfil all given conditions, oldest first."""
        with self._guard:
            rows = [known.row for known in self._held.executions.values()]
        return [
            row
            for row in rows
            if (deployment is None or row.deployment == deployment) and not (only_open and row.status.is_ended)
        ]

    def execution(self, id: str) -> ExecutionRow | None:
        """Return the execution with this id, or None."""
        number = id.rpartition("-")[2]
        with self._guard:
            known = self._held.executions.get(int(number)) if number.isdecimal() else None
            return known.row if known is not None and known.row.id == id else None

    def around(self, execution: int) -> PrePost:
        """Return the hooks and stage tasks before and after an execution."""
        known = self._held.executions.get(execution)
        return known.around if known else PrePost()

    def graphs(self, execution: int) -> Sequence[GraphRow]:
        """Return the rows of an execution's graphs in the order of its rounds, without their entries."""
        with self._guard:
            known = self._held.executions.get(execution)
            return [self._held.graphs[number].row for number in known.graphs] if known else []

    def graph(self, graph: int) -> Graph:
        """Return one graph with its entries and edges."""
        return self._held.graphs[graph].graph

    def statuses(self, graph: int) -> np.ndarray:
        """Return the stored statuses of a graph's entries, as bytes by position."""
        with self._guard:
            return self._held.graphs[graph].statuses()

    def entry_statuses(self, graph: int, calls: Sequence[BatchRow] | None = None) -> EntryStatuses:
        """Return the statuses of a graph's entries by position, including running ones."""
        with self._guard:
            return self._held.entry_statuses(graph, calls)

    def step_counts(self, graph: int) -> Mapping[int, Mapping[EntryStatus, int]]:
        """Return {index of the step in the graph: {status: number of its entries}}."""
        return count_by_step(self.graph(graph).steps, self.statuses(graph))

    def notes(self, graph: int, *, among: Collection[int] | None = None) -> Sequence[NoteRow]:
        """Return the notes of a graph, sorted by position."""
        with self._guard:
            held = self._held.graphs[graph].notes
            return [held[position] for position in sorted(held if among is None else held.keys() & set(among))]

    def messages(self, graph: int) -> Mapping[int, tuple[int, str]]:
        """Return {position: (due time in ms, message)} of all notes."""
        return {note.position: (note.due, note.message) for note in self.notes(graph)}

    def batches(self, *, execution: int | None = None, only_open: bool = False) -> Sequence[BatchRow]:
        """Return batches sorted by id, with all their members, including those of other executions."""
        with self._guard:
            return self._held.batches_of(execution, only_open=only_open)

    def runs_of(self, lane: str, *, last: int = 100) -> LaneStatistics:
        """Return statistics of a lane's stored batches, with the ``last`` latest batches."""
        with self._guard:
            return self._held.runs_of(lane, last)

    def logs(
        self, execution: int, *, after: int = 0, instance: int | None = None, limit: int = 10_000
    ) -> Sequence[LogLine]:
        """Return log lines of an execution, sorted by sequence number."""
        with self._guard:
            known = self._held.executions.get(execution)
            lines = list(known.logs) if known else []
        return [line for line in lines if line.sequence > after and instance in {None, line.instance}][:limit]

    def events(self, execution: int, *, after: int = 0, limit: int = 10_000) -> Sequence[EventRow]:
        """Return events of an execution, sorted by sequence number."""
        with self._guard:
            known = self._held.executions.get(execution)
            rows = list(known.events) if known else []
        return [row for row in rows if row.sequence > after][:limit]

    def purging(self, rules: PurgeRules) -> MemoryPurge:
        """Begin to remove what is older than the rules allow, in slices."""
        return MemoryPurge(self._changing, rules, self._forget_gone)

    def _forget_gone(self, held: MemoryTables, rules: PurgeRules) -> None:
        """Remove from the shelves what belongs to executions and deployments that were removed."""
        self.stored_plans.forget(held.executions.keys(), rules.executions_before, rules.deployment)
        for shelf in (self.labels, self.packages, self.hook_switches):
            shelf.forget(held.deployments.keys())

    def close(self) -> None:
        """Do nothing: there are no files, and the content stays."""
