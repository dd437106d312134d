"""A graph under construction: slots of entries in the order of one instance's life cycle, and edges between them.

Each transform takes a draft and returns the next one. Entries are identified by their provisional position: the slots'
entries one slot after the other. ``assembly`` orders them by level.
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
"""Entry that carries states before the first call if that is a relationship operation."""
JOIN = "join"
"""Entry that joins two groups of relationship operations of one instance."""
CLOSING = "closing"
"""Entry that ends an instance's sequence if no own operation does; named after the state that it sets, if any."""
MILESTONE = "milestone"
"""Entry that joins all instances of a node for all instances that wait for them."""

NO_MEMBERS = np.empty(0, np.int32)


@frozen
class StepSlot:
    """Entries of one phase, at most one a participant, or several of a relationship group.

    Columns: ``owner`` int32, ascending: the participants' places; ``subject`` int32; ``policy`` int32 of ``Policies``.
    ``before`` and ``after``: bits of ``GraphDraft.states``, additional states, uint8 or None.
    ``group``: consecutive slots with the same group number (not -1) run side by side. ``beside``: the slot is no link of
    its owner's sequence, but a phase of the state before it; the phases of that state that it waits for.
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
        """The number of entries."""
        return len(self.owner)


@frozen
class StateChange:
    """Participants (``who``, bool by place) reach the state at this point of the sequence."""

    state: InstanceState | int
    who: np.ndarray


@frozen
class GraphDraft:
    """The results of the transforms so far.

    ``present``: uint8 states by place; ``walks``: bool by place, chosen instances that go through the steps of the workflow (other
    chosen ones go through the states of a path). ``items``: slots and states in order; after ``carry_states`` only slots.
    ``head`` and ``tail``: provisional positions of the first and the last entry by place.
    ``chain``: pairs (from, to) in which each entry is the beginning of at most one; ``edges``: any pairs.
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
        """The items that are slots."""
        return tuple(item for item in self.items if isinstance(item, StepSlot))


def absent_slot(draft: GraphDraft, phase: str, owner: np.ndarray, after: np.ndarray | None = None) -> StepSlot:
    """Entries that are never called, one for each owner, on the instances themselves."""
    return StepSlot(
        phase,
        SubjectKind.INSTANCE,
        owner,
        draft.participants.number[owner],
        np.full(len(owner), draft.policies.absent(), np.int32),
        marks=Mark.ABSENT,
        after=after,
    )
