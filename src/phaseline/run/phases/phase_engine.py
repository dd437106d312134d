"""The engine's part for resources: paths, conditions, lanes of phases, listeners. Created when a phase is first needed.

In each turn, ``before`` evaluates conditions of changed resources, the scheduler decides, and the decision is
committed. Then ``after`` plans the next states of resources that left a state; their graphs begin in the next turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from phaseline.calls.protocol.reports import NO_BATCH, only_logs
from phaseline.engine.status_transitions import IS_ACTIVE, WAITING
from phaseline.model.execution.events import RateAdapted, Restored
from phaseline.model.execution.execution import StatePathIndex
from phaseline.model.graph.graph import phase_of
from phaseline.model.phases.phase_data import PHASE_DATA, phases_in
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.resources.resources import is_reach
from phaseline.plan.states.state_entries import stays_of
from phaseline.plan.states.state_operations import path_problems, states_of
from phaseline.run.phases.active_phases import ActivePhases
from phaseline.run.phases.active_phases import phases_in as phases_of_steps
from phaseline.run.phases.applicability import Conditions
from phaseline.run.phases.circuit_breakers import Breakers
from phaseline.run.phases.listeners import Listeners
from phaseline.run.phases.metrics import Gauges
from phaseline.run.phases.path_controller import Paths
from phaseline.run.phases.path_requests import PathOrders

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.deployments.lane_keys import LaneKeys
    from phaseline.calls.deployments.planner_driver import Planning
    from phaseline.calls.protocol.reports import CallReport
    from phaseline.calls.threads.inbox import Inbox
    from phaseline.engine.open_executions import OpenExecution
    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.blueprint.blueprint import Blueprint
    from phaseline.model.execution.events import Announce, Ask, Changes, Evaluate, Event
    from phaseline.model.graph.graph import Graph
    from phaseline.model.rows.rows import DocumentChange, EntryRemark, ExecutionRow, Metric
    from phaseline.ports.clock import Clock
    from phaseline.ports.store import Store
    from phaseline.run.phases.active_phases import PhaseSource


class PhaseRows(Protocol):
    """The rows that a turn is about to store. The phase engine adds its own rows to these lists."""

    documents: list[DocumentChange]
    remarks: list[EntryRemark]
    measures: Sequence[Metric]


class PhaseEngine:
    """The part of an engine for phases. ``documents``: changes of resources' documents that the next turn stores."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        scheduler: Scheduler,
        deployments: DeploymentCache,
        planning: Planning,
        inbox: Inbox[CallReport],
        source: PhaseSource | None,
    ) -> None:
        """Read the phases of ``source``; with None there are no phases."""
        self._scheduler = scheduler
        self._deployments = deployments
        self.in_force = ActivePhases(source, store.paused_phases)
        deployments.find_phase = self.in_force.find
        self.conditions = Conditions(scheduler, deployments, self.in_force, clock)
        self.paths = Paths(store, deployments, planning, scheduler, self.in_force, self.conditions)
        self.breakers = Breakers(store, clock, scheduler, self.in_force, deployments.secrets)
        self.listeners = Listeners(scheduler, deployments, self.in_force, clock, inbox)
        self._clock, self._inbox = clock, inbox
        self._gauges = Gauges(store, scheduler, self.listeners)
        self.orders = PathOrders(store, scheduler, deployments, self)
        self.documents: list[DocumentChange] = []
        self._changed: dict[int, set[int]] = {}
        self._asks: list[Ask] = []

    # -- executions ---------------------------------------------------------------------------------------------

    def begin(self, row: ExecutionRow) -> list[Event]:
        """Begin an execution of ``reach``. Return events that make older executions release its subjects."""
        return self.paths.begin(row)

    def take_up(self, row: ExecutionRow, events: Iterable[Event]) -> list[Event]:
        """Continue an execution that these events restore. Return events that close or open lanes of its phases."""
        if is_reach(row.request):
            self.paths.take_up(row)
        graphs = [event.graph for event in events if isinstance(event, Restored) and event.execution == row.number]
        return [change for graph in graphs if graph is not None for change in self.in_force.needed_by(graph)]

    def forget_deployment(self, deployment: int, blueprint: Blueprint) -> None:
        """Drop what is kept about a deployment, because it is dropped from memory."""
        self.paths.forget_deployment(deployment)
        self.in_force.forget_blueprint(blueprint)

    # -- nodes of blueprints ------------------------------------------------------------------------------------

    def known_paths(self, deployment: int) -> StatePathIndex:
        """Return the state paths for the planner of a blueprint's workflow.

        Raises ``ProblemsError`` for types without a path.
        """
        blueprint = self._deployments.loaded(deployment).blueprint
        registry = self.in_force.registry_of(blueprint)
        problems = tuple(path_problems(blueprint, registry))
        if problems:
            raise ProblemsError(problems)
        return StatePathIndex(registry, self._deployments.name_states(deployment, states_of(blueprint, registry)))

    def begins(self, graph: Graph, deployment: int) -> list[Event]:
        """Return the events that close or open lanes for a new graph of a blueprint's workflow."""
        self._clear(graph, deployment)
        return [*self.in_force.needed_by(graph)]

    def knows(self, execution: int) -> bool:
        """Return True if the execution is an open execution of ``reach``."""
        return self.paths.knows(execution)

    def evaluate(self, command: Evaluate, keys: LaneKeys) -> list[Event]:
        """Answer the scheduler's question whether entries apply, or which lane keys they have."""
        if command.what == "key":
            return self.conditions.keyed(command.graph, command.positions, command.expression, keys)
        return self.conditions.asked(command.graph, command.positions)

    def is_about_phase(self, command: Evaluate) -> bool:
        """Return True if the question is about entries of a phase, not of an operation."""
        slot = self._scheduler.arena.slots.get(command.graph)
        if slot is None or not len(command.positions):
            return False
        first = int(command.positions[0])
        return any(step.first <= first < step.first + step.count for step in slot.steps if phase_of(step.phase))

    def renew(self) -> list[Event]:
        """Read phases and pauses again; return the lanes to close or open, and answers to kept questions."""
        self.breakers.follow()
        return [*self.in_force.renew(), *self.conditions.renewed()]

    @property
    def held(self) -> frozenset[int]:
        """Numbers of executions whose remaining work waits for phases that an operator must resume or repair."""
        if not self.in_force.closed:
            return frozenset()
        return frozenset(run.execution for run in self._scheduler.runs.values() if self.is_held(run))

    def is_held(self, run: OpenExecution) -> bool:
        """Return True if the remaining work of an execution waits for phases that an operator must resume or repair."""
        closed = self.in_force.closed - self.breakers.tripped
        if not closed or run.is_asking:
            return False
        arena, table = self._scheduler.arena, self._scheduler.table
        numbers: set[int] = set()
        for graph in run.graphs:
            slot = arena.slots[graph]
            active = np.flatnonzero(IS_ACTIVE[arena.status[slot.base : slot.end]]) + slot.base
            if (arena.status[active] != WAITING).any():
                return False
            numbers.update(np.unique(table.lane[arena.policy[active]]).tolist())
        return bool(numbers) and all(table.specs[number].phase in closed for number in numbers)

    # -- turns --------------------------------------------------------------------------------------------------

    def before(self, reports: Sequence[CallReport]) -> list[Event]:
        """Return events that follow from changed documents and from too many failures of a phase."""
        self._gauges.look(self._clock.now())
        told: list[Event] = [*self.in_force.renew()] if self.breakers.see(reports) else []
        told += self._adapted(reports)
        for report in reports:
            for _, change in report.documents:
                self.has_changed(change)
        changed, self._changed = self._changed, {}
        return [*told, *self.conditions.changed(changed)] if changed else list(told)

    def _adapted(self, reports: Sequence[CallReport]) -> Iterator[Event]:
        """Adapt the call rate of phases whose calls have ended: halve it if a call was throttled, else let it grow."""
        for report in reports:
            batch = self._scheduler.batches.get(report.batch)
            lane = None if batch is None or not len(report.members) or report.is_noted else batch.lane
            if lane is not None and lane.spec.rate:
                yield RateAdapted(lane.spec, lane.key, report.is_throttled)

    def has_changed(self, change: DocumentChange) -> None:
        """Note that a document has changed, so that the next turn evaluates its resource's conditions again."""
        self._changed.setdefault(change.deployment, set()).add(change.instance)

    def ask(self, command: Ask) -> None:
        """Keep the scheduler's question of what an execution does next; ``after`` answers the question."""
        self._asks.append(command)

    def announce(self, command: Announce) -> None:
        """Collect resources that reached a state; their listeners are called at the end of the turn."""
        self.listeners.announced(command)

    def after(self, changes: Changes) -> list[Event]:
        """Return events that follow from a committed turn, and from the scheduler's questions in that turn."""
        self.listeners.tell()
        self._gauges.decided(changes)
        asks, self._asks = self._asks, []
        events = self.paths.after(changes, asks)
        begun, self.paths.begun = self.paths.begun, []
        for _, graph, deployment in begun:
            events.extend(self.in_force.needed_by(graph))
            self._clear(graph, deployment)
        return events

    def _clear(self, graph: Graph, deployment: int) -> None:
        """Drop the data that phases kept from an earlier stay of resources that enter a state (6.1)."""
        loaded = self._deployments.loaded(deployment)
        for stay in stays_of(graph.steps):
            names = phases_of_steps(step for step in stay.phases if step.count)
            subjects = graph.subject[stay.exit.first : stay.exit.first + stay.exit.count]
            for number in loaded.documented(subjects):
                kept = phases_in(loaded.document_of(number))
                gone = [(PHASE_DATA, name) for name in names if name in kept] if kept else ()
                if gone:
                    self.documents.append(loaded.apply(number, {}, gone))

    def give_rows(self, rows: PhaseRows) -> None:
        """Add rows to those that this turn stores. Removals come first, because calls may have written data since."""
        rows.documents[:0] = self.documents
        rows.remarks += self.conditions.remarks
        self.documents, self.conditions.remarks = [], []
        rows.measures = self._gauges.rows()

    def close(self, drain_s: float) -> None:
        """Wait up to ``drain_s`` seconds for running listeners, and let the last turn store the metrics."""
        self.listeners.close(drain_s)
        self._gauges.is_leaving = True
        self._inbox.post(only_logs(NO_BATCH, []))
