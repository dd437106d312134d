"""The status overview for an operator: store, engine, open executions, and what needs an operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from typing import TYPE_CHECKING

import numpy as np

from phaseline.app.store_location import shown_url
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution import breakpoints
from phaseline.model.graph.status import FIRST_ENDED, EntryStatus, ExecutionStatus
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.store.database import schema as sql_schema
from phaseline.store.sql import errors
from phaseline.use_cases.lookup.entries import GraphEntries
from phaseline.use_cases.queries import deployments
from phaseline.use_cases.queries.retried_failures import MAY_BE_RETRIED, ending, failing_now
from phaseline.use_cases.queries.stuck import awaited_in, unfinished
from phaseline.use_cases.queries.unresponsive_owner import silence
from phaseline.views.views import DeploymentView, FailingCall

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.rows import BatchRow, ExecutionRow, Owner
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.use_cases.queries.pending_decisions import PendingDecision

LOOKED_AT = 200
"""Number of open executions, oldest first, that are examined; further ones are only counted."""
OVERDUE_MS = 5_000
"""Delay (ms) after which a due call is overdue."""
SHOWN_FAILING = 3
"""Number of retried calls that are shown; further ones are only counted."""
SHOWN_NEEDS = 10
"""Number of needs that are shown; ``phaseline instances stuck`` lists all stuck entries."""
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
class Status:
    """The status overview.

    ``engine`` is None if no process runs executions; ``start`` is then the command that starts one. ``open_count``
    counts all open executions; the counts of entries cover only the ``looked_into`` oldest executions. ``failing``: the
    first of ``failing_count`` calls that failed and are being tried again.
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


def status(ctx: RequestContext, deployment: str | None = None) -> Status:
    """Return the present status of the whole store, or of one deployment and its executions.

    Raises: PL-C010 for an unknown deployment, PL-C013 if several names begin so.
    """
    store, now = ctx.store, ctx.clock.now()
    owner = store.owner()
    rows = unfinished(store)
    view, numbers = None, None
    if deployment is not None:
        view = _view(ctx, deployment)
        rows = [row for row in rows if row.deployment_name == view.name]
        numbers = {row.number for row in rows}
    living = [row for row in rows if not row.status.is_ended]
    batches: Mapping[int, Sequence[BatchRow]] = _by_graph(store.batches(only_open=True))
    standings = [_standing(store, row, batches, now) for row in living[:LOOKED_AT]]
    counts: Counter[str] = Counter()
    for standing in standings:
        counts.update(standing.counts)
    failing = [call for row, one in zip(living, standings, strict=False) for call in _failing(store, row, one)]
    requests = sum(numbers is None or asked.execution in numbers for asked in store.requests())
    awaited = [one for row in living[:LOOKED_AT] for one in awaited_in(store, row)]
    last = store.incarnations.held()
    released = [row for row in rows if row.number > last or row.status.is_ended]
    held = len(rows) - len(released)
    seen = _Situation(store, now, owner, released, held, standings, awaited, failing, requests)
    needs = [need for find in NEEDS for need in find(seen)]
    return Status(
        now_at=now,
        store=store_state(ctx),
        engine=EngineState(owner.pid, owner.command, owner.since) if owner else None,
        start="" if owner else START,
        executions=standings,
        open_count=len(living),
        looked_into=len(standings),
        queued_count=sum(row.status is ExecutionStatus.QUEUED for row in living),
        request_count=requests,
        counts=dict(counts),
        due_at=min((standing.due_at for standing in standings if standing.due_at), default=0),
        overdue_count=sum(standing.overdue for standing in standings),
        unsure_count=counts[EntryStatus.UNSURE.word],
        needs=needs[:SHOWN_NEEDS],
        need_count=len(needs),
        deployment=view,
        failing=failing[:SHOWN_FAILING],
        failing_count=len(failing),
    )


def _failing(store: TenantStore, row: ExecutionRow, standing: ExecutionProgress) -> list[FailingCall]:
    """Return the failed calls of an execution that are being tried again.

    If its counts show no entry that can be in a retry, return nothing without reading the store.
    """
    if not any(standing.counts.get(status.word) for status in MAY_BE_RETRIED):
        return []
    return failing_now(store, row)


def _view(ctx: RequestContext, name: str) -> DeploymentView:
    """Return the deployment as lists show it."""
    found = deployments.show_deployment(ctx, name)
    return DeploymentView(**{item.name: getattr(found, item.name) for item in fields(DeploymentView)})


def store_state(ctx: RequestContext) -> StoreState:
    """Return the address and the sizes of the store. Its schema is the present one, because the store is open."""
    size, log = ctx.app.upkeep.sizes()
    return StoreState(shown_url(ctx.settings.store_url), size, log, sql_schema.SCHEMA_VERSION)


def _by_graph(batches: Sequence[BatchRow]) -> dict[int, list[BatchRow]]:
    found: dict[int, list[BatchRow]] = {}
    for batch in batches:
        for graph in set(batch.places.graphs):
            found.setdefault(graph, []).append(batch)
    return found


def _standing(
    store: TenantStore, row: ExecutionRow, batches: Mapping[int, Sequence[BatchRow]], now: int
) -> ExecutionProgress:
    graphs = store.graphs(row.number)
    shown = graphs if row.request.workflow == REACH_WORKFLOW else graphs[-1:]
    counts: Counter[str] = Counter()
    dues: list[int] = []
    overdue, ended, total = 0, 0, 0
    for graph in (one.id for one in shown):
        running = batches.get(graph, ())
        statuses = store.entry_statuses(graph, running).now
        tally = np.bincount(statuses, minlength=len(EntryStatus))
        counts.update({EntryStatus(status).word: int(count) for status, count in enumerate(tally) if count})
        ended, total = ended + int(tally[FIRST_ENDED:].sum()), total + len(statuses)
        overdue += sum(0 < batch.deadline_at < now - OVERDUE_MS for batch in running)
        if tally[EntryStatus.SLEEPING]:
            here = _dues(store, row, graph, statuses)
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


def _dues(store: TenantStore, row: ExecutionRow, graph: int, statuses: np.ndarray) -> list[int]:
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
    """

    store: TenantStore
    now: int
    owner: Owner | None
    rows: Sequence[ExecutionRow]
    held: int
    standings: Sequence[ExecutionProgress]
    awaited: Sequence[PendingDecision]
    failing: Sequence[FailingCall]
    requests: int


def _awaited_needs(seen: _Situation) -> Iterator[Need]:
    return (Need(one.text, one.mend) for one in seen.awaited)


def _held_needs(seen: _Situation) -> Iterator[Need]:
    them = f"{seen.held} executions wait" if seen.held > 1 else "1 execution waits"
    if seen.held:
        yield Need(f"{them} since the store was restored", errors.GO_ON)


def _silence_needs(seen: _Situation) -> Iterator[Need]:
    found = silence(seen.store, seen.now, seen.owner) if seen.owner is not None else None
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
