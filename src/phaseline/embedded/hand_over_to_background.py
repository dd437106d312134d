"""Hand the work of the store over to a background engine when this process leaves.

A process leaves on Ctrl-C, with ``--detach``, or after its own execution has ended, in three steps. ``step_aside``
waits until no call runs in this process. The process then releases the store. ``hand_over`` starts a background engine
if there is work but no other process for it; ``ensure_taken_up`` waits until an engine has accepted the submission of
the leaving process.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from phaseline.calls.threads.process_groups import DRAIN_S, GRACE_S
from phaseline.lang.fast_dataclasses import altered
from phaseline.use_cases.lookup.blocking_executions import has_open_work

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.run.loop.engine import Engine
    from phaseline.use_cases.commands.submission import SubmissionAnswer
    from phaseline.views.background import Background

TAKEN_UP_WITHIN_S = 10.0
"""How long, in seconds, a leaving process waits until another process has accepted its submission."""
BEGUN_WITHIN_S = 60.0
"""How long, in seconds, a leaving process waits for an engine that it has started and that is alive.

This is longer than ``TAKEN_UP_WITHIN_S``, because a busy machine starts a process slowly.
"""
LOOK_S = 0.05
"""Interval, in seconds, between two readings of the store."""
HELD_BACK_S = 1.0
"""How long, in seconds, a leaving process begins no calls while it waits for running calls to end."""
SERVES_S = 8.0
"""How long, in seconds, an engine runs other executions before it tries again to leave.

The time doubles after each failed try, up to ``SERVES_AT_MOST_S``.
"""
SERVES_AT_MOST_S = 60.0


def step_aside(engine: Engine, on_staying: Callable[[], None]) -> float:
    """Bring the engine to a point at which no call runs, so that another process can continue its work.

    A call in this process would end with the process, so it must be awaited. Meanwhile no call begins, but only for
    ``HELD_BACK_S``: if running calls take longer, call ``on_staying`` (once), run executions normally for a while, and
    try again. Return the number of seconds that calls still running may take to end.
    """
    serves_s, is_heard_out = 0.0, False
    while not engine.is_asked_to_stop:
        engine.interrupt()
        if _ends_within(HELD_BACK_S, engine, lambda: False):
            if is_heard_out or not engine.given_up:
                return 0 if is_heard_out else DRAIN_S
            engine.go_on()
            hear_out(engine)
            is_heard_out = True
            continue
        if not serves_s:
            on_staying()
        serves_s = min(2 * serves_s, SERVES_AT_MOST_S) if serves_s else SERVES_S
        engine.go_on()
        _ends_within(serves_s, engine, lambda: engine.leaving.is_wanted or not engine.is_calling)
    engine.run(lambda: False)
    return DRAIN_S


def hear_out(engine: Engine) -> None:
    """Run the engine until abandoned calls have returned; after ``DRAIN_S``, end their processes."""
    _ends_within(DRAIN_S, engine, lambda: not engine.given_up)
    if engine.given_up.end():
        _ends_within(2 * GRACE_S, engine, lambda: not engine.given_up)


def _ends_within(seconds: float, engine: Engine, until: Callable[[], bool]) -> bool:
    """Run the engine until ``until`` returns True, at most for the given number of seconds.

    Return True if the engine stopped before these seconds were over.
    """
    over = time.monotonic() + seconds
    engine.run(lambda: time.monotonic() >= over or until())
    return time.monotonic() < over


def stays(row: ExecutionRow | None) -> str:
    """Return a sentence: this process stays, because calls of other executions still run in it."""
    own = f"{row.id} has ended: {row.status}. " if row is not None and row.status.is_ended else ""
    return f"{own}Calls of other executions are running in this process: it stays their engine until it can hand over."


def hand_over(ctx: RequestContext, within_s: float = TAKEN_UP_WITHIN_S) -> Background | None:
    """Start a background engine if there is open work and no process owns the store or waits to own it.

    A leaving process must release the store before it calls this: if two processes leave at once, the last one then
    sees the work. A process that seems to wait for the store may itself be leaving; therefore read the store until it
    has an owner or ``within_s`` is over.
    """
    store = ctx.app.store
    deadline = time.monotonic() + within_s
    while ctx.app.launch is not None and store.owner() is None and has_open_work(store):
        if not store.somebody_waits():
            return _launched(ctx, within_s)
        if time.monotonic() > deadline:
            break
        time.sleep(LOOK_S)
    return None


def _launched(ctx: RequestContext, within_s: float) -> Background | None:
    """Start a background engine and wait until the store has an owner or no open work.

    Raises: PL-S015 if the engine has died.
    """
    assert ctx.app.launch is not None
    ctx.store.changed()  # raises for a deleted store, of which the engine would create a new one
    background = ctx.app.launch(ctx.app)
    deadline = time.monotonic() + within_s
    while background is not None and time.monotonic() < deadline:
        is_gone = not background.is_alive
        if ctx.store.owner() is not None or not has_open_work(ctx.app.store):
            break
        if is_gone:
            from phaseline.app.background_engine import died

            raise died(background.last_words())
        time.sleep(LOOK_S)
    return background


def ensure_taken_up(
    ctx: RequestContext, answer: SubmissionAnswer, within_s: float = BEGUN_WITHIN_S
) -> Background | None:
    """Wait until a process has accepted the submission and, if there is open work, owns the store.

    If necessary, start a background engine for that. If this engine does not own the store after ``within_s``, return it
    with ``has_begun`` False. Raises: PL-S015 if the engine has died.
    """
    from phaseline.embedded.pauses import Pauses  # few commands leave their execution to another process

    background = None
    begun = time.monotonic()
    with Pauses(ctx.store, LOOK_S) as pauses:
        while time.monotonic() < begun + (TAKEN_UP_WITHIN_S if background is None else within_s):
            is_gone = background is not None and not background.is_alive
            is_owned = ctx.store.owner() is not None
            if answer.has_come(ctx.store) and (is_owned or not has_open_work(ctx.app.store)):
                break
            if is_gone and not is_owned:
                from phaseline.app.background_engine import died

                assert background is not None
                raise died(background.last_words())
            if not is_owned and background is None:
                background = hand_over(ctx, min(within_s, TAKEN_UP_WITHIN_S))
                if background is None and not ctx.store.somebody_waits():
                    break
            pauses.wait()
        else:
            if background is not None and ctx.store.owner() is None:
                return altered(background, has_begun=False)
    return background
