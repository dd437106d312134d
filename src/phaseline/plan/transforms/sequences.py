"""Give every chosen instance entries for a workflow's sequence. Operations without an implementation get no entry."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.execution import breakpoints as execution_breakpoints
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import Mark
from phaseline.plan.graph.call_policies import PolicyOverrides
from phaseline.plan.graph.draft import GraphDraft, StateChange, StepSlot
from phaseline.plan.graph.lifecycle_sequence import Become, Call, Relate, Sequence
from phaseline.plan.transforms import breakpoints as transforms_breakpoints
from phaseline.plan.transforms.relationships import relationship_slots

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.breakpoints import Breakpoint

    Breakpoints = tuple[Breakpoint, ...]

STATES = 256
"""One more than the highest number of an instance state; states of paths are numbered after those of the life cycle."""


def append_sequence(
    draft: GraphDraft, sequence: Sequence, *, tolerant: bool, once: bool, breakpoints: Breakpoints = ()
) -> GraphDraft:
    """Return the draft with slots for all calls and relationship operations of a sequence, and the states between them.

    With ``tolerant``, failures are ignored. With ``once``, nothing is retried. Instances stop at ``breakpoints`` until
    a user clears them.
    """
    items: list[StepSlot | StateChange] = []
    called = np.zeros(len(draft.participants), bool)
    lacking: dict[AbstractSet[InstanceState], np.ndarray] = {}
    for item in sequence:
        if not breakpoints and not _is_anywhere(draft.topology, item):
            continue
        who = lacking.get(item.unless)
        if who is None:
            who = lacking[item.unless] = draft.walks & ~_have(draft, item.unless)
        if isinstance(item, Become):
            items.append(StateChange(item.state, who))
            continue
        stopped = who
        if isinstance(item, Call) and item.only is not None:
            stopped = who & item.only[draft.participants.number]
        elif breakpoints and isinstance(item, Relate) and item.only is not None:
            stopped = who & _begin_some(draft, item.only)
        if breakpoints:
            items += transforms_breakpoints.stops(
                draft, breakpoints, execution_breakpoints.PRE, item.operation, stopped
            )
        if isinstance(item, Call):
            called_here = stopped
            slots = call_slots(draft, item, called_here, tolerant=tolerant, once=once)
        else:
            rows = of_sources(draft, who)
            if item.only is not None:
                rows &= item.only
            slots = relationship_slots(draft, item, rows, tolerant=tolerant, once=once, first=len(items))
        for slot in slots:
            called[slot.owner] = True
        items += slots
        if breakpoints:
            items += transforms_breakpoints.stops(
                draft, breakpoints, execution_breakpoints.POST, item.operation, stopped
            )
    wanted = [isinstance(item, Become) and item.with_calls for item in sequence]
    return altered(draft, items=draft.items + tuple(_without_calls(items, sequence, called) if any(wanted) else items))


def _is_anywhere(topology: Topology, item: Become | Call | Relate) -> bool:
    """Return False if the item is an operation that nothing in the topology implements."""
    if isinstance(item, Call):
        return item.operation in topology.called
    return isinstance(item, Become) or item.operation in topology.called_between


def _without_calls(
    items: list[StepSlot | StateChange], sequence: Sequence, called: np.ndarray
) -> list[StepSlot | StateChange]:
    """Return the items, with the states marked ``with_calls`` limited to participants for which ``called`` is true."""
    with_calls = {item.state for item in sequence if isinstance(item, Become) and item.with_calls}
    return [
        altered(item, who=item.who & called) if isinstance(item, StateChange) and item.state in with_calls else item
        for item in items
    ]


def _begin_some(draft: GraphDraft, rows: np.ndarray) -> np.ndarray:
    """Return the participants that are sources of relationships in ``rows``, bool by participant place.

    ``rows`` is bool, indexed by relationship number.
    """
    is_source = np.zeros(len(draft.topology), bool)
    is_source[draft.topology.source[rows]] = True
    found: np.ndarray = is_source[draft.participants.number]
    return found


def of_sources(draft: GraphDraft, who: np.ndarray) -> np.ndarray:
    """Return the relationships whose source is in ``who`` (bool by participant place), bool by relationship number."""
    place = draft.participants.place[draft.topology.source]
    found: np.ndarray = (place >= 0) & who[place]
    return found


def _have(draft: GraphDraft, states: AbstractSet[InstanceState]) -> np.ndarray:
    """Return the participants that are in one of the states at planning time, bool by participant place."""
    found: np.ndarray = _table(states)[draft.present]
    return found


@cache
def _table(states: AbstractSet[InstanceState]) -> np.ndarray:
    """Return an array indexed by state number that is True for the given states.

    The cache stays small, because the states come from the sequences of workflows.
    """
    table = np.zeros(STATES, bool)
    table[list(states)] = True
    return table


def call_slots(draft: GraphDraft, call: Call, who: np.ndarray, *, tolerant: bool, once: bool) -> list[StepSlot]:
    """Return the slot of an operation for those instances of ``who`` (bool by place) whose node implements it.

    The list is empty if there are no such instances.
    """
    by_node = _node_policies(draft, call, once=once)
    if by_node is None:
        return []
    policy = by_node[draft.participants.node]
    owner = (who & (policy >= 0)).nonzero()[0].astype(np.int32)
    if not len(owner):
        return []
    return [
        StepSlot(
            call.operation,
            SubjectKind.INSTANCE,
            owner,
            draft.participants.number[owner],
            policy[owner],
            marks=Mark.TOLERANT if tolerant else 0,
        )
    ]


def _node_policies(draft: GraphDraft, call: Call, *, once: bool) -> np.ndarray | None:
    """Return the policy number of the operation for each node, -1 without an implementation.

    Return None if no node implements the operation.
    """
    manner = PolicyOverrides(until_true=call.until_true, once=once, enter=call.enter, leave=call.leave)
    numbers = [-1] * len(draft.topology.nodes)
    name, hosts_only, number_of = call.operation, call.hosts_only, draft.policies.numbering(manner)
    for number, node in enumerate(draft.topology.nodes):
        operation = node.operations.get(name)
        if operation is not None and operation.form != "none" and (node.is_host or not hosts_only):
            numbers[number] = number_of(operation)
    return np.array(numbers, np.int32) if max(numbers, default=-1) >= 0 else None
