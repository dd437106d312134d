"""Intact instances run an operation of their relationships to chosen ones, and nothing else (W22, W24)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.frozen import altered
from phaseline.plan.draft import Draft
from phaseline.plan.transforms.relationships import relationship_slots

if TYPE_CHECKING:
    from phaseline.model.topology import Topology
    from phaseline.plan.sequence import Relate


def concerned(topology: Topology, chosen: np.ndarray, operation: str) -> np.ndarray:
    """Intact instances with a relationship to a chosen one whose ``operation`` is implemented, bool by number."""
    found = np.zeros(len(topology), bool)
    if not chosen.all() and len(topology.link):
        called = np.array([_is_called(topology, number, operation) for number in range(len(topology.links))], bool)
        rows = called[topology.link] & chosen[topology.target] & ~chosen[topology.source]
        found[topology.source[rows]] = True
    return found


def lay_intact(draft: Draft, relate: Relate, *, tolerant: bool) -> Draft:
    """Slots for the operation on relationships from intact instances to chosen ones. ``tolerant``: tried once, ignored."""
    topology, participants = draft.topology, draft.participants
    if participants.is_chosen.all() or not len(topology.link):
        return draft
    source, target = participants.place[topology.source], participants.place[topology.target]
    rows = (source >= 0) & (target >= 0)
    rows[rows] = ~participants.is_chosen[source[rows]] & participants.is_chosen[target[rows]]
    first = len(draft.items) + len(topology.links)  # group numbers beyond those of the sequence
    slots = relationship_slots(draft, relate, rows, tolerant=tolerant, once=tolerant, first=first)
    return altered(draft, items=(*draft.items, *slots))


def _is_called(topology: Topology, number: int, operation: str) -> bool:
    relationship = topology.links[number].relationship
    found = (relationship.source_operations.get(operation), relationship.target_operations.get(operation))
    return any(side is not None and side.is_implemented for side in found)
