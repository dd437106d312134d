"""How an engine whose own work is done leaves that of others to another process, without holding anybody up for long."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from phaseline.calls.threads.process_groups import DRAIN_S, GRACE_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.run.loop.engine import Engine

HELD_BACK_S = 1.0
"""So long nobody's calls begin at most while whoever wants to leave waits for those that run."""
SERVES_S = 8.0
"""So long an engine whose own work is done goes on with that of others before it tries to leave once more; twice as
long after each try that came to nothing, ``SERVES_AT_MOST_S`` in the end."""
SERVES_AT_MOST_S = 60.0


def step_aside(engine: Engine, on_staying: Callable[[], None]) -> float:
    """Come to where no call runs, so that another process can go on, and hold nobody up for long meanwhile.

    A call that runs in this process ends with it, so it has to be awaited. What has not begun is held back for that, but
    only for a moment: where calls of others take longer, they are served as before, and this process tries again.
    ``on_staying`` is called once if that is so. The result: how many seconds calls may take to end that still run.
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
    """Go on with everything while calls that were given up may still say something; then end those that are processes."""
    _ends_within(DRAIN_S, engine, lambda: not engine.given_up)
    if engine.given_up.end():
        _ends_within(2 * GRACE_S, engine, lambda: not engine.given_up)


def _ends_within(seconds: float, engine: Engine, until: Callable[[], bool]) -> bool:
    """Let it work for so long, or until something holds; True if it has come to its end before the time was over."""
    over = time.monotonic() + seconds
    engine.run(lambda: time.monotonic() >= over or until())
    return time.monotonic() < over


def stays(row: ExecutionRow | None) -> str:
    """That calls of others run in a process whose own work is done."""
    own = f"{row.id} is over: {row.status}. " if row is not None and row.status.is_ended else ""
    return f"{own}Calls of other executions are running in this process: it stays their engine until it can hand over."
