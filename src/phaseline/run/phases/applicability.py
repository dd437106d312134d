"""Whether a phase applies to a resource: evaluated when its entry is released, and when the resource changes (6.3).

The conditions are the provider and the constraint of the phase. For an unusable phase there is no answer; the
scheduler's question is kept until the phase is usable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.protocol.phase_view import target_of
from phaseline.compat.cyclecloud.resource import stored_of
from phaseline.engine.reopen import APPLIES, CANNOT_BE_ASKED, DOES_NOT_APPLY
from phaseline.model.execution.breakpoints import POST, stop_beside
from phaseline.model.execution.events import Evaluated
from phaseline.model.graph.graph import phase_of
from phaseline.model.graph.status import EntryStatus, Mark
from phaseline.model.phases.phase_data import PHASE_DATA
from phaseline.model.rows.rows import EntryRemark
from phaseline.plan.states.state_entries import stays_of
from phaseline.plan.states.state_graph import unknown_needs
from phaseline.records.expression import Expression
from phaseline.records.record import Record
from phaseline.records.values import ErrorValue

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.deployments.lane_keys import LaneKeys
    from phaseline.engine.arena_layout import GraphSlot
    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.events import Event
    from phaseline.model.graph.graph import Step
    from phaseline.model.phases.definitions import PhaseDefinition
    from phaseline.plan.states.state_entries import StaySteps
    from phaseline.ports.clock import Clock
    from phaseline.run.phases.active_phases import ActivePhases

PASSED, WAITING = int(EntryStatus.PASSED), int(EntryStatus.WAITING)
COMPLETED = int(EntryStatus.COMPLETED)
NOT_BEGUN = (int(EntryStatus.BLOCKED), WAITING, PASSED)
"""Statuses of a phase that has not begun, so that a breakpoint before it still stops the resource."""
HELD = (int(EntryStatus.BLOCKED), int(EntryStatus.SKIPPED))
"""Statuses of a state's exit while its subject has not left the state."""
CONDITIONAL, EXIT = int(Mark.CONDITIONAL), int(Mark.EXIT)
ENGINE_NAMES = frozenset({"name", "clustername", "state", "adtype", "targetstate"})
"""Names, in lower case, of attributes that the engine provides for constraints."""


