"""Entries of a graph: their statuses from the pages of a store, their phases and their subjects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import EntryStatus, OutcomeKind

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph
    from phaseline.model.rows.rows import BatchRow, GraphRow


def as_statuses(pages: np.ndarray) -> np.ndarray:
    """The store's status bytes as uint8."""
    return np.frombuffer(bytes(pages), np.uint8)


def with_running(statuses: np.ndarray, graph: int, open_batches: Sequence[BatchRow]) -> np.ndarray:
    """Statuses with unanswered members of open batches as running: the store has no page for that.

    An entry stored as running without an open batch ran when a process died: it waits to be called again.
    """
    found = statuses.copy()
    found[found == EntryStatus.RUNNING] = EntryStatus.WAITING
    for batch in open_batches:
        first = 0
        for number, positions in batch.segments:
            answers = batch.kinds[first : first + len(positions)] if batch.kinds is not None else None
            first += len(positions)
            if number == graph:
                found[positions if answers is None else positions[answers == OutcomeKind.PENDING]] = EntryStatus.RUNNING
    return found


def in_force(graphs: Sequence[GraphRow]) -> list[GraphRow]:
    """Graphs that were not replaced by a retry with another of the same name."""
    latest = {graph.name: graph.attempt for graph in graphs}
    return [graph for graph in graphs if graph.attempt == latest[graph.name]]


class EntryPhases:
    """Phase and kind of subject by position in a graph."""

    def __init__(self, graph: Graph) -> None:
        """Index a graph, whose steps are in order."""
        self._steps = graph.steps
        self._first = np.fromiter((step.first for step in graph.steps), np.int64, len(graph.steps))

    def of(self, position: int) -> tuple[str, SubjectKind]:
        """(phase, kind) of an entry."""
        step = self._steps[int(np.searchsorted(self._first, position, side="right")) - 1]
        return step.phase, step.kind


def subject_ids(topology: Topology, kind: SubjectKind, subject: int) -> tuple[str, str]:
    """(id of the instance, id of the relationship's target or empty) of an entry's subject."""
    if kind is SubjectKind.NONE or kind is SubjectKind.DEPLOYMENT or subject < 0:
        return "", ""
    if kind is SubjectKind.INSTANCE:
        return topology.ids[subject], ""
    return topology.ids[int(topology.source[subject])], topology.ids[int(topology.target[subject])]
