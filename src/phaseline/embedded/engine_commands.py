"""Commands for the engine without an execution of its own: run it, show its status, stop it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Literal

from phaseline.app.watcher import LOOK_S, NullWatcher
from phaseline.calls.threads.process_groups import DRAIN_S
from phaseline.embedded.abandoned_calls import GivenUp, given_up, running_calls
from phaseline.embedded.hand_over_to_background import hear_out
from phaseline.embedded.pauses import Pauses
from phaseline.embedded.run_execution import LeaveRequest, open_engine, try_own
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows import row_queries
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.lookup.blocking_executions import has_open_work
from phaseline.use_cases.queries.executions import brief_view
from phaseline.use_cases.queries.pending_decisions import standing_still, stands_still
from phaseline.views.views import ExecutionView

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import Owner
    from phaseline.ports.lease import Lease
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.run.loop.engine import Engine
    from phaseline.use_cases.queries.status import Need

SOON_MS = 1_000
"""Longest time, in ms, until an entry wakes for which an idle engine waits instead of stopping.

An entry that sleeps longer may be waiting for an operator.
"""
Reason = Literal["idle", "asked to stop", "interrupted"]
"""Reasons for which an engine stops."""


@frozen
class EngineRun:
    """The result of a stopped engine: why it stopped, how many calls it made and abandoned, and the open executions.

    ``waiting``: ids of open executions that wait for an operator. ``needs``: the approvals that such executions wait
    for, with the commands that give them. ``failed``: executions that failed while the engine ran, latest last.
    """

    reason: Reason
    calls: int
    open: Sequence[ExecutionView]
    waiting: Sequence[str] = ()
    given_up: Sequence[GivenUp] = ()
    failed: Sequence[ExecutionView] = ()
    needs: Sequence[Need] = ()

    @property
    def is_good(self) -> bool:
        """False if the engine stopped as idle although executions wait for an operator."""
        return self.reason != "idle" or not self.waiting


@frozen
class EngineStatus:
    """The owner of the store, the processes that wait to own it, and the open work.

    ``pid``: of the owner; 0 if there is none or its id is unknown. ``unanswered``: number of requests without an
    answer.
    """

    is_running: bool
    pid: int
    command: str
    since_at: int
    somebody_waits: bool
    unanswered: int
    open: Sequence[ExecutionView]


@frozen
class StoppedEngine:
    """The result of a request to stop the engine.

    ``pid``: of the stopped engine, 0 if none was running. ``successor``: pid of the process that took over, 0 if none.
    ``given_up``: the calls that it abandoned.
    """

    pid: int
    successor: int
    open: Sequence[ExecutionView]
    given_up: Sequence[GivenUp] = ()


def run_engine(
    ctx: RequestContext,
    *,
    until_idle: bool = False,
    stays: bool = False,
    due: bool = False,
    begun: Callable[[LeaveRequest], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> EngineRun:
    """Wait until no other process owns the store, then run the engine until it is requested to stop.

    ``until_idle``: stop as well once all open executions wait for an operator. ``stays``: do not stop while an approval
    is pending, but continue when it is given. ``due``: start what schedules have due now, work until idle, and leave at
    once if another process is the engine, which starts it too. ``begun`` receives a function by which a signal handler can stop the
    engine. When it stops, no other engine is started; a process that waits to own the store takes over.
    """
    until_idle = until_idle or due
    leave = LeaveRequest()
    begun(leave)
    calls = 0
    left: list[GivenUp] = []
    start = ctx.clock.now()
    held: frozenset[int] = frozenset()
    while True:
        with ExitStack() as owned:
            with ctx.app.store.waiting():
                found = _stand_by(ctx, leave, owned, say, until_idle=until_idle, stays=stays, due=due)
            if isinstance(found, str):
                reason = found
            else:
                say("The engine runs")
                reason, made, held = _work(ctx, leave, found, until_idle=until_idle, stays=stays, due=due)
                calls += made
                left = given_up(ctx.app.store, running_calls(ctx.app.store))
        besides = held | (set() if stays else set(standing_still(ctx.app.store)))
        if reason != "idle" or ctx.store.owner() is not None or not has_open_work(ctx.app.store, besides=besides):
            views, needs = _open(ctx), _needs(ctx.store)
            waiting = [view.id for view in views if view.status is ExecutionStatus.ATTENTION or view.id in needs]
            told = [need for found in needs.values() for need in found]
            return EngineRun(reason, calls, views, waiting, left, _failed_since(ctx, start), told)


def _needs(store: TenantStore) -> Mapping[str, Sequence[Need]]:
    """Return {id of an execution that cannot continue without an approval: its pending approvals}."""
    from phaseline.use_cases.queries.status import Need

    return {
        row.id: [Need(one.text, one.mend) for one in waits] for row, waits in standing_still(store).values() if waits
    }


def _failed_since(ctx: RequestContext, start: int) -> Sequence[ExecutionView]:
    wanted = row_queries.ExecutionQuery(statuses=(ExecutionStatus.FAILED,), ended_since=start)
    rows = ctx.store.listings.executions(wanted)
    return [brief_view(row) for row in sorted(rows, key=lambda row: row.ended_at)]


def _stand_by(
    ctx: RequestContext,
    leave: LeaveRequest,
    owned: ExitStack,
    say: Callable[[str], None],
    *,
    until_idle: bool,
    stays: bool,
    due: bool,
) -> Reason | Lease:
    """Wait until this process owns the store, and return the lease.

    Return the reason instead if the engine need not run any more: an interrupt, or no open work; with ``due`` also
    another engine, as soon as no schedule is due.
    """
    look = 0
    named: Owner | None = None
    while True:
        if leave.is_wanted:
            return "interrupted"
        now = ctx.store.changed(look)
        store = ctx.app.store
        is_due = due and _is_due(ctx)
        if due and not is_due and store.owner() is not None:
            return "idle"
        is_looked_at = until_idle and now and not is_due
        if is_looked_at and not has_open_work(store, besides=() if stays else standing_still(store)):
            return "idle"
        look = now or look
        if lease := try_own(ctx, owned):
            return lease
        owner = ctx.store.owner()
        if owner is not None and owner != named:
            say(f"Waiting: {owner} is the engine")
            if named is None:
                from phaseline.embedded.warm_standby import warm_up

                warm_up(ctx)
            named = owner
        time.sleep(LOOK_S)


def _is_due(ctx: RequestContext) -> bool:
    """Return True if a schedule is due now."""
    if not ctx.app.store.has_schedules:
        return False
    next_at = ctx.app.store.firings.next_at()
    return next_at is not None and next_at <= ctx.clock.now()


def _work(
    ctx: RequestContext, leave: LeaveRequest, lease: Lease, *, until_idle: bool, stays: bool, due: bool
) -> tuple[Reason, int, frozenset[int]]:
    """Run all open executions and requests as the owner of the store.

    Return (why the engine stopped, number of calls made, executions that wait for an operator).
    """
    with open_engine(ctx, lease, NullWatcher()) as engine:
        leave.interrupts(engine)
        engine.recover()

        def is_done() -> bool:
            if due and not engine.has_turned:
                return False  # its first turn starts what is due
            return until_idle and (engine.is_idle or (not stays and _rests(ctx, engine)))

        engine.run(is_done)
        while engine.given_up and not engine.leaving.is_wanted:
            hear_out(engine)  # and serve requests that arrive meanwhile
            if is_done():
                break
            engine.run(is_done)
        held = engine.held
        engine.close(DRAIN_S)
    if engine.is_asked_to_stop:
        return "asked to stop", engine.calls, held
    return "interrupted" if leave.is_wanted else "idle", engine.calls, held


def _rests(ctx: RequestContext, engine: Engine) -> bool:
    """Return whether everything in this engine waits for an approval, so that the engine can stop."""
    soon, wakes_at = ctx.clock.now() + SOON_MS, engine.entries_wake_at
    if engine.is_calling or engine.scheduler.batches or engine.claims.waits_for_calls:
        return False
    if wakes_at is not None and wakes_at <= soon:
        return False
    held = engine.held
    runs = [run for run in engine.scheduler.runs.values() if run.status is not ExecutionStatus.ATTENTION]
    moving = [engine.planning.row(run.execution) for run in runs if run.execution not in held]
    return all(stands_still(ctx.app.store, row) for row in moving)


def engine_status(ctx: RequestContext) -> EngineStatus:
    """Return the owner of the store, and the open executions."""
    store = ctx.store
    owner = store.owner()
    return EngineStatus(
        owner is not None,
        owner.pid if owner else 0,
        owner.command if owner else "",
        owner.since if owner else 0,
        store.somebody_waits(),
        len(store.requests()),
        _open(ctx),
    )


def stop_engine(ctx: RequestContext, *, drain_s: float | None = None) -> StoppedEngine:
    """Request that the engine stops, and wait until it has stopped.

    It begins no further call, and stops when running calls have returned or after ``drain_s`` seconds. Executions stay
    open unless a process that waits to own the store takes over. The result contains the abandoned calls.
    """
    owner = ctx.store.owner()
    if owner is None:
        return StoppedEngine(0, 0, _open(ctx))
    body: Mapping[str, Value] = {"holder": owner.holder, "pid": owner.pid, "drain_s": drain_s}
    running = running_calls(ctx.store)
    request = ctx.store.ask(RequestKind.STOP, 0, body, ctx.actor)
    is_held = False
    with Pauses(ctx.store, LOOK_S) as pauses:
        while True:
            now = ctx.store.owner()
            has_left = now is None or (now.holder, now.pid, now.since) != (owner.holder, owner.pid, owner.since)
            if not is_held and (has_left or ctx.store.answer_of(request) is not None):
                is_held = True  # from its answer on it begins no call
                running |= running_calls(ctx.store)
            if has_left:
                return StoppedEngine(owner.pid, now.pid if now else 0, _open(ctx), given_up(ctx.store, running))
            pauses.wait()


def _open(ctx: RequestContext) -> Sequence[ExecutionView]:
    return [brief_view(row) for row in ctx.store.executions(only_open=True)]