class Conditions:
    """Evaluates conditions of phases. ``remarks`` has the reasons why some conditions could not be evaluated.

    The next turn stores these remarks.
    """

    def __init__(
        self, scheduler: Scheduler, deployments: DeploymentCache, in_force: ActivePhases, clock: Clock
    ) -> None:
        self._scheduler = scheduler
        self._deployments = deployments
        self._in_force = in_force
        self._clock = clock
        self._kept: list[tuple[int, np.ndarray]] = []
        self.remarks: list[EntryRemark] = []
        self.following: Callable[[GraphSlot, np.ndarray], np.ndarray] = lambda _, subjects: subjects
        """Function (graph, subjects) that returns those subjects that no newer execution to a target has taken over."""

    # -- asked --------------------------------------------------------------------------------------------------

    def asked(self, graph: int, positions: np.ndarray) -> list[Event]:
        """Return events with the answers to the conditions of these entries; at an exit, whether subjects may pass.

        Entries whose phase is unusable get no answer now; they are kept until plugins are reloaded.
        """
        slot = self._scheduler.arena.slots.get(graph)
        if slot is None:
            return []  # what else came in the same turn took the graph away
        told: list[Event] = []
        stays = stays_of(slot.steps)
        for step, mine in _by_step(slot.steps, positions):
            stay = next((stay for stay in stays if stay.has(step)), None)
            if stay is not None and step is stay.exit:
                told += self._gate(slot, stay, mine)
                continue
            applies = np.full(len(mine), APPLIES, np.int32)
            values = applies if stay is None else self._judged(slot, stay, step, mine)
            if values is None:
                self._kept.append((graph, mine))
            else:
                told.append(Evaluated(graph, mine, "applies", values))
        return told

    def _gate(self, slot: GraphSlot, stay: StaySteps, positions: np.ndarray) -> list[Event]:
        """Let subjects pass the exit of a state unless a further phase applies to them now (ADR 0014).

        The events let those further phases be called for the other subjects, which stay in the state.
        """
        subjects = self._scheduler.arena.subject[positions + slot.base]
        news, leaving = self.before_leaving(slot, subjects, stay)
        passing = positions[np.isin(subjects, leaving)]
        let_through = Evaluated(slot.graph_id, passing, "applies", np.full(len(passing), DOES_NOT_APPLY, np.int32))
        return [*news, let_through] if len(passing) else news

    def forget_graphs(self, graphs: Collection[int]) -> None:
        """Drop the scheduler's questions that ``asked`` has kept about entries of these graphs, which were dropped."""
        if self._kept:
            self._kept = [kept for kept in self._kept if kept[0] not in graphs]

    def renewed(self) -> list[Event]:
        """Answer kept questions after plugins were reloaded."""
        kept, self._kept = self._kept, []
        return [event for graph, positions in kept for event in self.asked(graph, positions)]

    def keyed(self, graph: int, positions: np.ndarray, expression: str, keys: LaneKeys) -> list[Event]:
        """Return events with the lane keys of entries of phases: numbers from ``keys`` for the expression's values."""
        slot = self._scheduler.arena.slots.get(graph)
        if slot is None:
            return []
        loaded = self._deployments.loaded(slot.deployment)
        asked = Expression(expression)
        names = asked.reaches()
        subjects = self._scheduler.arena.subject[positions + slot.base].tolist()
        target = self._target(slot, positions)
        records = [self._record(target, loaded, subject, names) for subject in subjects]
        found = asked.evaluate_all(records, now=self._clock.now() / 1000)
        numbers = [keys.number(expression, repr(value)) for value in found]
        return [Evaluated(graph, positions, "key", np.array(numbers, np.int32))]

    # -- not asked ----------------------------------------------------------------------------------------------

    def changed(self, subjects: Mapping[int, set[int]]) -> list[Event]:
        """Evaluate conditions again for entries not yet called, after {deployment: instances} have changed."""
        told: list[Event] = []
        for slot in self._scheduler.arena.slots.values():
            numbers = subjects.get(slot.deployment)
            if numbers and is_of_state(slot):
                told += self._again(slot, np.array(sorted(numbers), np.int64), (PASSED, WAITING))
        return told

    def before_leaving(
        self, slot: GraphSlot, subjects: np.ndarray, left: StaySteps | None = None
    ) -> tuple[list[Event], np.ndarray]:
        """Check a last time whether passed phases apply to subjects that are about to leave a state (6.2).

        Return (events for phases that have begun to apply, subjects that leave). ``left`` has the steps of the state
        that they leave; None means the last state of the graph.
        """
        told = self._again(slot, np.sort(subjects), (PASSED,), left=left or stays_of(slot.steps)[-1])
        staying: list[np.ndarray] = []
        news: list[Event] = []
        for event in told:
            assert isinstance(event, Evaluated)
            applies = event.values != DOES_NOT_APPLY
            if applies.any():
                news.append(event)
                staying.append(self._scheduler.arena.subject[event.positions[applies] + slot.base])
        if not staying:
            return [], subjects
        return news, subjects[~np.isin(subjects, np.concatenate(staying))]

    def _again(
        self, slot: GraphSlot, subjects: np.ndarray, statuses: tuple[int, ...], *, left: StaySteps | None = None
    ) -> list[Event]:
        """Evaluate conditions again for those entries of these subjects that have one of the statuses.

        ``left`` restricts the evaluation to one state. Without it, subjects are left out that have passed the exit of
        their state or follow a newer execution.
        """
        told: list[Event] = []
        for stay in [left] if left is not None else stays_of(slot.steps):
            here = subjects if left is not None else self._still_there(slot, stay, subjects)
            for step in stay.phases if len(here) else ():
                told += self._asked_again(slot, stay, step, here, statuses)
        return told

    def _asked_again(
        self, slot: GraphSlot, stay: StaySteps, step: Step, subjects: np.ndarray, statuses: tuple[int, ...]
    ) -> list[Event]:
        arena = self._scheduler.arena
        low = slot.base + step.first
        if not (arena.marks[low : low + step.count] & CONDITIONAL).any():
            return []
        positions = positions_of(slot, step, arena.subject, subjects)
        there = positions + slot.base
        chosen = ((arena.marks[there] & CONDITIONAL) != 0) & np.isin(arena.status[there], statuses)
        positions = positions[chosen]
        values = self._judged(slot, stay, step, positions) if len(positions) else None
        return [] if values is None else [Evaluated(slot.graph_id, positions.astype(np.int32), "applies", values)]

    def _still_there(self, slot: GraphSlot, stay: StaySteps, subjects: np.ndarray) -> np.ndarray:
        """Return the subjects that have not left the state; in a graph of ``reach``, without those that a newer
        execution has taken over.
        """
        arena = self._scheduler.arena
        exits = positions_of(slot, stay.exit, arena.subject, subjects) + slot.base
        here = arena.subject[exits]
        held = np.isin(arena.status[exits], HELD)
        is_of_path = len(exits) > 0 and bool(arena.marks[exits[0]] & EXIT)
        return self.following(slot, here[held]) if is_of_path else np.sort(here[held])

    # -- answers ------------------------------------------------------------------------------------------------

    def _judged(self, slot: GraphSlot, stay: StaySteps, step: Step, positions: np.ndarray) -> np.ndarray | None:
        """Return whether a step's phase applies to the subjects at these positions (int32); None if it is unusable."""
        stop = stop_beside(step.phase)
        if stop is not None:
            return self._stops(slot, stay, positions, *stop)
        phase = self._in_force.find(phase_of(step.phase) or "")
        if phase is None:
            is_over = self._is_forgotten(slot, stay, step)
            return np.full(len(positions), DOES_NOT_APPLY, np.int32) if is_over else None
        loaded = self._deployments.loaded(slot.deployment)
        subjects = self._scheduler.arena.subject[positions + slot.base].tolist()
        topology = loaded.topology
        kind = topology.nodes[topology.node[subjects[0]]].type if subjects else ""
        types = self._in_force.registry_of(loaded.blueprint).types
        if stay.state not in phase.states or not any(types.is_kind_of(kind, one) for one in phase.resource_types):
            return np.full(len(subjects), DOES_NOT_APPLY, np.int32)
        values = np.full(len(subjects), APPLIES, np.int32)
        if phase.providers and types.uses_provider(kind):
            for place, subject in enumerate(subjects):
                if not phase.takes_provider(provider_of(loaded.attributes_of(subject))):
                    values[place] = DOES_NOT_APPLY
        if phase.constraint:
            self._constrain(slot, phase, loaded, positions, subjects, values)
        return values

    def _is_forgotten(self, slot: GraphSlot, stay: StaySteps, step: Step) -> bool:
        """Return True if the step is for an undefined phase that no other phase needs any more.

        That happens when a wrong dependency was corrected. If a phase that needed it was removed, it is still awaited.
        """
        name = phase_of(step.phase) or ""
        registry = self._in_force.registry_of(self._deployments.loaded(slot.deployment).blueprint)
        if registry.get(name) is not None or not step.count:
            return False
        arena = self._scheduler.arena
        starts, counts = arena.edges_of(np.array([step.first + slot.base]))
        behind = arena.idx[int(starts[0]) : int(starts[0] + counts[0])] - slot.base
        waiting = [
            phase_of(other.phase) or ""
            for other in stay.phases
            if ((behind >= other.first) & (behind < other.first + other.count)).any()
        ]
        known = [registry.get(other) for other in waiting]
        needed = {
            need.lower() for one in known if one is not None for need in unknown_needs(registry, one, stay.state, set())
        }
        return bool(known) and None not in known and name.lower() not in needed

    def _stops(
        self, slot: GraphSlot, stay: StaySteps, positions: np.ndarray, when: str, name: str
    ) -> np.ndarray | None:
        """Return whether a breakpoint, whose entries have these positions, stops each subject; None: not known (H46).

        ``when`` "post": it stops subjects that have completed the phase ``name``. Otherwise it stops subjects to which
        the phase applies and for which it has not begun; the result is None if the phase cannot be used.
        """
        step = stay.phase(name)
        assert step is not None, "a breakpoint is in the same graph as its phase"
        arena = self._scheduler.arena
        subjects = arena.subject[positions + slot.base]
        own = arena.subject[slot.base + step.first : slot.base + step.first + step.count]
        order = np.argsort(own, kind="stable")
        there = step.first + order[np.searchsorted(own, subjects, sorter=order)]
        status = arena.status[there + slot.base]
        if when == POST:
            behind: np.ndarray = (status == COMPLETED).astype(np.int32)
            return behind
        before = len(self.remarks)
        judged = self._judged(slot, stay, step, there)
        del self.remarks[before:]  # the remark why a constraint cannot be evaluated belongs to the phase only
        return None if judged is None else ((judged == APPLIES) & np.isin(status, NOT_BEGUN)).astype(np.int32)

    def _constrain(
        self,
        slot: GraphSlot,
        phase: PhaseDefinition,
        loaded: LoadedDeployment,
        positions: np.ndarray,
        subjects: Sequence[int],
        values: np.ndarray,
    ) -> None:
        """Evaluate the constraint for subjects to which the phase applies so far, and correct ``values``."""
        left = np.flatnonzero(values == APPLIES).tolist()
        target = self._target(slot, positions)
        constraint = Expression(phase.constraint)
        names = constraint.reaches()
        records = [self._record(target, loaded, subjects[place], names) for place in left]
        found = constraint.judge_all(records, now=self._clock.now() / 1000)
        for place, answer in zip(left, found, strict=True):
            if isinstance(answer, ErrorValue):
                values[place] = CANNOT_BE_ASKED
                text = f"ResourceConstraint '{phase.constraint}' is an error: {answer.reason}"
                self.remarks.append(EntryRemark(slot.graph_id, int(positions[place]), text))
            elif not answer:
                values[place] = DOES_NOT_APPLY

    def _target(self, slot: GraphSlot, positions: np.ndarray) -> str:
        """Return the target of the subjects at these positions of one step, from their graph or their execution."""
        first = slot.policies[int(self._scheduler.arena.policy[positions[0] + slot.base]) - slot.policy_base]
        return target_of(first, self._deployments.execution(slot.execution, slot.deployment))

    def _record(self, target: str, loaded: LoadedDeployment, subject: int, names: frozenset[str]) -> Record:
        """Return a resource's attributes that a constraint reads; all attributes if one of them is an expression."""
        record = record_of(loaded.attributes_of(subject), names)
        wanted = names & ENGINE_NAMES
        if wanted:
            topology = loaded.topology
            known: dict[str, Value] = {
                "Name": topology.ids[subject],
                "ClusterName": loaded.view.id,
                "State": loaded.state_of(subject),
                "AdType": topology.nodes[topology.node[subject]].type,
                "TargetState": target or None,
            }
            for name, value in known.items():
                if name.lower() in wanted and value is not None:
                    record.put(name, stored_of(value))
        return record


