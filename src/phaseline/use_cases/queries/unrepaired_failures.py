"""Find failures that later executions did not repair: their instances are still half way between two states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.graph.status import LEFT, EntryStatus
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.model.rows import deployment_summaries
from phaseline.model.rows.details import DetailQuery
from phaseline.use_cases.lookup.entries import last_own_graph, owners
from phaseline.use_cases.lookup.unreadable_rows import Flaws

if TYPE_CHECKING:
    from phaseline.model.rows.rows import ExecutionRow, GraphRow
    from phaseline.ports.execution_reads import ExecutionReads
    from phaseline.use_cases.lookup.read_ahead import ReadAhead

BAD = (EntryStatus.FAILED, EntryStatus.UNSURE)
LOOKED_BACK = 20
"""Number of failed and canceled executions that are examined, latest first."""


def half_way(reads: ReadAhead, deployments: Iterable[Sequence[ExecutionRow]]) -> tuple[list[int], list[int]]:
    """Return (graphs, deployments) that show which failures left instances half way that are so still."""
    graphs: list[int] = []
    places: list[int] = []
    for rows in deployments:
        with Flaws().of(rows[0].deployment_name):  # reported when the deployment itself is read
            if not np.isin(reads.states(rows[0].deployment), deployment_summaries.HALF_WAY).any():
                continue
            last = [last_own_graph(reads, row) for row in rows if row.status in LEFT]
            graphs += [graph.id for graph in last if graph is not None and np.isin(reads.statuses(graph.id), BAD).any()]
            places.append(rows[0].deployment)
    return graphs, places


def has_entries(reads: ReadAhead, graph: GraphRow, statuses: Sequence[EntryStatus]) -> bool:
    """Return True if an entry of a graph has one of the statuses, or if the statuses cannot be read."""
    with Flaws().of(graph.name):
        return bool(np.isin(reads.entry_statuses(graph.id).now, statuses).any())
    return True


def read_left_behind(reads: ReadAhead, deployments: Sequence[Sequence[ExecutionRow]]) -> None:
    """Read ahead what ``left_behind`` needs of the executions of several deployments at rest."""
    if not deployments:
        return
    left = [[row for row in rows if row.status in LEFT][-LOOKED_BACK:] for rows in deployments]
    reads.know(row for rows in left for row in rows)
    graphs_of = [row.number for rows in left for row in rows]
    reads.read(DetailQuery(graphs_of=graphs_of, states_of=[rows[0].deployment for rows in deployments]))
    graphs, places = half_way(reads, deployments)
    reads.read(DetailQuery(columns_of=graphs, topologies_of=places))


def left_half_way(store: ExecutionReads, row: ExecutionRow, graph: int, statuses: np.ndarray) -> np.ndarray:
    """Return a bool array by position: True if the entry failed or is unsure and its instance is still half way.

    An instance is half way while it is in a state such as ``creating`` or ``stopping``.
    """
    bad = np.isin(statuses, BAD)
    if not bad.any():
        return bad
    owner = owners(store.graph(graph), store.topology(row.deployment))
    states = store.states(row.deployment)
    return np.asarray(bad & (owner >= 0) & np.isin(states[owner], deployment_summaries.HALF_WAY))


def left_behind(store: ExecutionReads, rows: Sequence[ExecutionRow]) -> ExecutionRow | None:
    """Return the latest execution before the last one that left instances half way and was not replaced.

    ``left_half_way`` defines half way. An execution is replaced if later executions failed on all instances that it
    left. ``rows``: the executions of one deployment, oldest first. Return None if there is no such execution, or while
    an execution is open, because it may repair the instances.
    """
    if len(rows) < 2 or rows[-1].request.workflow == REACH_WORKFLOW or any(not row.status.is_ended for row in rows):
        return None
    ended = [row for row in reversed(rows) if row.status in LEFT][:LOOKED_BACK]
    if not any(row is not rows[-1] for row in ended) or not _any_half_way(store, rows[-1].deployment):
        return None
    later = np.zeros(0, np.int64)
    for row in ended:
        numbers = _numbers(store, row)
        if row is not rows[-1] and len(np.setdiff1d(numbers, later)):
            return row
        later = np.union1d(later, numbers)
    return None


def _any_half_way(store: ExecutionReads, deployment: int) -> bool:
    return bool(np.isin(store.states(deployment), deployment_summaries.HALF_WAY).any())


def _numbers(store: ExecutionReads, row: ExecutionRow) -> np.ndarray:
    """Return the numbers of the instances on which an execution failed and that are still half way."""
    last = last_own_graph(store, row)
    if last is None:
        return np.zeros(0, np.int64)
    found = left_half_way(store, row, last.id, store.statuses(last.id))
    return np.asarray(owners(store.graph(last.id), store.topology(row.deployment))[found])
