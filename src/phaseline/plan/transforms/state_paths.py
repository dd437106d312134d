"""Give chosen instances of resources the states of their path, with the operations and phases of each state (ADR 0014).

A state becomes these steps: ``state:NAME`` enters it, then the operations run in their order and the phases beside
them, and the gate ``exit:NAME`` waits for all of these. If a phase of the state may become applicable late, the engine
checks for that before the gate passes. Breakpoints of operations are in the chain of operations, those of phases beside
the phases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import some
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.execution.breakpoints import POST, PRE
from phaseline.model.execution.breakpoints import PREFIX as STOP
from phaseline.model.graph.graph import EXIT_PREFIX, LANE_PREFIX, STATE_PREFIX, LaneSpec, Policy, SubjectKind
from phaseline.model.graph.status import Mark
from phaseline.plan.graph.draft import GraphDraft, StateChange, StepSlot
from phaseline.plan.graph.lifecycle_sequence import Call
from phaseline.plan.states.phase_breakpoints import stopping, with_stops
from phaseline.plan.states.state_graph import ENTERS, mark_of, policy_beside
from phaseline.plan.states.state_operations import path_to, stays
from phaseline.plan.transforms.breakpoints import stops
from phaseline.plan.transforms.relationships import relationship_slots
from phaseline.plan.transforms.sequences import STATES, call_slots, of_sources

if TYPE_CHECKING:
    from collections.abc import Iterable

    from phaseline.model.blueprint.state_paths import StatePath
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.execution.execution import StatePathIndex
    from phaseline.plan.graph.lifecycle_sequence import Sequence
    from phaseline.plan.states.state_graph import Beside
    from phaseline.plan.states.state_operations import StateVisit

Pairs = tuple[np.ndarray, np.ndarray]
NEVER_INSTALLED = (InstanceState.UNINITIALIZED, InstanceState.DELETED)


@frozen
class StatePathOptions:
    """Options for the slots of a path.

    With ``downwards``, the path is one of an uninstall. With ``tolerant``, failures are ignored. With ``once``, nothing
    is retried. Instances stop at ``breakpoints``.
    """

    downwards: bool = False
    tolerant: bool = False
    once: bool = False
    breakpoints: tuple[Breakpoint, ...] = ()


def append_paths(
    draft: GraphDraft, sequence: Sequence, known: StatePathIndex | None, manner: StatePathOptions
) -> GraphDraft:
    """Return the draft with slots for chosen instances on state paths.

    ``sequence`` is what the workflow does with instances that are not on a path; its operations are called in the
    states of the path.
    """
    away = draft.participants.is_chosen & ~draft.walks
    if not some(away):
        return draft
    assert known is not None, (
        "the caller passes the paths of nodes that have some: without them no instance would be installed"
    )
    topology = draft.topology
    numbers = draft.participants.node
    items = list(draft.items)
    for kind in dict.fromkeys(topology.nodes[number].type for number in np.unique(numbers[away]).tolist()):
        path = path_to(topology.blueprint, kind, known, downwards=manner.downwards)
        assert path is not None, "a type without a path is refused before anything is planned (path_problems)"
        of_kind = np.array([node.type == kind for node in topology.nodes], bool)
        laying = _Laying(draft, known, path, manner)
        begins = laying.begins()
        who = away & of_kind[numbers]
        for place, stay in enumerate(stays(kind, path, sequence, known.registry)):
            items += laying.stay(stay, who & (begins <= place), _free_group(items))
        items += laying.enters(path.target, who & (begins < len(path.states)))
    return altered(draft, items=tuple(items))


@frozen
class _Laying:
    """Builder of the slots for the nodes of one type, which all have the same path."""

    draft: GraphDraft
    known: StatePathIndex
    path: StatePath
    manner: StatePathOptions

    def begins(self) -> np.ndarray:
        """Return, by participant place, the index in the path of the first state that each instance enters.

        This is the instance's present state, which it enters again (PD30). An instance that enters no state gets the
        number of states.
        """
        path, numbers = self.path, self.known.numbers
        table = np.zeros(STATES, np.int32)
        for place, state in enumerate(path.states):
            table[numbers[state]] = place if state != path.target else len(path.states)
        if self.manner.downwards:
            table[list(NEVER_INSTALLED)] = len(path.states)
        found: np.ndarray = table[self.draft.present]
        return found

    def stay(self, stay: StateVisit, who: np.ndarray, group: int) -> list[StepSlot]:
        """Return all slots of one state, for the participants ``who`` (bool by place).

        Relationship groups are numbered from ``group`` on.
        """
        if not some(who):
            return []
        found = self.enters(stay.state, who) if stay.state else []
        tolerant, once, breaks = self.manner.tolerant, self.manner.once, self._breakpoints(who)
        for item in stay.operations:
            found += stops(self.draft, breaks, PRE, item.operation, who)
            if isinstance(item, Call):
                found += call_slots(self.draft, item, who, tolerant=tolerant, once=once)
            else:
                rows = of_sources(self.draft, who)
                first = max(group, _free_group(found))
                found += relationship_slots(self.draft, item, rows, tolerant=tolerant, once=once, first=first)
            found += stops(self.draft, breaks, POST, item.operation, who)
        beside = [(one, self._concerned(one, who)) for one in with_stops(stay.phases, breaks)]
        found += [self._phase(one, concerned) for one, concerned in beside]
        if stay.phases:
            may_apply_late = any(mark_of(phase.phase) for phase in stay.phases)
            marks = Mark.ABSENT | (Mark.CONDITIONAL if may_apply_late else 0)
            found.append(self._slot(EXIT_PREFIX + stay.state, Policy(LaneSpec(EXIT_PREFIX + stay.state)), who, marks))
        return found

    def enters(self, state: str, who: np.ndarray) -> list[StepSlot]:
        """Return the slot with which the participants ``who`` enter a state; no slot if ``who`` is empty."""
        policy = Policy(LaneSpec(STATE_PREFIX + state), leave=(self.known.numbers[state],), target=self.path.target)
        return [self._slot(STATE_PREFIX + state, policy, who, ENTERS)] if some(who) else []

    def _breakpoints(self, who: np.ndarray) -> tuple[Breakpoint, ...]:
        """Return the breakpoints that stop at least one instance of ``who``."""
        nodes = self.draft.topology.nodes
        numbers = np.unique(self.draft.participants.node[who]).tolist() if self.manner.breakpoints else ()
        return tuple(
            one for one in self.manner.breakpoints if any(one.concerns(nodes[number].name) for number in numbers)
        )

    def _concerned(self, one: Beside, who: np.ndarray) -> np.ndarray:
        """Return the instances of ``who`` that get an entry.

        A phase has an entry for all of them, a breakpoint only for those that stop at it.
        """
        if not one.is_stop:
            return who
        names = [node.name for node in self.draft.topology.nodes]
        by_node = np.array(stopping(one.name, self.manner.breakpoints, names), bool)
        found: np.ndarray = who & by_node[self.draft.participants.node]
        return found

    def _phase(self, one: Beside, who: np.ndarray) -> StepSlot:
        policy = altered(policy_beside(one), target=self.path.target)
        policy = altered(policy, max_retries=0) if self.manner.once else policy
        marks = mark_of(one.phase) | (Mark.TOLERANT if self.manner.tolerant and not one.is_stop else 0)
        return altered(self._slot(one.step, policy, who, marks), beside=one.needs)

    def _slot(self, name: str, policy: Policy, who: np.ndarray, marks: int) -> StepSlot:
        owner = who.nonzero()[0].astype(np.int32)
        number = self.draft.policies.add(policy)
        subject = self.draft.participants.number[owner]
        return StepSlot(name, SubjectKind.INSTANCE, owner, subject, np.full(len(owner), number, np.int32), marks=marks)


def _free_group(items: Iterable[StepSlot | StateChange]) -> int:
    """Return the first number that is free for relationship groups."""
    return 1 + max((item.group for item in items if isinstance(item, StepSlot)), default=0)


def tie_phases(draft: GraphDraft) -> GraphDraft:
    """Return the draft with edges from the entry of a state to its phases, between phases, and from phases to the gate.

    Operations get their edges from ``chain_entries``.
    """
    if all(slot.beside is None for slot in draft.slots):
        return draft
    edges: list[Pairs] = []
    ways: list[np.ndarray] = []
    here: dict[str, list[np.ndarray]] = {}
    first = 0
    for slot in draft.slots:
        at = np.full(len(draft.participants), -1, np.int32)
        at[slot.owner] = np.arange(first, first + len(slot), dtype=np.int32)
        first += len(slot)
        if slot.phase.startswith(STATE_PREFIX):
            ways, here = [at], {}
        elif slot.beside is not None:
            needed = [need for name in slot.beside for need in here[name]] or ways
            edges += [_between(need, at) for need in needed]
            # an instance that does not stop at a breakpoint waits for the entries before it
            passing = [np.where(at < 0, need, -1) for need in needed] if slot.phase.startswith(STOP) else []
            here[slot.phase.removeprefix(LANE_PREFIX)] = [at, *passing]
        elif slot.phase.startswith(EXIT_PREFIX):
            edges += [_between(phase[0], at) for phase in here.values()]
    return altered(draft, edges=(*draft.edges, *edges))


def _between(need: np.ndarray, at: np.ndarray) -> Pairs:
    """Return edges from ``need`` to ``at`` for each instance with an entry in both arrays.

    Both hold entry positions by participant place, -1 for no entry.
    """
    both = (need >= 0) & (at >= 0)
    return need[both], at[both]
