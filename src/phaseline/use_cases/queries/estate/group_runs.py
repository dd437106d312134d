"""Runs over deployment groups: lists, progress, failures and events (GR6)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.groups import NO_LIMIT
from phaseline.model.rows.row_queries import ExecutionQuery
from phaseline.use_cases.queries.estate.groups import find_group
from phaseline.use_cases.queries.executions import view_execution

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.groups import RunRow
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.tenant_store import TenantStore

RUN_ID = re.compile(r"run-([0-9]{1,18})")
MOST_SLOW = 5
"""Most of the slowest executions that a view names."""
MOST_READ = 200
"""Most failed executions whose failures are read."""
MOST_NAMED = 5
"""Most deployments that a group of failures names."""


@frozen
class SlowExecution:
    """An execution that took long, or has been open for long. ``took_ms`` is until its end, or until now."""

    execution: str
    deployment: str
    status: str
    took_ms: int


@frozen
class RunFailure:
    """Equal failures of several deployments: how many, of which operation of which node, and some of the deployments."""

    count: int
    message: str
    operation: str
    node: str
    deployments: Sequence[str]


@frozen
class RunView:
    """A run over a deployment group. ``status``: ``queued``, ``running``, ``paused``, ``attention``, ``completed``,
    ``failed`` or ``canceled``. ``counts``: {status: number of executions}.

    ``concurrency``: how many executions are open at a time, None for all. ``stop_failures``: after more failures than
    this no other execution begins; None: never. ``left_out``: deployments for which the workflow is not available.
    ``refused``: executions that could not carry out the command. ``ended_at`` is 0 while an execution is open.
    """

    id: str
    group: str
    workflow: str
    status: str
    counts: Mapping[str, int]
    total: int
    concurrency: int | None
    stop_failures: int | None
    created_at: int
    created_by: str
    ended_at: int
    slowest: Sequence[SlowExecution] = ()
    left_out: Sequence[str] = ()
    refused: Sequence[str] = ()
    warnings: Sequence[Problem] = ()

    @property
    def is_good(self) -> bool:
        """True unless an execution has failed, was canceled or waits for an operator."""
        return not ({"failed", "canceled", "attention"} & self.counts.keys())


@frozen
class RunFailures:
    """The failures of a run, grouped by operation and message, most frequent first.

    ``is_shortened``: more executions failed than were read.
    """

    id: str
    group: str
    failures: Sequence[RunFailure]
    failed: int
    is_shortened: bool


@frozen
class RunEvent:
    """An event of an execution of a run."""

    at: int
    execution: str
    deployment: str
    type: str
    message: str


@frozen
class RunEvents:
    """The first events of each execution of a run, by time."""

    id: str
    group: str
    events: Sequence[RunEvent]


def list_runs(ctx: RequestContext, name: str, *, limit: int = 20) -> Sequence[RunView]:
    """Return the latest runs over a group, latest first. Raises: PL-C160 if there is neither the group nor a run of it."""
    rows = ctx.store.group_runs.of(name, limit)
    if not rows:
        find_group(ctx.store, name)
    return [run_view(ctx, row) for row in rows]


def show_run(ctx: RequestContext, run: str) -> RunView:
    """Return a run by its id, or the latest one over a group. Raises: PL-C160, PL-C170."""
    return run_view(ctx, find_run(ctx.store, run))


def find_run(store: TenantStore, name: str) -> RunRow:
    """Return the run with this id, or the latest one over the group with this name. Raises: PL-C160, PL-C170."""
    found = RUN_ID.fullmatch(name)
    if found is not None:
        row = store.group_runs.find(int(found[1]))
        if row is None:
            mend = "see the runs of a group: phaseline groups runs NAME"
            raise problem_error("PL-C170", f"there is no run '{name}'", mend, subject=name)
        return row
    rows = store.group_runs.of(name, 1)
    if not rows:
        find_group(store, name)
        mend = f"begin one: phaseline groups run {name} WORKFLOW"
        raise problem_error("PL-C170", f"no workflow was run over the group '{name}'", mend, subject=name)
    return rows[0]


def executions(store: TenantStore, row: RunRow) -> Sequence[ExecutionRow]:
    """Return the executions of a run, by number."""
    numbers = list(store.group_runs.statuses(row))
    found = store.listings.executions(ExecutionQuery(numbers=numbers)) if numbers else ()
    return sorted(found, key=lambda one: one.number)


def run_view(
    ctx: RequestContext,
    row: RunRow,
    *,
    left_out: Sequence[str] = (),
    refused: Sequence[str] = (),
    warnings: Sequence[Problem] = (),
) -> RunView:
    """Return a run with the numbers of its executions by status, and the slowest of them."""
    rows = executions(ctx.store, row)
    counts = Counter(one.status.value for one in rows)
    now = ctx.clock.now()
    begun = [one for one in rows if one.started_at]
    slow = sorted(begun, key=lambda one: (one.started_at - (one.ended_at or now), one.number))[:MOST_SLOW]
    is_over = all(one.status.is_ended for one in rows)
    return RunView(
        row.id,
        row.group_name,
        row.workflow,
        status_of(row, counts, has_begun=bool(begun)),
        dict(sorted(counts.items())),
        len(rows),
        None if row.concurrency == NO_LIMIT else row.concurrency,
        None if row.stop_failures == NO_LIMIT else row.stop_failures,
        row.created_at,
        row.created_by,
        max((one.ended_at for one in rows), default=row.created_at) if is_over else 0,
        [
            SlowExecution(one.id, one.deployment_name, one.status.value, (one.ended_at or now) - one.started_at)
            for one in slow
        ],
        left_out,
        refused,
        warnings,
    )


def status_of(row: RunRow, counts: Mapping[str, int], *, has_begun: bool) -> str:
    """Return the status of a run whose executions have these statuses.

    Unlike in Cloudify, a run all of whose other executions were canceled is canceled, not completed.

    >>> from phaseline.model.rows.groups import RunRow
    >>> row = RunRow(1, 1, "shops", "install", -1, -1, False, 0, "ann")
    >>> [status_of(row, counts, has_begun=True) for counts in ({"completed": 2, "canceled": 1}, {"failed": 1, "running": 1})]
    ['canceled', 'running']
    """
    ended = sum(counts.get(status.value, 0) for status in ExecutionStatus if status.is_ended)
    if ended < sum(counts.values()):
        if counts.get("running") or counts.get("canceling"):
            return "running"
        if counts.get("attention"):
            return "attention"
        if row.limit == 0:
            return "paused"
        return "running" if has_begun else "queued"
    return "failed" if counts.get("failed") else "canceled" if counts.get("canceled") else "completed"


def run_failures(ctx: RequestContext, run: str) -> RunFailures:
    """Return the failures of a run, grouped by operation and message. Raises: PL-C160, PL-C170."""
    row = find_run(ctx.store, run)
    failed = [
        one for one in executions(ctx.store, row) if one.status in {ExecutionStatus.FAILED, ExecutionStatus.ATTENTION}
    ]
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in failed[:MOST_READ]:
        told = view_execution(ctx.store, one).failures
        seen = {(failure.message, failure.operation, failure.node) for failure in told} or {(one.reason, "", "")}
        for key in seen:
            groups.setdefault(key, []).append(one.deployment_name)
    found = [RunFailure(len(names), *key, sorted(names)[:MOST_NAMED]) for key, names in groups.items()]
    ordered = sorted(found, key=lambda one: (-one.count, one.message, one.operation, one.node))
    return RunFailures(row.id, row.group_name, ordered, len(failed), len(failed) > MOST_READ)


def run_events(ctx: RequestContext, run: str, *, limit: int = 1_000) -> RunEvents:
    """Return the events of all executions of a run by time, the last ``limit`` of them. Raises: PL-C160, PL-C170."""
    row = find_run(ctx.store, run)
    found = [
        RunEvent(event.at, one.id, one.deployment_name, event.type, event.message)
        for one in executions(ctx.store, row)
        for event in ctx.store.events(one.number)
    ]
    found.sort(key=lambda event: event.at)
    return RunEvents(row.id, row.group_name, found[-limit:])
