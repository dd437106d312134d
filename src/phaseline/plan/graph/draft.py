"""A graph under construction: slots of entries in the order of one instance's life cycle, and edges between them.

Each transform takes a draft and returns the next one. Entries are identified by their provisional position: first all
entries of the first slot, then those of the second, and so on. ``assembly`` orders them by level.
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
    """Entries of one phase: at most one for each participant, or several for relationships of one group.

    Columns: ``owner``: the places of the participants, int32, ascending; ``subject`` int32; ``policy``: numbers of
    ``Policies``, int32. ``before`` and ``after``: additional states as bits of ``GraphDraft.states``, uint8 or None.
    ``group``: consecutive slots with the same group number (not -1) run side by side. ``beside``: None for a link of
    the owner's sequence. Otherwise the slot is a phase of the state before it, and ``beside`` names the phases of
    that state for which it waits.
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
    """A point of the sequence at which some participants (``who``, bool by place) reach a state."""

    state: InstanceState | int
    who: np.ndarray


@frozen
class GraphDraft:
    """The results of the transforms applied until now.

    ``present``: the states at the beginning, uint8 by place. ``walks``: the chosen instances that go through the
    steps of the workflow, bool by place; other chosen instances go through the states of a path. ``items``: slots and
    states in order; after ``carry_states`` only slots. ``head`` and ``tail``: provisional positions of the first and
    the last entry, by place. ``chain``: pairs (from, to), where no entry is ``from`` in two pairs; ``edges``: any
    pairs (from, to).
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
    """A slot with one entry for each owner, which is never called; its subject is the owner's instance."""
    return StepSlot(
        phase,
        SubjectKind.INSTANCE,
        owner,
        draft.participants.number[owner],
        np.full(len(owner), draft.policies.absent(), np.int32),
        marks=Mark.ABSENT,
        after=after,
    )