def record_of(document: Mapping[str, Value], names: frozenset[str]) -> Record:
    """Return a record of the document's attributes with these names (lower case); all if one of them is an expression.

    >>> record_of({"Size": 3, "Zone": "a"}, frozenset({"size"}))
    Record({'Size': 3})
    """
    chosen = [(name, value) for name, value in document.items() if name.lower() in names]
    if any(isinstance(value, dict) and "$expr" in value for _, value in chosen):
        chosen = [(name, value) for name, value in document.items() if name != PHASE_DATA]
    return Record((name, stored_of(value)) for name, value in chosen)


def provider_of(document: Mapping[str, Value]) -> str | None:
    """Return the provider of a resource, or None. The case of the attribute's name does not matter.

    >>> provider_of({"provider": "aws"}), provider_of({})
    ('aws', None)
    """
    found = document.get("Provider")
    if found is None:
        found = next((value for name, value in document.items() if name.lower() == "provider"), None)
    return found if isinstance(found, str) else None


def is_of_state(slot: GraphSlot) -> bool:
    """Return True if the graph has phases of states."""
    return any(phase_of(step.phase) is not None for step in slot.steps)


def positions_of(slot: GraphSlot, step: Step, column: np.ndarray, subjects: np.ndarray) -> np.ndarray:
    """Return the graph positions of those subjects (ascending) that the step contains.

    In graphs of ``reach`` the step's own subjects are ascending too; an install of several nodes may differ.
    """
    own = column[slot.base + step.first : slot.base + step.first + step.count]
    if not len(own):
        return np.empty(0, np.int64)
    if (own[1:] < own[:-1]).any():
        return np.isin(own, subjects).nonzero()[0] + step.first
    places = np.searchsorted(own, subjects)
    found: np.ndarray = places[own[np.minimum(places, len(own) - 1)] == subjects] + step.first
    return found.astype(np.int64)


def _by_step(steps: Sequence[Step], positions: np.ndarray) -> Iterable[tuple[Step, np.ndarray]]:
    """Yield each step that contains some of the positions, with those positions."""
    firsts = np.array([step.first for step in steps], np.int64)
    numbers = np.searchsorted(firsts, positions, side="right") - 1
    for number in np.unique(numbers).tolist():
        yield steps[number], positions[numbers == number]
