"""An engine's part for resources: paths, conditions, lanes of phases, listeners. Created for the first ``reach``.

In a turn: conditions of changed resources are evaluated again before the scheduler decides (``before``); its decision is
committed; then resources that left their states are planned into the next ones (``after``), with graphs for the next
turn.
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
    """The rows of a turn, to which phases add rows."""

    documents: list[DocumentChange]
    remarks: list[EntryRemark]
    measures: Sequence[Metric]


class PhaseEngine:
    """The part of an engine that knows phases. ``documents`` and ``remarks`` are stored with the next turn."""

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
        """Read the plugins, if there is a ``source`` of them."""
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
        """Events that follow from a new execution: older ones release its subjects."""
        return self.paths.begin(row)

    def take_up(self, row: ExecutionRow, events: Iterable[Event]) -> list[Event]:
        """Events that follow from a continued execution, given the events that restore it."""
        if is_reach(row.request):
            self.paths.take_up(row)
        graphs = [event.graph for event in events if isinstance(event, Restored) and event.execution == row.number]
        return [change for graph in graphs if graph is not None for change in self.in_force.needed_by(graph)]

    def forget_deployment(self, deployment: int, blueprint: Blueprint) -> None:
        """A deployment is dropped from memory."""
        self.paths.forget_deployment(deployment)
        self.in_force.forget_blueprint(blueprint)

    # -- nodes of blueprints ------------------------------------------------------------------------------------

    def known_paths(self, deployment: int) -> StatePathIndex:
        """The paths for the planner of a blueprint's workflow. Raises ``ProblemsError`` for types without a path."""
        blueprint = self._deployments.loaded(deployment).blueprint
        registry = self.in_force.registry_of(blueprint)
        problems = tuple(path_problems(blueprint, registry))
        if problems:
            raise ProblemsError(problems)
        return StatePathIndex(registry, self._deployments.name_states(deployment, states_of(blueprint, registry)))

    def begins(self, graph: Graph, deployment: int) -> list[Event]:
        """Events that must accompany a graph of a blueprint's workflow: closed lanes."""
        self._clear(graph, deployment)
        return [*self.in_force.needed_by(graph)]

    def knows(self, execution: int) -> bool:
        """True for an open execution of paths."""
        return self.paths.knows(execution)

    def evaluate(self, command: Evaluate, keys: LaneKeys) -> list[Event]:
        """Answers whether entries apply, or the lane keys that keep them apart."""
        if command.what == "key":
            return self.conditions.keyed(command.graph, command.positions, command.expression, keys)
        return self.conditions.asked(command.graph, command.positions)

    def is_about_phase(self, command: Evaluate) -> bool:
        """True for entries of a phase; entries of operations have property keys."""
        slot = self._scheduler.arena.slots.get(command.graph)
        if slot is None or not len(command.positions):
            return False
        first = int(command.positions[0])
        return any(step.first <= first < step.first + step.count for step in slot.steps if phase_of(step.phase))

    def renew(self) -> list[Event]:
        """React to reloaded plugins, and to paused or opened phases."""
        self.breakers.follow()
        return [*self.in_force.renew(), *self.conditions.renewed()]

    @property
    def held(self) -> frozenset[int]:
        """The executions that are held."""
        if not self.in_force.closed:
            return frozenset()
        return frozenset(run.execution for run in self._scheduler.runs.values() if self.is_held(run))

    def is_held(self, run: OpenExecution) -> bool:
        """True for an execution whose remaining work waits for phases that an operator must open or fix."""
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
        """Events that follow from documents changed by calls and users, and from too many failures."""
        self._gauges.look(self._clock.now())
        told: list[Event] = [*self.in_force.renew()] if self.breakers.see(reports) else []
        told += self._adapted(reports)
        for report in reports:
            for _, change in report.documents:
                self.has_changed(change)
        changed, self._changed = self._changed, {}
        return [*told, *self.conditions.changed(changed)] if changed else list(told)

    def _adapted(self, reports: Sequence[CallReport]) -> Iterator[Event]:
        """Adapt the rate of phases whose calls have ended: it is halved, or grows again."""
        for report in reports:
            batch = self._scheduler.batches.get(report.batch)
            lane = None if batch is None or not len(report.members) or report.is_noted else batch.lane
            if lane is not None and lane.spec.rate:
                yield RateAdapted(lane.spec, lane.key, report.is_throttled)

    def has_changed(self, change: DocumentChange) -> None:
        """A document is different now."""
        self._changed.setdefault(change.deployment, set()).add(change.instance)

    def ask(self, command: Ask) -> None:
        """Answered by ``after``."""
        self._asks.append(command)

    def announce(self, command: Announce) -> None:
        """Note resources that reached a state: listeners are called when the turn is done."""
        self.listeners.announced(command)

    def after(self, changes: Changes) -> list[Event]:
        """Events that follow from a committed turn and from questions asked in it."""
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
        """Rows to store with this turn; cleared data first, because calls may have written since."""
        rows.documents[:0] = self.documents
        rows.remarks += self.conditions.remarks
        self.documents, self.conditions.remarks = [], []
        rows.measures = self._gauges.rows()

    def close(self, drain_s: float) -> None:
        """Wait for running listeners up to the drain time; the last turn stores the metrics."""
        self.listeners.close(drain_s)
        self._gauges.is_leaving = True
        self._inbox.post(only_logs(NO_BATCH, []))
