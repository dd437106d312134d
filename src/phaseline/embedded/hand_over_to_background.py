"""Hand the store's work over to a background engine when this process leaves: on Ctrl-C, with --detach, or after its own execution.

Leaving has three steps. ``step_aside`` finds a moment in which no call runs in this process. The process then releases the
store. ``hand_over`` starts an engine in the background if there is work that no process has; ``ensure_taken_up`` waits until
an engine has accepted the submission of the leaving process.
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
"""The longest time for which a leaving process waits until another one has accepted its submission."""
BEGUN_WITHIN_S = 60.0
"""The same if an engine was started for it and is alive: a machine may be busy."""
LOOK_S = 0.05
"""The interval between looks at the store."""
HELD_BACK_S = 1.0
"""The longest time for which no calls begin while a leaving process waits for running ones."""
SERVES_S = 8.0
"""The time for which an engine serves other executions before it tries to leave again.

It doubles after each failed try, up to ``SERVES_AT_MOST_S``.
"""
SERVES_AT_MOST_S = 60.0


def step_aside(engine: Engine, on_staying: Callable[[], None]) -> float:
    """Reach a point at which no call runs, so that another process can continue, without long delays.

    A call in this process would end with it, so it has to be awaited. New calls are held back for that, but only for a
    moment: if running calls take longer, executions are served as before, and this process tries again. ``on_staying`` is
    called once if that is so. The result: the number of seconds that calls still running may take to end.
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
    """Continue all work while abandoned calls may still report; then end those of them that are processes."""
    _ends_within(DRAIN_S, engine, lambda: not engine.given_up)
    if engine.given_up.end():
        _ends_within(2 * GRACE_S, engine, lambda: not engine.given_up)


def _ends_within(seconds: float, engine: Engine, until: Callable[[], bool]) -> bool:
    """Run the engine for some seconds at most, or until a condition holds; True if it returned before the time was over."""
    over = time.monotonic() + seconds
    engine.run(lambda: time.monotonic() >= over or until())
    return time.monotonic() < over


def stays(row: ExecutionRow | None) -> str:
    """A sentence that this process stays because calls of other executions still run in it."""
    own = f"{row.id} has ended: {row.status}. " if row is not None and row.status.is_ended else ""
    return f"{own}Calls of other executions are running in this process: it stays their engine until it can hand over."


def hand_over(ctx: RequestContext, within_s: float = TAKEN_UP_WITHIN_S) -> Background | None:
    """Start a background engine if there is work and no process owns the store or waits to own it.

    A leaving process first releases its own lock and then looks, so that of two that leave at once one sees the work. A
    process that seems to wait may be about to leave itself: the store is checked until it has an owner, or time is up.
    """
    store = ctx.store
    deadline = time.monotonic() + within_s
    while ctx.app.launch is not None and store.owner() is None and has_open_work(store):
        if not store.somebody_waits():
            return _launched(ctx, within_s)
        if time.monotonic() > deadline:
            break
        time.sleep(LOOK_S)
    return None


def _launched(ctx: RequestContext, within_s: float) -> Background | None:
    """Start a background engine and wait until the store has an owner or no open work. Raises: PL-S015 if it died."""
    assert ctx.app.launch is not None
    ctx.store.changed()  # raises for a deleted store, of which the engine would create a new one
    background = ctx.app.launch(ctx.app)
    deadline = time.monotonic() + within_s
    while background is not None and time.monotonic() < deadline:
        is_gone = not background.is_alive
        if ctx.store.owner() is not None or not has_open_work(ctx.store):
            break
        if is_gone:
            from phaseline.app.background_engine import died

            raise died(background.last_words())
        time.sleep(LOOK_S)
    return background


def ensure_taken_up(
    ctx: RequestContext, answer: SubmissionAnswer, within_s: float = BEGUN_WITHIN_S
) -> Background | None:
    """Ensure that a process has accepted the submission, and that the store has an owner while there is work.

    A background engine that has not done so after ``within_s`` is returned as one that has not begun.
    Raises: PL-S015 if the background engine that was started for this has died.
    """
    background = None
    begun = time.monotonic()
    while time.monotonic() < begun + (TAKEN_UP_WITHIN_S if background is None else within_s):
        is_gone = background is not None and not background.is_alive
        is_owned = ctx.store.owner() is not None
        if answer.has_come(ctx.store) and (is_owned or not has_open_work(ctx.store)):
            break
        if is_gone and not is_owned:
            from phaseline.app.background_engine import died

            assert background is not None
            raise died(background.last_words())
        if not is_owned and background is None:
            background = hand_over(ctx, min(within_s, TAKEN_UP_WITHIN_S))
            if background is None and not ctx.store.somebody_waits():
                break
        time.sleep(LOOK_S)
    else:
        if background is not None and ctx.store.owner() is None:
            return altered(background, has_begun=False)
    return background
