"""Graphs of an execution that were not replaced, and phases and subjects of their entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.graph.graph import SubjectKind
from phaseline.plan.rounds import pre_post_rounds

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph, Step
    from phaseline.model.rows.rows import ExecutionRow, GraphRow
    from phaseline.ports.store import Store


def in_force(graphs: Sequence[GraphRow]) -> list[GraphRow]:
    """Graphs that were not replaced; a retry replaces a graph by another of the same name."""
    latest = {graph.name: graph.attempt for graph in graphs}
    return [graph for graph in graphs if graph.attempt == latest[graph.name]]


def last_own_graph(store: Store, row: ExecutionRow) -> GraphRow | None:
    """The graph that shows the state of an execution: its last one; None while nothing is planned.

    If the execution has ended, graphs of hooks after its own work are left out. If it has no other graph, the result
    is the graph of its ``pre`` hooks.
    """
    graphs = store.graphs(row.number)
    if not (row.request.is_surrounded and row.status.is_ended):
        return graphs[-1] if graphs else None

    own = [graph for graph in graphs if not graph.name.startswith((pre_post_rounds.CLOSING, pre_post_rounds.UNDOING))]
    return own[-1] if own else None


class GraphEntries:
    """Phases and subjects of the entries of a graph, by position."""

    def __init__(self, graph: Graph) -> None:
        """Index a graph, whose steps are in order."""
        self._graph, self._steps = graph, graph.steps
        self._first = np.fromiter((step.first for step in graph.steps), np.int64, len(graph.steps))

    def step(self, position: int) -> Step:
        """The step of an entry, with its phase and the kind of its subject."""
        return self._steps[int(np.searchsorted(self._first, position, side="right")) - 1]

    def phase(self, position: int) -> str:
        """The phase of an entry."""
        return self.step(position).phase

    def subject(self, topology: Topology, position: int) -> tuple[str, str]:
        """(id of the instance, id of the relationship's target or empty) of an entry."""
        kind, subject = self.step(position).kind, int(self._graph.subject[position])
        if kind is SubjectKind.NONE or kind is SubjectKind.DEPLOYMENT or subject < 0:
            return "", ""
        if kind is SubjectKind.INSTANCE:
            return topology.ids[subject], ""
        return topology.ids[int(topology.source[subject])], topology.ids[int(topology.target[subject])]
