"""What a store in memory lets a tenant or the engine read and request."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
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
from phaseline.model.rows.dependencies import ConsumerDependencies
from phaseline.model.rows.maintenance import PurgeRules
from phaseline.model.rows.orders import NewOrder
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
    RequestKind,
    RequestRow,
)
from phaseline.ports.clock import Clock
from phaseline.store.codec import json_documents as texts
from phaseline.store.codec.step_counts import count_by_step
from phaseline.store.memory import requests as asking
from phaseline.store.memory.definition_files import MemoryDefinitions
from phaseline.store.memory.estate.causes import MemoryCauses, refuse_cause
from phaseline.store.memory.estate.dependencies import MemoryDependencies
from phaseline.store.memory.estate.group_runs import MemoryRuns
from phaseline.store.memory.estate.groups import MemoryGroups
from phaseline.store.memory.estate.schedules import MemorySchedules
from phaseline.store.memory.fileless import MemoryIncarnations
from phaseline.store.memory.hook_switches import MemorySwitches
from phaseline.store.memory.labels import MemoryLabels
from phaseline.store.memory.listings import MemoryListings
from phaseline.store.memory.orders import MemoryOrders
from phaseline.store.memory.packages import MemoryPackages
from phaseline.store.memory.purge import MemoryPurge
from phaseline.store.memory.secrets import MemorySecrets
from phaseline.store.memory.stack_documents import MemoryDocuments
from phaseline.store.memory.stored_blueprints import MemoryBlueprints
from phaseline.store.memory.stored_plans import MemoryPlans
from phaseline.store.memory.tables import HeldDeployment, MemoryTables
from phaseline.store.memory.tenant_rows import MemoryTenantRows
from phaseline.store.sql import errors as failures
from phaseline.store.sql.resource_clusters import missing_names


class MemoryRows(ABC):
    """Rows of a store in memory: those of one tenant or all. ``ports.tenant_store.StoreRows`` describes each method."""

    dependencies: MemoryDependencies
    schedules: MemorySchedules
    groups: MemoryGroups
    group_runs: MemoryRuns

    def __init__(
        self,
        clock: Clock,
        guard: threading.RLock,
        held: MemoryTables,
        own: MemoryTenantRows,
        whole: MemoryRows | None = None,
    ) -> None:
        """``guard`` separates readers from writers of ``held``. ``whole``: the store, of which this is a tenant's part."""
        self._clock = clock
        self._guard = guard
        self._held = held
        self._own = own
        parts = (None,) * 9 if whole is None else whole.shelves
        secrets, blueprints, definitions, plans, orders, labels, documents, packages, switches = parts
        dependencies = None if whole is None else whole.dependencies
        schedules = None if whole is None else whole.schedules
        self.secrets = MemorySecrets(self._changing, own.named, secrets)
        self.stored_blueprints = MemoryBlueprints(self._changing, self._living, own, blueprints)
        self.definitions = MemoryDefinitions(self._changing, own.named, definitions)
        self.stored_plans = MemoryPlans(self._changing, own, plans)
        self.orders = MemoryOrders(self._changing, own, orders)
        self.labels = MemoryLabels(self._changing, own, labels)
        self.stack_documents = MemoryDocuments(self._changing, own, documents)
        self.packages = MemoryPackages(
            self._changing, self._living, self._refuse_open, self.executions, clock, own, packages
        )
        self.listings = MemoryListings(
            self._guard, self._held, self.deployments, self.labels, self.packages, self.secrets, own
        )
        self.hook_switches = MemorySwitches(self._changing, clock, own, switches)
        self.causes = MemoryCauses(self._changing, own)
        self.dependencies = MemoryDependencies(self._changing, held, own, dependencies)
        self.schedules = MemorySchedules(self._changing, clock, own, schedules)
        self.groups = MemoryGroups(self._changing, held, clock, own, None if whole is None else whole.groups)
        self.group_runs = MemoryRuns(self._changing, held, clock, own, None if whole is None else whole.group_runs)
        self.incarnations = MemoryIncarnations()

    @property
    @abstractmethod
    def is_owner(self) -> bool:
        """True while this store has an owner."""

    def as_one(self, order: NewOrder | None = None) -> AbstractContextManager[dict[str, Value]]:
        """Return a context that undoes its writes of deployments, executions and requests if it raises."""
        return self.orders.as_one(order)

    @property
    def has_packages(self) -> bool:
        """False if no package is, or ever was, installed."""
        return bool(self.packages.kept())

    @property
    def has_dependencies(self) -> bool:
        """False if no deployment has a record of reading another one."""
        return any(records and self.dependencies.of(number) for number, records in list(self.dependencies.rows.items()))

    @property
    def has_schedules(self) -> bool:
        """False if no deployment has a schedule."""
        return bool(self.schedules.all())

    def create_deployment(
        self, new: NewDeployment, request: NewExecution | None = None, *, replaces: int = 0, asks: bool | None = None
    ) -> tuple[int, ExecutionRow | None]:
        """Store a deployment; return its number and the execution stored with the deployment, or None."""
        actor = self._own.by(new.actor)
        with self._changing() as held:
            replaces = self._own.deployment(replaces)
            if replaces:
                self._refuse_open(replaces)
            for number, known in held.deployments.items():
                same = (known.row.tenant, known.row.name) == (actor.tenant, new.name)
                if same and not known.deleted_at and number != replaces:
                    raise failures.name_taken(new.name)
            self.stored_blueprints.refuse_gone(actor.tenant, new.uses)
            if replaces:
                self.delete_deployment(replaces, actor)
            refuse_cause(new.cause, (known.cause for known in held.deployments.values()))
            held.last_deployment += 1
            number = held.last_deployment
            self.stored_blueprints.add_uses(number, new.uses)
            self.packages.add_uses(actor.tenant, number, new.packages)
            held.deployments[number] = HeldDeployment.of(number, altered(new, actor=actor))
            self.labels.add(number, labels_of(new.blueprint.labels))
            self.dependencies.write([ConsumerDependencies(number, tuple(new.dependencies))] if new.dependencies else ())
            settings = new.blueprint.deployment_settings
            self.schedules.begin(held.deployments[number].row, settings, is_enabled=new.has_enabled_schedules)
            return number, self._add_execution(request, number, asks) if request else None

    def delete_deployment(self, deployment: int, actor: Actor | None = None) -> None:
        """Delete a deployment, so that its name is free again; its executions stay."""
        del actor  # deletions in memory are not recorded
        with self._changing() as held:
            deployment = self._own.deployment(deployment)
            self._refuse_open(deployment)
            self.stack_documents.drop_snapshots(deployment)
            self.schedules.drop(deployment)
            self.groups.drop(deployment)
            known = held.deployments.get(deployment)
            if known is not None and not known.deleted_at:
                known.deleted_at = max(1, self._clock.now())

    def create_execution(
        self, new: NewExecution, *, asks: bool | None = None, beside: ConcurrencyRule | None = None
    ) -> ExecutionRow:
        """Store an execution with status queued and return its row. ``asks`` and ``beside`` work as in ``Store``."""
        with self._changing():
            return self._add_execution(new, self._deployment(new.deployment), asks, beside)

    def grow(
        self, deployment: int, growth: ResourceAddition, actor: Actor, *, asks: bool | None = None
    ) -> Sequence[ExecutionRow]:
        """Add resources to a cluster, and store the executions that ``growth`` requests."""
        with self._changing() as held:
            known = held.deployments[self._deployment(deployment)]
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
        wants_start = not self.is_owner if asks is None else asks
        return asking.add_execution(self._held, new, deployment, asks=wants_start, beside=beside)

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
            self._execution(execution)
            by = self._own.by(actor)
            return asking.add_request(held, kind, execution, body, by, self._clock.now(), beside, answer)

    def requests(self, after: int = 0) -> Sequence[RequestRow]:
        """Return the requests with numbers above ``after`` that have no answer, oldest first."""
        with self._guard:
            return asking.unanswered(self._held, after, self._own)

    def answer_of(self, request: int) -> Mapping[str, Value] | None:
        """Return the answer to a request, or None while it is unanswered."""
        with self._guard:
            return asking.answer_of(self._held, request, self._own)

    def requests_of(self, execution: int) -> Sequence[RequestRow]:
        """Return all requests about an execution, oldest first."""
        with self._guard:
            return asking.requests_of(self._held, self._own.execution(execution))

    def listen_for_answers(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """Return a context in which ``wake`` is called after an answer was stored."""
        return self._held.wake_ups.on_answers(wake)

    def at_once(self) -> AbstractContextManager[object]:
        """Return the lock that separates readers from writers; while it is held, nothing changes."""
        return self._guard

    @contextmanager
    def _changing(self) -> Iterator[MemoryTables]:
        """Return a context in which only this thread uses the store; then ``changed`` reports that something was written."""
        with self._guard:
            self._held.looks += 1
            held = self._held
            yield held
            is_asked, held.last_heard = held.last_request > held.last_heard, held.last_request
        if is_asked:
            held.wake_ups.asked()

    def _living(self) -> Mapping[int, str]:
        return {
            number: held.row.name
            for number, held in self._held.deployments.items()
            if not held.deleted_at and self._own.has(held.row.tenant)
        }

    def _deployment(self, number: int) -> int:
        """Return the number of a deployment that may be found. Raises: ``LookupError``."""
        return self._own.require(self._own.deployment(number), "deployment")

    def _execution(self, number: int) -> int:
        """Return the number of an execution that may be found, or 0. Raises: ``LookupError``."""
        return self._own.require(self._own.execution(number), "execution")

    def _graph(self, number: int) -> int:
        """Return the number of a graph that may be found. Raises: ``LookupError``."""
        return self._own.require(self._own.graph(number), "graph")

    def deployments(self) -> Sequence[DeploymentRow]:
        """Return all deployments that are not deleted, sorted by name."""
        with self._guard:
            rows = [self._held.deployments[number].row for number in self._living()]
        return sorted(map(self.packages.found_in, rows), key=lambda row: row.name)

    def deployment(self, name: str) -> DeploymentRow | None:
        """Return the deployment of this name that is not deleted, or None."""
        named = self._own.named
        return next((row for row in self.deployments() if (row.name, row.tenant) == (name, named)), None)

    def blueprint(self, deployment: int) -> Blueprint:
        """Return the stored blueprint of a deployment."""
        return self._held.deployments[self._deployment(deployment)].blueprint

    def inputs(self, deployment: int) -> Mapping[str, Value]:
        """Return the inputs of a deployment."""
        told: dict[str, Value] = json.loads(self._held.deployments[self._deployment(deployment)].inputs)
        return told

    def topology(self, deployment: int) -> Topology:
        """Return the instances and relationship instances of a deployment."""
        return self._held.deployments[self._deployment(deployment)].topology

    def state_names(self, deployment: int) -> tuple[str, ...]:
        """Return the names of a deployment's resource states, in the order of their numbers."""
        known = self._held.deployments.get(self._own.deployment(deployment))
        return known.state_names if known else ()

    def name_states(self, deployment: int, names: Sequence[str]) -> tuple[str, ...]:
        """Append those of ``names`` that are missing; return all state names of the deployment."""
        with self._changing() as held:
            known = held.deployments[self._deployment(deployment)]
            known.state_names += missing_names(known.state_names, names)
            return known.state_names

    def pause_phase(self, name: str, actor: Actor, reason: str) -> bool:
        """Pause a phase, so that it is not called. Return False if it was already paused."""
        row = PausedRow(name, self._clock.now(), actor.name, reason)
        key = self._own.by(actor).tenant, name.lower()
        with self._changing() as held:
            return held.paused.setdefault(key, row) is row

    def unpause_phase(self, name: str) -> bool:
        """End the pause of a phase. Return False if the phase was not paused."""
        with self._changing() as held:
            return held.paused.pop((self._own.named, name.lower()), None) is not None

    def paused_phases(self) -> Mapping[str, PausedRow]:
        """Return {name of a paused phase in lower case: its pause}."""
        with self._guard:
            found = [(name, row) for (tenant, name), row in self._held.paused.items() if self._own.has(tenant)]
        return dict(sorted(found, key=lambda one: (one[0], -one[1].at)))

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
            return self._held.deployments[self._deployment(deployment)].states.copy()

    def checks(self, deployment: int, *, only_results: bool = False) -> CheckResults:
        """Return a copy of a deployment's check results."""
        with self._guard:
            known = self._held.deployments.get(self._own.deployment(deployment))
            book = known.checks.copy() if known else CheckResults(HeldBodies())
        return CheckResults(HeldBodies(), book.columns) if only_results else book

    def documents(self, deployment: int, instances: Sequence[int] | None = None) -> Mapping[int, dict[str, Value]]:
        """Return {instance number: runtime properties}, without instances that have none."""
        with self._guard:
            known = self._held.deployments.get(self._own.deployment(deployment))
            held = known.documents if known else {}
            wanted = sorted(held) if instances is None else [int(number) for number in instances]
            found = [(number, held.get(number, texts.EMPTY)) for number in wanted]
        return {number: json.loads(body) for number, body in found if body != texts.EMPTY}

    def executions(self, deployment: int | None = None, *, only_open: bool = False) -> Sequence[ExecutionRow]:
        """Return the executions that fulfil all given conditions, oldest first."""
        with self._guard:
            rows = [known.row for known in self._held.executions.values() if self._own.has(known.row.tenant)]
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
            is_found = known is not None and known.row.id == id and self._own.has(known.row.tenant)
            return known.row if known is not None and is_found else None

    def around(self, execution: int) -> PrePost:
        """Return the hooks and stage tasks before and after an execution."""
        known = self._held.executions.get(self._own.execution(execution))
        return known.around if known else PrePost()

    def graphs(self, execution: int) -> Sequence[GraphRow]:
        """Return the rows of an execution's graphs in the order of its rounds, without their entries."""
        with self._guard:
            known = self._held.executions.get(self._own.execution(execution))
            return [self._held.graphs[number].row for number in known.graphs] if known else []

    def graph(self, graph: int) -> Graph:
        """Return one graph with its entries and edges."""
        return self._held.graphs[self._graph(graph)].graph

    def statuses(self, graph: int) -> np.ndarray:
        """Return the stored statuses of a graph's entries, as bytes by position."""
        with self._guard:
            return self._held.graphs[self._graph(graph)].statuses()

    def entry_statuses(self, graph: int, calls: Sequence[BatchRow] | None = None) -> EntryStatuses:
        """Return the statuses of a graph's entries by position, including running ones."""
        with self._guard:
            return self._held.entry_statuses(self._graph(graph), calls)

    def step_counts(self, graph: int) -> Mapping[int, Mapping[EntryStatus, int]]:
        """Return {index of the step in the graph: {status: number of its entries}}."""
        return count_by_step(self.graph(graph).steps, self.statuses(graph))

    def notes(self, graph: int, *, among: Collection[int] | None = None) -> Sequence[NoteRow]:
        """Return the notes of a graph, sorted by position."""
        with self._guard:
            known = self._held.graphs.get(self._own.graph(graph))
            held = known.notes if known else {}
            return [held[position] for position in sorted(held if among is None else held.keys() & set(among))]

    def messages(self, graph: int) -> Mapping[int, tuple[int, str]]:
        """Return {position: (due time in ms, message)} of all notes."""
        return {note.position: (note.due, note.message) for note in self.notes(graph)}

    def batches(self, *, execution: int | None = None, only_open: bool = False) -> Sequence[BatchRow]:
        """Return batches sorted by id, with all their members, including those of other executions."""
        with self._guard:
            own = None if execution is None else self._own.execution(execution)
            found = self._held.batches_of(own, only_open=only_open)
            return [kept for row in found if (kept := self._own.without_others(row)) is not None]

    def runs_of(self, lane: str, *, last: int = 100) -> LaneStatistics:
        """Return statistics of a lane's stored batches, with the ``last`` latest batches."""
        with self._guard:
            return self._held.runs_of(lane, last, self._own)

    def logs(
        self, execution: int, *, after: int = 0, instance: int | None = None, limit: int = 10_000
    ) -> Sequence[LogLine]:
        """Return log lines of an execution, sorted by sequence number."""
        with self._guard:
            known = self._held.executions.get(self._own.execution(execution))
            lines = list(known.logs) if known else []
        return [line for line in lines if line.sequence > after and instance in {None, line.instance}][:limit]

    def events(self, execution: int, *, after: int = 0, limit: int = 10_000) -> Sequence[EventRow]:
        """Return events of an execution, sorted by sequence number."""
        with self._guard:
            known = self._held.executions.get(self._own.execution(execution))
            rows = list(known.events) if known else []
        return [row for row in rows if row.sequence > after][:limit]

    def purging(self, rules: PurgeRules) -> MemoryPurge:
        """Begin to remove what is older than the rules allow, in slices."""
        return MemoryPurge(self._changing, rules, self._own, self._forget_gone)

    def _forget_gone(self, held: MemoryTables, rules: PurgeRules) -> None:
        """Remove from the shelves what belongs to executions and deployments that were removed."""
        self.stored_plans.forget(held.executions.keys(), rules.executions_before, rules.deployment)
        for shelf in (self.labels, self.packages, self.hook_switches, self.dependencies):
            shelf.forget(held.deployments.keys())

    @property
    def shelves(
        self,
    ) -> tuple[
        MemorySecrets,
        MemoryBlueprints,
        MemoryDefinitions,
        MemoryPlans,
        MemoryOrders,
        MemoryLabels,
        MemoryDocuments,
        MemoryPackages,
        MemorySwitches,
    ]:
        """The shelves, whose data those of a tenant's part share."""
        return (
            self.secrets,
            self.stored_blueprints,
            self.definitions,
            self.stored_plans,
            self.orders,
            self.labels,
            self.stack_documents,
            self.packages,
            self.hook_switches,
        )
