"""Call relationship operations of intact instances on their relationships to chosen instances (W22, W24).

An intact instance is one that is not chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.plan.graph.draft import GraphDraft
from phaseline.plan.transforms.relationships import relationship_slots

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.plan.graph.lifecycle_sequence import Relate


NO_ROWS = np.empty(0, np.int32)


def concerned(topology: Topology, chosen: np.ndarray, operation: str, between: np.ndarray = NO_ROWS) -> np.ndarray:
    """Return the intact instances that call ``operation`` on a relationship to a chosen instance; bool by number.

    Only relationships that implement the operation count. Relationships with numbers in ``between`` count although both
    their instances are intact.
    """
    found = np.zeros(len(topology), bool)
    if not chosen.all() and len(topology.link):
        called = np.array([_is_called(topology, number, operation) for number in range(len(topology.links))], bool)
        rows = called[topology.link] & chosen[topology.target] & ~chosen[topology.source] & topology.is_tied
        found[topology.source[rows]] = True
        found[topology.source[between[called[topology.link[between]]]]] = True
    return found


def append_intact(draft: GraphDraft, relate: Relate, between: np.ndarray = NO_ROWS, *, tolerant: bool) -> GraphDraft:
    """Return the draft with slots for the operation on relationships from intact instances to chosen instances.

    With ``tolerant``, the operation is tried once and failures are ignored. Relationships with numbers in ``between``
    are included although both their instances are intact.
    """
    topology, participants = draft.topology, draft.participants
    if participants.is_chosen.all() or not len(topology.link):
        return draft
    source, target = participants.place[topology.source], participants.place[topology.target]
    rows = (source >= 0) & (target >= 0)
    rows[rows] = ~participants.is_chosen[source[rows]] & participants.is_chosen[target[rows]]
    rows[between] = source[between] >= 0
    first = len(draft.items) + len(topology.links)  # group numbers beyond those of the sequence
    slots = relationship_slots(draft, relate, rows, tolerant=tolerant, once=tolerant, first=first)
    return altered(draft, items=(*draft.items, *slots))


def _is_called(topology: Topology, number: int, operation: str) -> bool:
    if topology.links[number].is_cut:
        return False
    relationship = topology.links[number].relationship
    found = (relationship.source_operations.get(operation), relationship.target_operations.get(operation))
    return any(side is not None and side.is_implemented for side in found)
