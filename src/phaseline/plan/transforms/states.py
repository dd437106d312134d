"""Attach the states between operations to neighbouring entries, and add entries where no neighbour can set a state.

A state is set when the operation before it is completed or has a tolerated failure. If there is no such operation, it
is set when the operation after it begins. Only an operation of the instance itself can set the instance's state.
"""

from __future__ import annotations

import numpy as np

from phaseline.lang.arrays import some
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.resources.state_graph_names import WORDS
from phaseline.plan.graph.draft import CLOSING, JOIN, OPENING, GraphDraft, StateChange, StepSlot, absent_slot

NOBODY = -1


def carry_states(draft: GraphDraft) -> GraphDraft:
    """Return the draft with slots only: each state is attached to an entry.

    Each participant gets at least one entry, and a single entry at each end of its sequence. If two relationship groups
    with several entries each follow one another, an entry is added between them that joins them.
    """
    walk = _Walk(draft)
    for item in draft.items:
        if isinstance(item, StateChange):
            walk.reach(item)
        elif item.beside is not None:
            walk.lay(item)
        elif item.kind is SubjectKind.INSTANCE:
            walk.call(item)
        else:
            walk.relate(item)
    walk.close()
    slots = [
        slot if after is None else altered(slot, after=after[slot.owner])
        for slot, after in zip(walk.slots, walk.after, strict=True)
    ]
    return altered(draft, items=tuple(slots), states=tuple(walk.states))


class _Walk:
    """The progress of each participant while the items are handled in order. Arrays are indexed by participant place.

    ``pending`` has bits for states that are reached but attached to no entry yet. ``carrier`` is the slot number of the
    last entry if it is an operation of the instance itself, otherwise -1. ``width`` is the number of last entries,
    which run side by side; 0 before the first entry.
    """

    def __init__(self, draft: GraphDraft) -> None:
        size = len(draft.participants)
        self.draft = draft
        self.states: list[int] = []
        self.slots: list[StepSlot] = []
        self.after: list[np.ndarray | None] = []
        self.pending = np.zeros(size, np.uint8)
        self.carrier = np.full(size, NOBODY, np.int32)
        self.width = np.zeros(size, np.int32)
        self.ends_in_group = np.zeros(size, bool)
        self.group = NOBODY

    def reach(self, change: StateChange) -> None:
        """Record that the participants in ``change`` reach a state.

        The state is attached to a participant's last entry if that is an operation of the instance; otherwise it is
        pending.
        """
        bit = np.uint8(1 << len(self.states))
        self.states.append(int(change.state))
        carried = change.who & (self.carrier != NOBODY)
        for number in np.bincount(self.carrier[carried]).nonzero()[0].tolist():
            after = self.after[number]
            if after is None:
                after = self.after[number] = np.zeros(len(self.pending), np.uint8)
            after[carried & (self.carrier == number)] |= bit
        self.pending[change.who & ~carried] |= bit

    def call(self, slot: StepSlot) -> None:
        """Add a slot of operations of instances, which also set the pending states of their instances."""
        before = self.pending[slot.owner]
        self.lay(altered(slot, before=before) if some(before != 0) else slot)
        self.pending[slot.owner] = 0
        self.carrier[slot.owner] = len(self.slots) - 1
        self.width[slot.owner] = 1
        self.ends_in_group[slot.owner] = False

    def relate(self, slot: StepSlot) -> None:
        """Add one side of a relationship group; the slots of one group must be added one after the other."""
        if slot.group != self.group:
            members = self._members_of_group(slot)
            self._before_group(members)
            self.width[members > 0] = members[members > 0]
            self.ends_in_group[members > 0] = True
            self.carrier[members > 0] = NOBODY
            self.group = slot.group
        self.lay(slot)

    def close(self) -> None:
        """Add a last entry for participants that need one.

        These are participants without an entry, those that end in a relationship group, and those with a state that no
        entry sets.
        """
        phase = WORDS.get(self.states[-1], CLOSING) if self.states else CLOSING
        self._absent(phase, (self.pending > 0) | (self.width == 0) | self.ends_in_group)

    def _members_of_group(self, slot: StepSlot) -> np.ndarray:
        """Return the number of entries of each participant in the slot's group."""
        alike = [item for item in self.draft.slots if item.group == slot.group]
        return np.bincount(np.concatenate([item.owner for item in alike]), minlength=len(self.pending))

    def _before_group(self, members: np.ndarray) -> None:
        """Add single entries before a relationship group where they are needed.

        A relationship group cannot begin a sequence, set states, or follow directly after another group with several
        entries.
        """
        opening = (members > 0) & ((self.pending > 0) | (self.width == 0))
        self._absent(OPENING, opening)
        self._absent(JOIN, (members > 1) & ~opening & (self.width > 1))

    def _absent(self, phase: str, who: np.ndarray) -> None:
        owner = who.nonzero()[0].astype(np.int32)
        if len(owner):
            states = self.pending[owner]
            self.lay(absent_slot(self.draft, phase, owner))
            if some(states != 0):
                after = self.after[-1] = np.zeros(len(self.pending), np.uint8)
                after[owner] = states
            self.pending[owner] = 0
            self.width[owner] = 1
            self.ends_in_group[owner] = False

    def lay(self, slot: StepSlot) -> None:
        """Add a slot unchanged."""
        self.slots.append(slot)
        self.after.append(None)
        self.group = slot.group
