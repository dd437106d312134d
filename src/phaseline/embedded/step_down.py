"""Let an engine whose own execution has ended pass the other executions to another process, without long delays."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from phaseline.calls.threads.process_groups import DRAIN_S, GRACE_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.run.loop.engine import Engine

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
    """Continue all work while abandoned calls may still report; then end those that are processes."""
    _ends_within(DRAIN_S, engine, lambda: not engine.given_up)
    if engine.given_up.end():
        _ends_within(2 * GRACE_S, engine, lambda: not engine.given_up)


def _ends_within(seconds: float, engine: Engine, until: Callable[[], bool]) -> bool:
    """Run the engine for some seconds at most, or until a condition holds; True if it returned before the time was over."""
    over = time.monotonic() + seconds
    engine.run(lambda: time.monotonic() >= over or until())
    return time.monotonic() < over


def stays(row: ExecutionRow | None) -> str:
    """A sentence: calls of other executions run in a process whose own execution has ended."""
    own = f"{row.id} is over: {row.status}. " if row is not None and row.status.is_ended else ""
    return f"{own}Calls of other executions are running in this process: it stays their engine until it can hand over."
