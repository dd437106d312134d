"""A graph under construction: slots of entries in the order of one instance's life cycle, and edges between entries.

Each transform takes a draft and returns the next one. A draft identifies entries by provisional positions: first all
entries of the first slot, then those of the second slot, and so on. ``assembly`` gives entries their final order.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import Mark

if TYPE_CHECKING:
    from phaseline.model.deployment.instance_states import InstanceState
    from phaseline.model.deployment.topology import Topology
    from phaseline.plan.graph.call_policies import Policies
    from phaseline.plan.graph.participants import Participants

OPENING = "opening"
"""Name of an entry that sets states before the first call, if the first call is a relationship operation."""
JOIN = "join"
"""Name of an entry that joins two groups of relationship operations of one instance: the second waits for it."""
CLOSING = "closing"
"""Name of the entry that ends an instance's sequence if no operation of the instance does.

An entry that also sets a life-cycle state is named after the state instead.
"""
MILESTONE = "milestone"
"""Name of an entry that waits for all instances of a node, so that dependents of the node wait only for this entry."""

NO_MEMBERS = np.empty(0, np.int32)


@frozen
class StepSlot:
    """Entries of one phase: at most one for each participant, or several for the relationships of one group.

    ``owner``, ``subject`` and ``policy`` are int32 with a value for each entry: the place of its participant
    (ascending), its subject, and a number from ``Policies.add``. ``before`` and ``after`` are the states set before and
    after the entry, as bits that index ``GraphDraft.states``, uint8; None for no states. Consecutive slots with an
    equal ``group`` number other than -1 run side by side. ``beside`` is None for a slot in the owner's sequence. For a
    phase, which runs beside the operations of a state, it names the phases and breakpoints of the state for which the
    phase waits.
    """

    phase: str
    kind: SubjectKind
    owner: np.ndarray
    subject: np.ndarray
    policy: np.ndarray
    marks: int = 0
    before: np.ndarray | None = None
    after: np.ndarray | None = None
    group: int = -1
    beside: tuple[str, ...] | None = None

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.owner)


@frozen
class StateChange:
    """A point of the sequence at which some participants reach a state.

    ``who`` marks these participants, bool indexed by place.
    """

    state: InstanceState | int
    who: np.ndarray


@frozen
class GraphDraft:
    """The graph under construction: the results of all transforms applied so far.

    Arrays "by place" are indexed by a participant's place in ``participants``. ``present`` is the state of each
    participant before the graph, uint8 by place. ``walks`` marks the chosen instances that run the workflow's sequence,
    bool by place; other chosen instances go through the states of a path. ``items`` are slots and state changes in
    order; after ``carry_states`` only slots. ``head`` and ``tail`` are the provisional positions of each participant's
    first and last entry, by place. ``chain`` and ``edges`` hold the edges, as pairs of arrays (from, to) of provisional
    positions. Each entry is ``from`` at most once in ``chain``; all other edges are in ``edges``.
    """

    topology: Topology
    participants: Participants
    present: np.ndarray
    walks: np.ndarray
    policies: Policies
    items: tuple[StepSlot | StateChange, ...] = ()
    states: tuple[int, ...] = ()
    head: np.ndarray = field(default_factory=lambda: NO_MEMBERS)
    tail: np.ndarray = field(default_factory=lambda: NO_MEMBERS)
    chain: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    edges: tuple[tuple[np.ndarray, np.ndarray], ...] = ()

    @property
    def slots(self) -> tuple[StepSlot, ...]:
        """The slots among the items."""
        return tuple(item for item in self.items if isinstance(item, StepSlot))


def absent_slot(draft: GraphDraft, phase: str, owner: np.ndarray, after: np.ndarray | None = None) -> StepSlot:
    """Return a slot with one entry for each owner. These entries are never called.

    The subject of an entry is the owner's instance.
    """
    return StepSlot(
        phase,
        SubjectKind.INSTANCE,
        owner,
        draft.participants.number[owner],
        np.full(len(owner), draft.policies.absent(), np.int32),
        marks=Mark.ABSENT,
        after=after,
    )
