"""Follow a run over a deployment group: run its executions as the owner of the store, or wait for the owner to do it (GR3)."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

from phaseline.app.watcher import LOOK_S, NullWatcher
from phaseline.calls.threads.process_groups import DRAIN_S
from phaseline.embedded import hand_over_to_background as leaving
from phaseline.embedded.run_execution import LeaveRequest, open_engine, try_own
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.row_queries import ExecutionQuery
from phaseline.store import MEMORY
from phaseline.use_cases.lookup.blocking_executions import goes_on, has_open_work, held_by_runs

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.app.watcher import Watcher
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.lease import Lease
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.run.loop.engine import Engine
    from phaseline.use_cases.commands.submission import RunSubmission, SubmissionAnswer

T = TypeVar("T")


class _RequestAnswer:
    """Whether the owner of the store has carried out the request about a run."""

    def __init__(self, request: int) -> None:
        self._request = request
        self._has_come = not request

    def has_come(self, store: TenantStore) -> bool:
        """Return True once the request is answered; at once if there is none."""
        self._has_come = self._has_come or store.answer_of(self._request) is not None
        return self._has_come


def follow_run(
    ctx: RequestContext, submission: RunSubmission[T], watcher: Watcher | None = None, *, detach: bool = False
) -> T:
    """Follow a run until all its executions have ended or need an operator, or the user wants to leave.

    If executions are open then, another process continues them. ``detach``: return as soon as an engine has taken the
    request. Raises: PL-S008 for a detached run of a store in memory.
    """
    if detach and ctx.settings.store_url == MEMORY:
        text = "the run cannot be detached: a store in memory ends with its command"
        raise problem_error("PL-S008", text, "omit --detach, or name a file with --store sqlite:///PATH")
    watching, leave, answer = watcher or NullWatcher(), LeaveRequest(), _RequestAnswer(submission.request)
    for warning in submission.warnings:
        watching.noticed(f"warning {warning}; {warning.mend}")
    is_over = False
    if not detach:
        watching.begun(submission.id, submission.group, leave)
        try:
            is_over = _until_over(ctx, submission, answer, leave)
        except KeyboardInterrupt:
            leaving.hand_over(ctx)
            raise
        finally:
            watching.ended()
    if not is_over:
        told: SubmissionAnswer = answer  # type: ignore[assignment] # all that is asked of it is whether it has come
        leaving.ensure_taken_up(ctx, told)
    elif ctx.app.launch is not None and has_open_work(ctx.app.store):
        leaving.hand_over(ctx)
    return submission.view()


def _until_over(ctx: RequestContext, submission: RunSubmission[T], answer: _RequestAnswer, leave: LeaveRequest) -> bool:
    """Wait until the run is over or this process owns the store, which then works until it is. Return False if left."""
    look = 0
    while True:
        with ExitStack() as owned:
            with ctx.app.store.waiting():
                lease: Lease | None = None
                while lease is None:
                    if leave.is_wanted:
                        return False
                    lease = try_own(ctx, owned)
                    if lease is None:
                        now = ctx.store.changed(look)
                        look = now or look
                        if now and answer.has_come(ctx.store) and _is_over(ctx, submission):
                            return True
                        time.sleep(LOOK_S)
            with open_engine(ctx, lease, NullWatcher()) as engine:
                leave.interrupts(engine)
                if _work(ctx, engine, submission, answer, leave):
                    return True
                if engine.is_asked_to_stop:
                    return False


def _work(
    ctx: RequestContext, engine: Engine, submission: RunSubmission[T], answer: _RequestAnswer, leave: LeaveRequest
) -> bool:
    """Run all open executions as the owner of the store until the run is over; return False if the user leaves before."""
    engine.recover()
    pending: list[int] | None = None

    def is_over() -> bool:
        nonlocal pending
        if not (engine.has_turned and answer.has_come(ctx.store)):
            return False
        if not submission.is_followed:
            return True
        if pending is None:  # read after the request was carried out, which may have continued ended executions
            pending = [row.number for row in executions_of(ctx, submission.run) if not row.status.is_ended]
        while pending and engine.has_ended(pending[-1]) and pending[-1] not in engine.known:
            pending.pop()
        return not pending or (engine.is_idle and not engine.is_calling and _is_over(ctx, submission))

    engine.run(lambda: is_over() or leave.is_wanted)
    found = is_over()
    drain_s = DRAIN_S
    mine = {row.number for row in executions_of(ctx, submission.run)} if submission.is_followed else set()
    if has_open_work(ctx.app.store, besides=mine):
        drain_s = leaving.step_aside(engine, lambda: None)
    engine.close(drain_s)
    return found


def _is_over(ctx: RequestContext, submission: RunSubmission[T]) -> bool:
    """Return True if each execution of the run has ended, needs an operator, or is held back by the run itself."""
    if not submission.is_followed:
        return True
    rows = [row for row in executions_of(ctx, submission.run) if not row.status.is_ended]
    held = held_by_runs(ctx.store, rows)
    return all(row.number in held or _needs_person(ctx.store, row) for row in rows)


def _needs_person(store: TenantStore, row: ExecutionRow) -> bool:
    return row.status is ExecutionStatus.ATTENTION or not goes_on(store, row)


def executions_of(ctx: RequestContext, run: int) -> list[ExecutionRow]:
    """Return the executions of a run, by number."""
    found = ctx.store.group_runs.find(run)
    numbers = [] if found is None else list(ctx.store.group_runs.statuses(found))
    return sorted(ctx.store.listings.executions(ExecutionQuery(numbers=numbers)), key=lambda row: row.number)
