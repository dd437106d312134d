"""Resources on their path: which execution each follows, and the graphs of the states that it enters next (ADR 0011).

An execution of ``reach`` brings its subjects (resources) to a target. If several executions name a subject, it
follows the newest one, and older ones release it. Calls of the subject that still run are awaited before its new
path begins (6.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from phaseline.model.deployment.index_ranges import numbers_of
from phaseline.model.execution.events import CancelRequested, Left, Planned
from phaseline.model.execution.execution import Verdict
from phaseline.model.graph.graph import state_entered
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, Mark
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.resources.resources import REACH_WORKFLOW, REMOVED
from phaseline.model.resources.state_graph_names import state_name, state_numbers
from phaseline.plan.states.state_graph import (
    NOWHERE,
    ResourceGroup,
    Stops,
    late_graph,
    next_groups,
    removal_graph,
    same_for,
    state_graph,
)
from phaseline.run.phases.active_phases import phases_in
from phaseline.run.phases.path_progress import left_behind, verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.deployments.planner_driver import Planning
    from phaseline.engine.arena_layout import GraphSlot
    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.execution.events import Ask, Changes, Event
    from phaseline.model.graph.graph import Graph
    from phaseline.model.phases.registry import PhaseRegistry
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.store import Store
    from phaseline.run.phases.active_phases import ActivePhases
    from phaseline.run.phases.applicability import Conditions

NOBODY = np.empty(0, np.int32)
PASSED = int(EntryStatus.PASSED)
EXIT = int(Mark.EXIT)
MOST_MADE = 256
"""The most graphs kept as patterns for graphs with other subjects."""
STATES = 256
"""A number larger than any state number, used to combine node and state in one key."""


class Paths:
    """Plans the graphs of ``reach`` executions. ``begun`` has the graphs planned since the list was last emptied.

    ``tells_nobody`` means that this engine leaves before listeners could be called. Then resources that would enter a
    state with listeners wait for the next engine.
    """

    def __init__(
        self,
        store: Store,
        deployments: DeploymentCache,
        planning: Planning,
        scheduler: Scheduler,
        in_force: ActivePhases,
        conditions: Conditions,
    ) -> None:
        self._store = store
        self._deployments = deployments
        self._planning = planning
        self._scheduler = scheduler
        self._in_force = in_force
        self._conditions = conditions
        conditions.following = self._own
        self._subjects: dict[int, np.ndarray] = {}
        self._followed: dict[int, np.ndarray] = {}
        self._waiting: set[int] = set()
        self._open: set[int] = set()
        self._looked_at: set[int] = set()
        self._in_flight: dict[int, tuple[int, np.ndarray, int]] = {}
        self._gone_on: dict[int, dict[int, int]] = {}
        self._made: dict[tuple[int, str, str, str], tuple[PhaseRegistry, Graph]] = {}
        self._held: set[int] = set()
        self.tells_nobody = False
        self.begun: list[tuple[int, Graph, int]] = []

    # -- executions ---------------------------------------------------------------------------------------------

    def begin(self, row: ExecutionRow) -> list[Event]:
        """Add an execution, which takes over its subjects. Return events that cancel them in older executions."""
        subjects = numbers_of(row.request.parameters.get("subjects"))
        count = int(subjects[-1]) + 1 if len(subjects) else 0
        loaded = self._deployments.grow(row.deployment, count)
        subjects = subjects[subjects < len(loaded.topology)]
        self._subjects[row.number] = subjects
        followed = self._followed_in(row.deployment)
        before = followed[subjects]
        older = np.unique(before[(before > 0) & (before < row.number)]).tolist()
        followed[subjects] = np.maximum(before, row.number)
        how: Literal["force", "wait"] = "force" if row.request.parameters.get("force") else "wait"
        return [CancelRequested(other, how, subjects[before == other]) for other in older]

    def follow(self, row: ExecutionRow, subjects: np.ndarray) -> np.ndarray:
        """Return for each subject (bool) whether it follows this execution, not a newer one."""
        newest: np.ndarray = self._followed_in(row.deployment)[subjects] <= row.number
        return newest

    def knows(self, execution: int) -> bool:
        """Return True if the execution is an open execution of ``reach``."""
        return execution in self._subjects

    def take_up(self, row: ExecutionRow) -> None:
        """Add an execution that continues after a crash; the next turn plans subjects that were between two states."""
        self.begin(row)
        self._looked_at.add(row.number)

    def _followed_in(self, deployment: int) -> np.ndarray:
        """Return the number of the newest execution for each instance, or 0; read from the store at the first use.

        Executions that have not begun do not count: an execution takes over its subjects when it begins.
        """
        size = len(self._deployments.loaded(deployment).topology)
        found = self._followed.get(deployment)
        if found is None:
            found = np.zeros(size, np.int64)
            for row in self._store.executions(deployment):
                if row.request.workflow == REACH_WORKFLOW and (
                    row.started_at or row.status is not ExecutionStatus.QUEUED
                ):
                    numbers = numbers_of(row.request.parameters.get("subjects"))
                    found[numbers[numbers < size]] = row.number
        elif len(found) < size:
            found = np.concatenate((found, np.zeros(size - len(found), np.int64)))
        self._followed[deployment] = found
        return found

    def forget(self, execution: int) -> None:
        """Forget an execution that has ended."""
        self._subjects.pop(execution, None)
        self._gone_on.pop(execution, None)
        for known in (self._waiting, self._open, self._looked_at):
            known.discard(execution)

    def forget_deployment(self, deployment: int) -> None:
        """Drop a deployment from memory; which executions its instances follow is read from the store when needed."""
        self._followed.pop(deployment, None)
        for key in [key for key in self._made if key[0] == deployment]:
            del self._made[key]

    # -- turns --------------------------------------------------------------------------------------------------

    def after(self, changes: Changes, asks: Iterable[Ask]) -> list[Event]:
        """Return events that follow from a committed turn: graphs for subjects that continue, verdicts on executions.

        ``asks``: the scheduler's questions what comes next, after subjects have passed an exit or a graph has settled.
        """
        events: list[Event] = list(self._see_begun(changes))
        questions: set[int] = set()
        for ask in asks:
            if ask.subjects is None:
                questions.add(ask.execution)
            else:
                events += self._leave(ask.execution, ask.graph, ask.subjects)
        self._open |= questions
        wanted = questions | self._looked_at | (self._waiting if changes.closed or changes.executions else set())
        self._looked_at.clear()
        for execution in sorted(wanted):
            events += self._look(execution)
        return events

    def _see_begun(self, changes: Changes) -> Iterator[Event]:
        """Yield an event that closes a graph when all its subjects are in newer graphs, which the turn has stored.

        If the turn has not stored a planned graph, note its execution, so that the caller plans for it again.
        """
        added = {added.graph_id for added in changes.graphs}
        for graph, (execution, subjects, before) in self._in_flight.items():
            if execution not in self._scheduler.runs:
                continue
            if graph not in added:
                self._looked_at.add(execution)
            elif before:
                gone_on = self._gone_on.setdefault(execution, {})
                gone_on[before] = gone_on.get(before, 0) + len(subjects)
                if gone_on[before] == self._scheduler.arena.slots[before].steps[-1].count:
                    del gone_on[before]
                    yield Left(execution, before)
        self._in_flight.clear()

    def _leave(self, execution: int, graph: int, subjects: np.ndarray) -> list[Event]:
        """Plan the next state for subjects that passed the exit of their state, unless a phase has begun to apply."""
        slot = self._scheduler.arena.slots.get(graph)
        run = self._scheduler.runs.get(execution)
        if slot is None or run is None or run.is_canceled or execution not in self._subjects:
            return []
        events, leaving = self._conditions.before_leaving(slot, subjects)
        return [*events, *self._planned(execution, self._own(slot, leaving), slot)]

    def _own(self, slot: GraphSlot, subjects: np.ndarray) -> np.ndarray:
        """Return the subjects that no newer execution has taken over, ascending."""
        return np.sort(subjects[self._followed_in(slot.deployment)[subjects] == slot.execution])

    def _look(self, execution: int) -> list[Event]:
        """Plan for subjects that are in no graph, or have passed the exit of their last graph.

        If the scheduler has asked what comes next, and nothing does, answer with the verdict.
        """
        run = self._scheduler.runs.get(execution)
        if run is None or execution not in self._subjects:
            self.forget(execution)
            return []
        subjects = self._subjects[execution]
        subjects = subjects[self._followed_in(run.deployment)[subjects] == execution]
        events: list[Event] = []
        busy = NOBODY
        if not run.is_canceled:
            slots = [self._scheduler.arena.slots[graph] for graph in run.graphs]
            new, between = left_behind(slots, self._scheduler.arena, subjects)
            planned = [numbers for other, numbers, _ in self._in_flight.values() if other == execution]
            for slot, numbers in between:
                told, leaving = self._conditions.before_leaving(slot, without(numbers, planned))
                events += [*told, *self._planned(execution, leaving, slot)]
            new = without(new, planned)
            busy = np.intersect1d(new, self._called(run.deployment, execution))
            events += self._planned(execution, without(new, [busy]))
        (self._waiting.add if len(busy) else self._waiting.discard)(execution)
        is_answered = any(other == execution for other, *_ in self._in_flight.values())
        if execution in self._open and not is_answered and not len(busy) and execution not in self._held:
            events.append(Planned(execution, self._verdict(execution, subjects)))
            is_answered = True
        if is_answered:
            self._open.discard(execution)
        return events

    def _called(self, deployment: int, execution: int) -> np.ndarray:
        """Return instances for which calls of other executions still run."""
        found = [NOBODY]
        arena = self._scheduler.arena
        for batch in self._scheduler.batches.values():
            positions = batch.positions[batch.pending_members()]
            for slot, mine in arena.by_slot(positions):
                if slot.deployment == deployment and slot.execution != execution:
                    found.append(arena.subject[mine])
        return np.unique(np.concatenate(found))

    def _planned(self, execution: int, subjects: np.ndarray, left: GraphSlot | None = None) -> list[Event]:
        """Plan the graphs of the states that subjects enter next. ``left`` is the graph of the state that they left."""
        if not len(subjects):
            return []
        row = self._planning.row(execution)
        loaded = self._deployments.loaded(row.deployment)
        target = str(row.request.parameters.get("target", ""))
        graphs: list[Graph] = []
        if not target:
            there = loaded.states[subjects] == REMOVED
            graphs = [removal_graph(subjects[~there], REMOVED)] if not there.all() else []
        else:
            standing = list(_standing(loaded, subjects, None if left is None else left.name))
            if left is not None:
                graphs, standing = self._late(row, left, target, standing)
            groups, _ = next_groups(standing, target, self._in_force.registry, passed=left is not None)
            for group in groups:
                try:
                    numbers = self._deployments.name_states(row.deployment, group.path.states)
                except ProblemsError:
                    numbers = state_numbers(loaded.state_names)
                if set(group.path.states) <= numbers.keys():
                    graph = self._graph_of(row, group, numbers)
                    if self.tells_nobody and self._has_listeners(graph, group.resource_type):
                        self._held.add(execution)
                    else:
                        graphs.append(graph)
        events: list[Event] = []
        for graph in graphs:
            number = self._planning.number(graph)
            entering = graph.subject[: graph.steps[0].count]
            self._in_flight[number] = execution, entering, 0 if left is None else left.graph_id
            self.begun.append((number, graph, row.deployment))
            events.append(Planned(execution, graph, number))
        return events

    def _late(
        self, row: ExecutionRow, left: GraphSlot, target: str, standing: list[tuple[str, str, np.ndarray]]
    ) -> tuple[list[Graph], list[tuple[str, str, np.ndarray]]]:
        """Plan phases that were loaded while subjects were in their present state (PD53).

        Return (graphs of such phases, subjects without such a graph).
        """
        registry = self._in_force.registry
        had = phases_in(left.steps)
        graphs: list[Graph] = []
        leaving: list[tuple[str, str, np.ndarray]] = []
        for kind, state, subjects in standing:
            path = registry.types.path(kind, target)
            numbers = state_numbers(self._deployments.loaded(row.deployment).state_names)
            late = None
            if path is not None and state in path.states and state in numbers:
                group = ResourceGroup(kind, path, state, subjects.astype(np.int32))
                late = late_graph(group, registry, had, numbers[state], self._stops(row, group))
            if late is None:
                leaving.append((kind, state, subjects))
            else:
                graphs.append(late)
        return graphs, leaving

    def _stops(self, row: ExecutionRow, group: ResourceGroup) -> Stops:
        """Return the breakpoints at which members of a group stop."""
        if not row.request.breakpoints:
            return NOWHERE
        ids = self._deployments.loaded(row.deployment).topology.ids
        return Stops(row.request.breakpoints, [ids[number] for number in group.subjects.tolist()])

    def _graph_of(self, row: ExecutionRow, group: ResourceGroup, numbers: Mapping[str, int]) -> Graph:
        """Return the graph of a group's next state, copied from an earlier graph of equal size if there is one."""
        if row.request.breakpoints:
            return state_graph(group, self._in_force.registry, numbers, self._stops(row, group))
        key = (row.deployment, group.resource_type, group.path.target, group.state)
        registry, made = self._made.get(key, (None, None))
        if made is not None and registry is self._in_force.registry and made.steps[0].count == len(group.subjects):
            return same_for(made, group.subjects)
        graph = state_graph(group, self._in_force.registry, numbers)
        if len(self._made) >= MOST_MADE:
            self._made.clear()
        self._made[key] = self._in_force.registry, graph
        return graph

    def _has_listeners(self, graph: Graph, resource_type: str) -> bool:
        entered = (state_entered(step.phase) for step in graph.steps)
        return any(self._in_force.registry.listeners_of(state, resource_type) for state in entered if state)

    def _verdict(self, execution: int, subjects: np.ndarray) -> Verdict:
        """Return the verdict of an execution; ``subjects`` are those that still follow it."""
        run = self._scheduler.runs[execution]
        row = self._planning.row(execution)
        loaded = self._deployments.loaded(row.deployment)
        target = str(row.request.parameters.get("target", ""))
        slots: Sequence[GraphSlot] = [self._scheduler.arena.slots[graph] for graph in run.graphs]
        if not len(subjects) and len(self._subjects[execution]):
            return Verdict(ExecutionStatus.CANCELED, "all its resources were given another target")
        return verdict_of(target, subjects, loaded, slots, self._scheduler.arena, is_canceled=run.is_canceled)


def _standing(
    loaded: LoadedDeployment, subjects: np.ndarray, passed_from: str | None
) -> Iterator[tuple[str, str, np.ndarray]]:
    """Yield (type, state, subjects) for each type and state among the subjects.

    If ``passed_from`` is given, all subjects are in that state; otherwise their stored states are used.
    """
    keys = loaded.topology.node[subjects].astype(np.int64) * STATES
    if passed_from is None:
        keys += loaded.states[subjects]
    are_alike = bool((keys == keys[0]).all())
    for key in [int(keys[0])] if are_alike else np.unique(keys).tolist():
        node, state = divmod(key, STATES)
        word = state_name(state, loaded.state_names) if passed_from is None else passed_from
        yield loaded.topology.nodes[node].type, word, subjects[keys == key]


def without(numbers: np.ndarray, others: Sequence[np.ndarray]) -> np.ndarray:
    """Return the numbers that are in none of the other arrays."""
    return numbers[~np.isin(numbers, np.concatenate(others))] if others else numbers
