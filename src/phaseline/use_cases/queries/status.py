"""The status overview for an operator: store, engine, open executions, and what needs an operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.app.store_location import shown_url
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution import breakpoints
from phaseline.model.graph.status import FIRST_ENDED, EntryStatus, ExecutionStatus
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.model.rows.details import DetailQuery
from phaseline.model.rows.row_queries import DeploymentQuery
from phaseline.store.database import schema as sql_schema
from phaseline.store.sql import errors
from phaseline.use_cases.lookup.entries import GraphEntries
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.queries import deployments, hook_results
from phaseline.use_cases.queries.retried_failures import FAILURES, MAY_BE_RETRIED, ending, failing_now
from phaseline.use_cases.queries.stuck import awaited_in
from phaseline.use_cases.queries.unfinished import UnfinishedExecutions, unfinished_groups
from phaseline.use_cases.queries.unrepaired_failures import has_entries
from phaseline.use_cases.queries.unresponsive_owner import silence_of
from phaseline.views.views import DeploymentView, FailingCall

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.rows import ExecutionRow, GraphRow, Owner, RequestRow
    from phaseline.ports.execution_reads import ExecutionReads
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.use_cases.lookup.read_ahead import ReadAhead
    from phaseline.use_cases.queries.pending_decisions import PendingDecision

LOOKED_AT = 200
"""Number of open executions, oldest first, that are examined; further ones are only counted."""
OVERDUE_MS = 5_000
"""Delay (ms) after which a due call is overdue."""
SHOWN_FAILING = 3
"""Number of retried calls that are shown; further ones are only counted."""
SHOWN_NEEDS = 10
"""Number of needs that are shown; ``phaseline instances stuck`` lists all stuck entries."""
SHOWN_SCHEDULES = 3
"""Number of schedules that are shown."""
START = "phaseline engine run"


@frozen
class StoreState:
    """The address of the store, and the sizes of its file and its write-ahead log (0 for a store without a file)."""

    url: str
    size_bytes: int
    log_bytes: int
    schema: int


@frozen
class EngineState:
    """The process that owns the store. ``pid`` is 0 if another process owns it but its id is unknown."""

    pid: int
    command: str
    since_at: int


@frozen
class ExecutionProgress:
    """The progress of one open execution.

    ``counts``: {status: number of entries} of its present round; ``ended`` of ``total`` entries have ended. ``due_at``:
    time of the next call of a sleeping entry, 0 if none.
    """

    id: str
    workflow: str
    deployment: str
    status: ExecutionStatus
    created_by: str
    created_at: int
    ended: int
    total: int
    counts: Mapping[str, int]
    due_at: int
    overdue: int


@frozen
class Need:
    """A problem that needs an operator (``text``), and the command that helps (``mend``)."""

    text: str
    mend: str


@frozen
class UpcomingStart:
    """A schedule of a deployment that is due at ``at`` (in ms), and the workflow that it starts."""

    at: int
    deployment: str
    schedule: str
    workflow: str


@frozen
class Status:
    """The status overview.

    ``engine`` is None if no process runs executions; ``start`` is then the command that starts one. ``open_count``
    counts all open executions; the counts of entries cover only the ``looked_into`` oldest executions. ``failing``: the
    first of ``failing_count`` calls that failed and are being tried again. ``upcoming``: the
    schedules that are due first; ``missed_count``: times that schedules have missed since each has started something.
    """

    now_at: int
    store: StoreState
    engine: EngineState | None
    start: str
    executions: Sequence[ExecutionProgress]
    open_count: int
    looked_into: int
    queued_count: int
    request_count: int
    counts: Mapping[str, int] = field(default_factory=dict)
    due_at: int = 0
    overdue_count: int = 0
    unsure_count: int = 0
    needs: Sequence[Need] = ()
    need_count: int = 0
    deployment: DeploymentView | None = None
    failing: Sequence[FailingCall] = ()
    failing_count: int = 0
    upcoming: Sequence[UpcomingStart] = ()
    missed_count: int = 0


def status(ctx: RequestContext, deployment: str | None = None) -> Status:
    """Return the present status of the whole store, or of one deployment and its executions.

    Raises: PL-C010 for an unknown deployment, PL-C013 if several names begin so.
    """
    store, now = ctx.store, ctx.clock.now()
    with store.at_once():
        row = None if deployment is None else find_deployment(store, deployment)
        view = None if row is None else deployments.briefs(store, [row])[0]
        seen = _look(store, now, None if row is None else row.number)
        upcoming, missed = _schedules(store) if row is None and seen.has_schedules else ((), 0)
    counts: Counter[str] = Counter()
    for standing in seen.standings:
        counts.update(standing.counts)
    needs = [need for find in NEEDS for need in find(seen)]
    return Status(
        now_at=now,
        store=store_state(ctx),
        engine=EngineState(seen.owner.pid, seen.owner.command, seen.owner.since) if seen.owner else None,
        start="" if seen.owner else START,
        executions=seen.standings,
        open_count=seen.open_count,
        looked_into=len(seen.standings),
        queued_count=seen.queued_count,
        request_count=seen.requests,
        counts=dict(counts),
        due_at=min((standing.due_at for standing in seen.standings if standing.due_at), default=0),
        overdue_count=sum(standing.overdue for standing in seen.standings),
        unsure_count=counts[EntryStatus.UNSURE.word],
        needs=needs[:SHOWN_NEEDS],
        need_count=len(needs),
        deployment=view,
        failing=seen.failing[:SHOWN_FAILING],
        failing_count=len(seen.failing),
        upcoming=upcoming,
        missed_count=missed,
    )


def _schedules(store: TenantStore) -> tuple[Sequence[UpcomingStart], int]:
    """Return (the schedules that are due first, how many times were missed)."""
    rows = store.schedules.soonest(SHOWN_SCHEDULES)
    found = store.listings.deployments(DeploymentQuery(numbers={row.deployment for row in rows})) if rows else ()
    names = {one.number: one.name for one in found}
    upcoming = [UpcomingStart(row.next_at, names.get(row.deployment, ""), row.name, row.spec.workflow) for row in rows]
    return upcoming, store.schedules.missed()


def _look(store: TenantStore, now: int, deployment: int | None) -> _Situation:
    """Read the executions that are open or need attention, of the whole store or of one deployment."""
    rows: list[ExecutionRow] = []
    standings: list[ExecutionProgress] = []
    failing: list[FailingCall] = []
    waits: list[PendingDecision] = []
    asked: Sequence[RequestRow] = ()
    held, has_schedules = 0, False
    for found in unfinished_groups(store, deployment, _to_read):
        reads, living = found.reads, _looked_into(found.rows)[: LOOKED_AT - len(standings)]
        asked, held = reads.open_requests() if reads.open_requests is not None else (), reads.held
        has_schedules = reads.has_schedules
        progress = [_standing(reads, row, now) for row in living]
        standings += progress
        retried = [row for row, one in zip(living, progress, strict=True) if _may_be_failing(one)]
        failing += _failing(reads, retried)
        waits += [one for row in living for one in awaited_in(reads, row)]
        rows += found.rows
    rows.sort(key=lambda row: row.number)
    numbers = {row.number for row in rows}
    released = [row for row in rows if row.number > held or row.status.is_ended]
    living = [row for row in rows if not row.status.is_ended]
    return _Situation(
        now=now,
        owner=store.owner(),
        rows=released,
        held=len(rows) - len(released),
        open_count=len(living),
        queued_count=sum(row.status is ExecutionStatus.QUEUED for row in living),
        standings=standings,
        awaited=waits,
        failing=failing,
        asked=asked,
        requests=sum(deployment is None or one.execution in numbers for one in asked),
        has_schedules=has_schedules,
    )


def _looked_into(rows: Sequence[ExecutionRow]) -> list[ExecutionRow]:
    """Return the open executions whose entries are examined, oldest first."""
    return [row for row in rows if not row.status.is_ended][:LOOKED_AT]


def _to_read(found: UnfinishedExecutions) -> DetailQuery:
    """Return what the overview needs of open executions: notes of sleepers, and what waits for an operator."""
    reads = found.reads
    moving = {row.number: _moving_graphs(reads, row) for row in _looked_into(found.rows)}
    asked = {
        graph.id: row.deployment
        for row in _looked_into(found.rows)
        for graph in moving[row.number]
        if row.request.breakpoints or hook_results.is_of_hooks(graph.name)
    }
    notes = [graph.id for graphs in moving.values() for graph in graphs]
    return DetailQuery(notes_of=notes, columns_of=asked, topologies_of=set(asked.values()))


def _moving_graphs(reads: ReadAhead, row: ExecutionRow) -> list[GraphRow]:
    """Return the graphs with entries that sleep, run or wait for a call; no other graph has anything to read."""
    return [graph for graph in reads.graphs(row.number) if has_entries(reads, graph, MAY_BE_RETRIED)]


def _may_be_failing(standing: ExecutionProgress) -> bool:
    """Return True if the counts of an execution show an entry that can be in a retry."""
    return any(standing.counts.get(status.word) for status in MAY_BE_RETRIED)


def _failing(reads: ReadAhead, rows: Sequence[ExecutionRow]) -> list[FailingCall]:
    """Return the failed calls of executions that are being tried again."""
    graphs = [(row, graph.id) for row in rows for graph in _moving_graphs(reads, row)]
    retried = [(row, graph) for row, graph in graphs if any(note.retries for note in reads.notes(graph))]
    reads.read(
        DetailQuery(
            columns_of=[graph for _, graph in retried],
            topologies_of={row.deployment for row, _ in retried},
            events_of=[row.number for row, graph in retried if any(note.retries > 1 for note in reads.notes(graph))],
            event_types=FAILURES,
        )
    )
    return [call for row in rows for call in failing_now(reads, row)]


def store_state(ctx: RequestContext) -> StoreState:
    """Return the address and the sizes of the store. Its schema is the present one, because the store is open."""
    size, log = ctx.app.upkeep.sizes()
    return StoreState(shown_url(ctx.settings.store_url), size, log, sql_schema.SCHEMA_VERSION)


def _counted_graphs(reads: ExecutionReads, row: ExecutionRow) -> Sequence[GraphRow]:
    """Return the graphs of the present round of an execution; all of them if it brings resources to a target."""
    graphs = reads.graphs(row.number)
    return graphs if row.request.workflow == REACH_WORKFLOW else graphs[-1:]


def _standing(reads: ReadAhead, row: ExecutionRow, now: int) -> ExecutionProgress:
    counts: Counter[str] = Counter()
    dues: list[int] = []
    overdue, ended, total = 0, 0, 0
    for graph in (one.id for one in _counted_graphs(reads, row)):
        statuses = reads.entry_statuses(graph).now
        tally = np.bincount(statuses, minlength=len(EntryStatus))
        counts.update({EntryStatus(status).word: int(count) for status, count in enumerate(tally) if count})
        ended, total = ended + int(tally[FIRST_ENDED:].sum()), total + len(statuses)
        overdue += sum(0 < batch.deadline_at < now - OVERDUE_MS for batch in reads.open_calls(graph))
        if tally[EntryStatus.SLEEPING]:
            here = _dues(reads, row, graph, statuses)
            overdue += sum(0 < due < now - OVERDUE_MS for due in here)
            dues += here
    return ExecutionProgress(
        id=row.id,
        workflow=row.request.workflow,
        deployment=row.deployment_name,
        status=row.status,
        created_by=row.created_by,
        created_at=row.created_at,
        ended=ended,
        total=total,
        counts=dict(counts),
        due_at=min(dues, default=0),
        overdue=overdue,
    )


def _dues(store: ExecutionReads, row: ExecutionRow, graph: int, statuses: np.ndarray) -> list[int]:
    """Return the times of the next calls of a graph's sleeping entries.

    Entries stopped at a breakpoint without a time-out are left out, because only a person wakes them.
    """
    asleep = statuses == EntryStatus.SLEEPING
    if not row.request.breakpoints:
        return [due for position, (due, _) in store.messages(graph).items() if asleep[position]]

    entries = GraphEntries(store.graph(graph))
    found = (
        breakpoints.due_of(entries.phase(note.position), note.due, note.result)
        for note in store.notes(graph)
        if asleep[note.position]
    )
    return [due for due in found if due]


# -- needs -----------------------------------------------------------------------------------------------------------


@frozen
class _Situation:
    """The data from which ``Need`` objects are derived.

    ``rows``: unfinished executions; ``held``: the number of further ones that wait because the store was restored.
    ``asked``: all unanswered requests; ``requests``: the number of those that concern the executions.
    """

    now: int
    owner: Owner | None
    rows: Sequence[ExecutionRow]
    held: int
    open_count: int
    queued_count: int
    standings: Sequence[ExecutionProgress]
    awaited: Sequence[PendingDecision]
    failing: Sequence[FailingCall]
    asked: Sequence[RequestRow]
    requests: int
    has_schedules: bool


def _awaited_needs(seen: _Situation) -> Iterator[Need]:
    return (Need(one.text, one.mend) for one in seen.awaited)


def _held_needs(seen: _Situation) -> Iterator[Need]:
    them = f"{seen.held} executions wait" if seen.held > 1 else "1 execution waits"
    if seen.held:
        yield Need(f"{them} since the store was restored", errors.GO_ON)


def _silence_needs(seen: _Situation) -> Iterator[Need]:
    found = silence_of(seen.asked, seen.now, seen.owner) if seen.owner is not None else None
    if found is not None:
        yield Need(found.text, found.mend)


def _unsure_needs(seen: _Situation) -> Iterator[Need]:
    for row in seen.rows:
        if row.status is ExecutionStatus.ATTENTION:
            text = f"{row.id} of '{row.deployment_name}' has calls that may or may not have been carried out"
            yield Need(text, f"phaseline executions show {row.id}")


def _idle_needs(seen: _Situation) -> Iterator[Need]:
    """Yield a need for the open executions if no process runs them."""
    idle = [row for row in seen.rows if not row.status.is_ended and row.status is not ExecutionStatus.ATTENTION]
    if idle and seen.owner is None:
        count = len(idle)
        more = f" and {count - 1} more open execution{'s' if count > 2 else ''}" if count > 1 else ""
        alone = count == 1 and idle[0].status is ExecutionStatus.RUNNING
        mend = f"phaseline executions resume {idle[0].id}" if alone else START
        yield Need(f"no process runs {idle[0].id}{more}", mend)


def _overdue_needs(seen: _Situation) -> Iterator[Need]:
    for one in seen.standings:
        if one.overdue and seen.owner is not None:
            calls = f"{one.overdue} call{'s' * (one.overdue != 1)}"
            yield Need(f"{one.id} of '{one.deployment}' is overdue with {calls}", "phaseline instances stuck")


def _left_needs(seen: _Situation) -> Iterator[Need]:
    """Yield a need for each ended execution that left failed or unsure calls, latest first."""
    for row in reversed(seen.rows):
        if row.status in LEFT:
            yield Need(f"{row.id} of '{row.deployment_name}' {LEFT[row.status]}", f"phaseline executions show {row.id}")


def _repeated_needs(seen: _Situation) -> Iterator[Need]:
    """Yield a need for each execution with a call that fails in the same way at each automatic retry."""
    found = {call.execution: call.deployment for call in seen.failing if call.is_repeated}
    for execution, name in found.items():
        text = f"{execution} of '{name}' fails the same way again; canceling it ends the retries"
        yield Need(text, ending(execution))


def _request_needs(seen: _Situation) -> Iterator[Need]:
    if seen.requests and seen.owner is None:
        yield Need(f"{seen.requests} request{'s wait' if seen.requests != 1 else ' waits'} for an engine", START)


NEEDS = (
    _awaited_needs,
    _held_needs,
    _silence_needs,
    _unsure_needs,
    _idle_needs,
    _overdue_needs,
    _left_needs,
    _repeated_needs,
    _request_needs,
)
"""Functions that yield ``Need`` objects, in the order in which users see the needs."""
LEFT = {
    ExecutionStatus.FAILED: "failed",
    ExecutionStatus.CANCELED: "was canceled and has left calls that failed, or may or may not have been carried out",
}
