"""List and show executions: their progress, and what failed in them and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.execution import pre_post
from phaseline.model.graph.graph import SubjectKind, phase_of
from phaseline.model.graph.status import EntryStatus, ExecutionStatus
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.model.rows import details, row_queries
from phaseline.model.rows.rows import RequestKind
from phaseline.plan.explain import cloudify_event_lines
from phaseline.use_cases.lookup import entries, read_ahead
from phaseline.use_cases.lookup.blocking_executions import blocking_execution
from phaseline.use_cases.lookup.find import find_deployment, find_execution
from phaseline.use_cases.queries import breakpoints, hook_results, retried_failures
from phaseline.use_cases.queries.estate import filtered_executions
from phaseline.views.views import Cause, ExecutionView, Failure, OperatorDecision, Page

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.rows.rows import ExecutionRow, NoteRow
    from phaseline.ports.execution_reads import ExecutionReads
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.views.views import FailingCall

WORTH_TELLING = (EntryStatus.FAILED, EntryStatus.UNSURE)
"""Statuses of entries that the view of an execution lists one by one; other entries are only counted."""


@frozen
class ExecutionFilter:
    """Conditions for executions. An execution must meet all of them; an empty condition is always met.

    ``since``: earliest time (ms) at which the execution was requested. ``text``: part of its id or of its reason.
    """

    status: str = ""
    workflow: str = ""
    actor: str = ""
    since: int = 0
    text: str = ""

    def query(self, deployment: int | None, limit: int | None) -> row_queries.ExecutionQuery | None:
        """Return the query for the store, latest executions first; None if ``status`` is no status of executions."""
        known = [status for status in ExecutionStatus if status.value == self.status]
        if self.status and not known:
            return None
        return row_queries.ExecutionQuery(
            deployments=None if deployment is None else (deployment,),
            statuses=known,
            workflow=self.workflow,
            actor=self.actor,
            since=self.since,
            text=self.text,
            is_latest_first=True,
            limit=limit,
        )


def list_executions(
    ctx: RequestContext,
    *,
    deployment: str | None = None,
    status: str | None = None,
    wanted: ExecutionFilter | None = None,
    where: str = "",
    rules: Sequence[str] = (),
    limit: int | None = None,
) -> Page[ExecutionView]:
    """Return the executions of one deployment or of all, latest first, without their failures.

    ``where``: an expression over the row of an execution. ``@NAME`` and ``rules`` select executions of the deployments
    that a saved filter or rules select. Raises: PL-C150 to PL-C154 and those of expressions.
    """
    store = ctx.store
    number = find_deployment(store, deployment).number if deployment else None
    query = (wanted or ExecutionFilter(status or "")).query(number, limit)
    if query is None:
        return Page([], 0)
    with ctx.store.at_once():
        if where or rules:
            rows, total = filtered_executions.filtered_rows(ctx, query, where, rules)
        else:
            rows, total = ctx.store.listings.page(query)
        reads: ExecutionReads = ctx.store
        waiting = {row.deployment for row in rows if row.status is ExecutionStatus.QUEUED and not row.started_at}
        if waiting:
            ahead = reads = read_ahead.ReadAhead(ctx.store)
            ahead.read(details.DetailQuery(executions_of=waiting, only_open=True, topologies_of=waiting))
        return Page([_queued(reads, row) for row in rows], total)


def show_execution(ctx: RequestContext, id: str | None = None, *, deployment: str | None = None) -> ExecutionView:
    """Return one execution with every failed entry.

    ``id``: the execution's id or a unique beginning of it. None: the latest execution of the deployment.
    """
    row = find_execution(ctx.store, id, deployment)
    owner = None if row.status.is_ended else ctx.store.owner()
    runner = str(owner) if owner is not None else ""
    failing = _failing(ctx.store, row)
    kept = ctx.store.stored_plans.of_execution(row.number)
    return altered(
        view_execution(ctx.store, row),
        runner=runner,
        decisions=_decisions(ctx.store, row),
        plan=kept.id if kept is not None else "",
        stopped=_stopped(ctx, row),
        hook_ms=_ms_in_hooks(ctx.store, row),
        failing=failing,
        failing_count=len(failing),
        now_at=ctx.clock.now(),
    )


def _failing(store: TenantStore, row: ExecutionRow) -> list[FailingCall]:
    if row.status.is_ended:
        return []

    return retried_failures.failing_now(store, row)


def _decisions(store: TenantStore, row: ExecutionRow) -> list[OperatorDecision]:
    """Return the requests that operators made to an execution after its start, oldest first."""
    return [
        OperatorDecision(
            request.at,
            request.actor.name,
            request.kind.value,
            str(request.body.get("reason") or request.body.get("how") or ""),
            is_refused=request.answer is not None and not request.answer.get("done", True),
        )
        for request in store.requests_of(row.number)
        if request.kind is not RequestKind.START
    ]


def _stopped(ctx: RequestContext, row: ExecutionRow) -> int:
    if row.status.is_ended or not row.request.breakpoints:
        return 0

    return len(list(breakpoints.stopped_in(ctx.store, row)))


def _queued(store: ExecutionReads, row: ExecutionRow) -> ExecutionView:
    """Return the view of an execution, with the id of the execution for which it waits, if it waits for one."""
    queued = blocking_execution(store, row)
    view = brief_view(row)
    return view if queued is None else altered(view, waits_for=queued.blocker.id)


def brief_view(row: ExecutionRow) -> ExecutionView:
    """Return the view of an execution, made from its stored row only."""
    return ExecutionView(
        id=row.id,
        workflow=row.request.workflow,
        deployment=row.deployment_name,
        status=row.status,
        reason=row.reason,
        attempt=row.attempt,
        created_at=row.created_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        created_by=row.created_by,
    )


def view_execution(
    store: TenantStore, row: ExecutionRow, *, interrupted: bool = False, notices: tuple[str, ...] = ()
) -> ExecutionView:
    """Return the view of an execution: the numbers of its entries by status, and its failed and unsure entries.

    Graphs that a retry has replaced are left out.
    """
    counts: Counter[str] = Counter()
    of_hooks: Counter[str] = Counter()
    failures: list[Failure] = []
    graphs = store.graphs(row.number)
    if row.request.workflow != REACH_WORKFLOW and len({graph.name for graph in graphs}) < len(graphs):
        graphs = entries.in_force(graphs)
    for graph in graphs:
        statuses = store.entry_statuses(graph.id).now
        tally = np.bincount(statuses, minlength=len(EntryStatus))
        told = of_hooks if row.request.is_surrounded and hook_results.is_of_hooks(graph.name) else counts
        told.update({EntryStatus(status).word: int(count) for status, count in enumerate(tally) if count})
        if tally[list(WORTH_TELLING)].any():
            failures.extend(failures_of(store, row.deployment, graph.id, statuses))
    view = _queued(store, row)
    if row.request.is_surrounded:
        said = hook_results.hooked(store, entries.in_force(graphs))
        view = altered(view, warnings=said.warnings, waits=said.waits, decided=said.decided)
    return altered(
        view,
        counts=dict(counts),
        hook_counts={word: count for word, count in of_hooks.items() if word != EntryStatus.PASSED.word},
        failures=failures,
        failure_count=len(failures),
        interrupted=interrupted,
        notices=notices,
    )


def _ms_in_hooks(store: TenantStore, row: ExecutionRow) -> int:
    """Return the total time (ms) of all ended calls of hook classes."""
    if not row.request.is_surrounded:
        return 0

    calls = store.batches(execution=row.number)
    return sum(
        one.closed_at - one.started_at for one in calls if one.closed_at and one.phase.startswith(pre_post.HOOKS)
    )


def failures_of(store: TenantStore, deployment: int, graph_id: int, statuses: np.ndarray) -> Iterator[Failure]:
    """Yield the entries of a graph that failed or are unsure, by position."""
    positions = np.flatnonzero(np.isin(statuses, list(WORTH_TELLING)))
    graph, topology = store.graph(graph_id), store.topology(deployment)
    notes = {note.position: note for note in store.notes(graph_id)}
    known = entries.GraphEntries(graph)
    for position in positions.tolist():
        step = known.step(position)
        instance, target = known.subject(topology, position)
        yield _failure(
            step.phase,
            (instance, target, topology),
            EntryStatus(int(statuses[position])),
            notes.get(position),
            (graph_id, position),
            _function(topology, step.kind, int(graph.subject[position]), step.phase),
        )


def _function(topology: Topology, kind: SubjectKind, subject: int, phase: str) -> str:
    """Return the name of the function or script that the blueprint maps to an operation, or "" if there is none."""
    found = cloudify_event_lines.operation_called(topology, kind, subject, phase)
    if found is None:
        return ""
    return "inline script" if found.form == "inline" else found.implementation or ""


def _failure(
    phase: str,
    subject: tuple[str, str, Topology],
    status: EntryStatus,
    note: NoteRow | None,
    spot: tuple[int, int],
    function: str,
) -> Failure:
    instance, target, topology = subject
    number = topology.number_of.get(instance)
    cause = None
    if note is not None and note.error:
        cause = Cause(note.error.get("type", ""), note.error.get("traceback", ""))
    return Failure(
        instance=instance,
        node=topology.nodes[int(topology.node[number])].name if number is not None else "",
        target=target,
        operation=phase_of(phase) or phase,
        status=status.word,
        message=note.message if note is not None else "",
        cause=cause,
        attempts=note.attempts if note is not None else 0,
        graph=spot[0],
        position=spot[1],
        function=function,
    )
