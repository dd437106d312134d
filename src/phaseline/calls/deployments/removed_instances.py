"""Whether the instances of a graph still exist: a retry must not call a removed instance (N8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import some
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.events import RetryRequested
from phaseline.model.graph.graph import SubjectKind

if TYPE_CHECKING:
    from phaseline.calls.deployments.planner_driver import Planning
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph
    from phaseline.model.rows.rows import ExecutionRow, GraphRow
    from phaseline.ports.tenant_store import StoreRows


def acting_anew(row: ExecutionRow) -> ExecutionRow:
    """Return the execution for a retry: if it has ended and has hooks or stage tasks, the retry begins a new action.

    So these are called again.
    """
    if not (row.request.is_surrounded and row.status.is_ended):
        return row
    return altered(row, request=altered(row.request, acts_since=row.attempt + 1))


def to_retry(
    store: StoreRows, row: ExecutionRow, wanted: tuple[int | None, np.ndarray | None], *, unsure: bool, replan: bool
) -> RetryRequested:
    """Return the scheduler's event for a retry of ``wanted`` (graph, positions).

    ``unsure``: also retry unsure entries. ``replan``: the planner decides where the execution continues. This is always
    so for graphs with removed instances, and for an ended execution with hooks, which are called again (ADR 0022).
    """
    if row.request.is_surrounded and row.status.is_ended:
        return RetryRequested(row.number, *wanted, unsure, replan=True)
    return RetryRequested(row.number, *wanted, unsure, replan or must_replan(store, row, wanted[0]))


def report_settled(
    store: StoreRows, planning: Planning, row: ExecutionRow, graph: GraphRow, statuses: np.ndarray
) -> None:
    """Report a stored graph that has settled to the planner."""
    stored = store.graph(graph.id)
    bounded = (stored.bounds, stored.group, stored.subject)
    planning.settled(
        row.number, graph.id, graph.name, graph.attempt, status=statuses, marks=stored.marks, bounded=bounded
    )


def must_replan(store: StoreRows, row: ExecutionRow, graph: int | None) -> bool:
    """Return True if a graph (None: the last one) acts on removed instances, so that it must be planned again."""
    topology = store.topology(row.deployment)
    if not len(topology.gone):
        return False
    return is_about_the_gone(store.graph(store.graphs(row.number)[-1].id if graph is None else graph), topology)


def is_about_the_gone(graph: Graph, topology: Topology) -> bool:
    """Return True if an entry acts on an instance that was removed, or on a relationship of such an instance."""
    kinds = np.repeat([step.kind for step in graph.steps], [step.count for step in graph.steps])
    instances = graph.subject[kinds == SubjectKind.INSTANCE]
    rows = graph.subject[(kinds == SubjectKind.SOURCE) | (kinds == SubjectKind.TARGET)]
    return some(~topology.is_there[instances]) or some(~topology.is_tied[rows])
