"""Find the current graphs of an execution, and the phases and subjects of their entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.execution.pre_post import CLOSING, UNDOING
from phaseline.model.graph.graph import SubjectKind, owners_of

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph, Step
    from phaseline.model.rows.rows import ExecutionRow, GraphRow
    from phaseline.ports.execution_reads import ExecutionReads


def in_force(graphs: Sequence[GraphRow]) -> list[GraphRow]:
    """Return the graphs that were not replaced. A retry replaces a graph by another of the same name."""
    latest = {graph.name: graph.attempt for graph in graphs}
    return [graph for graph in graphs if graph.attempt == latest[graph.name]]


def last_own_graph(store: ExecutionReads, row: ExecutionRow) -> GraphRow | None:
    """Return the last graph of an execution, which shows its state, or None while nothing is planned.

    If the execution has ended, graphs of hooks that are called after its own work are ignored. If it has no other
    graph, return the graph of its ``pre`` hooks.
    """
    graphs = store.graphs(row.number)
    if not (row.request.is_surrounded and row.status.is_ended):
        return graphs[-1] if graphs else None

    own = [graph for graph in graphs if not graph.name.startswith((CLOSING, UNDOING))]
    return own[-1] if own else None


class GraphEntries:
    """Finds phase and subject of each entry of a graph, by the entry's position."""

    def __init__(self, graph: Graph) -> None:
        """Index the steps of a graph, which are in order."""
        self._graph, self._steps = graph, graph.steps
        self._first = np.fromiter((step.first for step in graph.steps), np.int64, len(graph.steps))

    def step(self, position: int) -> Step:
        """Return the step of an entry, which has its phase and the kind of its subject."""
        return self._steps[int(np.searchsorted(self._first, position, side="right")) - 1]

    def phase(self, position: int) -> str:
        """Return the phase of an entry."""
        return self.step(position).phase

    def subject(self, topology: Topology, position: int) -> tuple[str, str]:
        """Return (id of an entry's instance, id of the relationship's target or "")."""
        kind, subject = self.step(position).kind, int(self._graph.subject[position])
        if kind is SubjectKind.NONE or kind is SubjectKind.DEPLOYMENT or subject < 0:
            return "", ""
        if kind is SubjectKind.INSTANCE:
            return topology.ids[subject], ""
        return topology.ids[int(topology.source[subject])], topology.ids[int(topology.target[subject])]


def owners(graph: Graph, topology: Topology) -> np.ndarray:
    """Return, by position, the number of the instance whose events the entry belongs to; -1 for milestones."""
    found = np.full(len(graph), -1, np.int64)
    for step in graph.steps:
        subject = graph.subject[step.first : step.first + step.count]
        found[step.first : step.first + step.count] = owners_of(topology, step.kind, subject)
    return found
