"""Find the executions that are open or have left failed or unsure entries, with what explains them read ahead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.graph.status import LEFT, EntryStatus, ExecutionStatus
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.model.rows.details import DetailQuery
from phaseline.use_cases.lookup.entries import last_own_graph
from phaseline.use_cases.lookup.read_ahead import ReadAhead
from phaseline.use_cases.lookup.unreadable_rows import Flaws
from phaseline.use_cases.queries import hook_results
from phaseline.use_cases.queries.resources import current_paths
from phaseline.use_cases.queries.unrepaired_failures import (
    BAD,
    LOOKED_BACK,
    half_way,
    has_entries,
    left_behind,
)

if TYPE_CHECKING:
    from phaseline.model.rows.rows import ExecutionRow, GraphRow
    from phaseline.ports.tenant_store import TenantStore

MOST_ENTRIES = 2_000_000
"""Number of entries whose graphs are in memory at the same time; more are read in several groups."""
TOLD = (*BAD, EntryStatus.SKIPPED, EntryStatus.SLEEPING, EntryStatus.RUNNING, EntryStatus.WAITING)
"""Statuses of entries about which an explanation may have to read more than their status."""


@frozen
class UnfinishedExecutions:
    """Unfinished executions, oldest first. ``reads`` has read their graphs ahead.

    ``latest`` is {deployment: number of its latest execution}.
    """

    rows: Sequence[ExecutionRow]
    latest: Mapping[int, int]
    reads: ReadAhead

    def is_latest(self, row: ExecutionRow) -> bool:
        """Return True if no later execution of the deployment exists."""
        return self.latest[row.deployment] == row.number

    def shown_graphs(self, row: ExecutionRow) -> list[GraphRow]:
        """Return the graphs of an execution that explain what has become of it."""
        graphs = self.reads.graphs(row.number)
        if row.request.workflow == REACH_WORKFLOW:
            return list(graphs)
        last = last_own_graph(self.reads, row)
        is_asked = not row.status.is_ended and (row.request.is_surrounded or row.request.breakpoints)
        return [
            graph
            for graph in graphs
            if graph is last or (is_asked and (row.request.breakpoints or hook_results.is_of_hooks(graph.name)))
        ]


def unfinished(store: TenantStore, deployment: int | None = None) -> list[ExecutionRow]:
    """Return the executions that are open or have left failed or unsure entries, oldest first.

    Of ended executions, count only the latest of each deployment, and an earlier one whose failure left instances half
    way (``left_behind``). A canceled execution counts only if it has unsure or failed entries. Deleted deployments are
    left out.
    """
    found = [row for group in unfinished_groups(store, deployment) for row in group.rows]
    return sorted(found, key=lambda row: row.number)


Tell = Callable[["UnfinishedExecutions"], DetailQuery]
"""Returns what a list needs of executions that may be unfinished, to be read by the same statement that finds them."""


def _nothing(_: UnfinishedExecutions) -> DetailQuery:
    return DetailQuery()


def unfinished_groups(
    store: TenantStore, deployment: int | None = None, tell: Tell = _nothing
) -> Iterator[UnfinishedExecutions]:
    """Yield the executions that ``unfinished`` returns, in groups with a limited number of entries: usually one group.

    All executions of a deployment are in one group. A group takes two statements.
    """
    by_deployment: dict[int, list[ExecutionRow]] = {}
    entries: dict[int, int] = {}
    for row, entry_count in store.listings.unsettled(deployment):
        by_deployment.setdefault(row.deployment, []).append(row)
        entries[row.deployment] = entries.get(row.deployment, 0) + entry_count
    group: list[list[ExecutionRow]] = []
    room = MOST_ENTRIES
    for number, rows in by_deployment.items():
        if group and room < entries[number]:
            yield _looked_at(store, group, tell)
            group, room = [], MOST_ENTRIES
        group.append(rows)
        room -= entries[number]
    yield _looked_at(store, group, tell)


def _looked_at(store: TenantStore, group: Sequence[Sequence[ExecutionRow]], tell: Tell) -> UnfinishedExecutions:
    """Return those executions of some deployments that are unfinished."""
    reads = ReadAhead(store)
    kept: list[ExecutionRow] = []
    at_rest: list[Sequence[ExecutionRow]] = []
    clusters: list[int] = []
    for rows in group:
        kept += _may_be_unfinished(rows)
        if rows[-1].request.workflow == REACH_WORKFLOW:
            clusters.append(rows[0].deployment)
        elif len(rows) > 1 and all(row.status.is_ended for row in rows):
            at_rest.append(rows)
    reads.know(row for rows in group for row in rows)
    reads.read(
        DetailQuery(
            graphs_of=[row.number for row in kept],
            states_of=[*(rows[0].deployment for rows in at_rest), *clusters],
            executions_of=clusters,
            open_batches=True,
            open_requests=True,
        )
    )
    latest = {rows[0].deployment: rows[-1].number for rows in group}
    found = UnfinishedExecutions(sorted(kept, key=lambda row: row.number), latest, reads)
    told = tell(found)
    graphs, places = half_way(reads, at_rest)
    reached = [row for row in kept if row.request.workflow == REACH_WORKFLOW]
    graphs += [graph.id for row in reached for graph in found.shown_graphs(row) if has_entries(reads, graph, TOLD)]
    reads.read(altered(told, columns_of={*told.columns_of, *graphs}, topologies_of={*told.topologies_of, *places}))
    hidden = {left.number for rows in group if (left := _left_behind(reads, rows)) is not None}
    chosen = [
        row
        for row in found.rows
        if not row.status.is_ended or row.number in hidden or (_counts(found, row) and _leaves_things(reads, row))
    ]
    return altered(found, rows=chosen)


def _may_be_unfinished(rows: Sequence[ExecutionRow]) -> list[ExecutionRow]:
    """Return those executions of one deployment, oldest first, that may be unfinished or may hide what others left."""
    left = [row for row in rows if row.status in LEFT]
    is_busy = any(not row.status.is_ended for row in rows)
    looked_at = {row.number for row in ([] if is_busy else left[-LOOKED_BACK:])}
    return [
        row
        for row in rows
        if not row.status.is_ended
        or row.number in looked_at
        or (row.status in LEFT and (row is rows[-1] or row.request.workflow == REACH_WORKFLOW))
    ]


def _counts(found: UnfinishedExecutions, row: ExecutionRow) -> bool:
    """Return whether no later execution replaces this one.

    An execution that brings resources to a target is never replaced as a whole, but resource by resource.
    """
    return row.request.workflow == REACH_WORKFLOW or found.is_latest(row)


def _left_behind(reads: ReadAhead, rows: Sequence[ExecutionRow]) -> ExecutionRow | None:
    with Flaws().of(rows[0].deployment_name):  # reported when the deployment itself is read
        return left_behind(reads, rows)
    return None


def _leaves_things(reads: ReadAhead, row: ExecutionRow) -> bool:
    """Return whether an ended execution left failed or unsure entries.

    If its data cannot be read, report the error and return True.
    """
    with Flaws().of(row.deployment_name):
        return _has_left(reads, row)
    return True


def _has_left(reads: ReadAhead, row: ExecutionRow) -> bool:
    if row.request.workflow == REACH_WORKFLOW:
        return row.status is ExecutionStatus.FAILED and any(
            (current_paths.only_present(reads, row, graph.id, reads.statuses(graph.id)) == EntryStatus.FAILED).any()
            for graph in reads.graphs(row.number)
        )
    if row.status is not ExecutionStatus.CANCELED:
        return row.status is ExecutionStatus.FAILED
    last = last_own_graph(reads, row)
    return last is not None and bool(np.isin(reads.statuses(last.id), BAD).any())
