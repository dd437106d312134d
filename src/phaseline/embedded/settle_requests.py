"""Let requests be answered even if no process owns the store.

If no engine runs, this process becomes the owner for a moment: answers are stored, and no plugin is called.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from phaseline.app.watcher import NullWatcher
from phaseline.embedded.run_execution import open_engine, try_own
from phaseline.model.problems.problem import problem_error

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext

LOOK_S = 0.02
PATIENCE_S = 60.0
"""The longest wait for an answer of an engine."""


def settle(ctx: RequestContext, requests: Sequence[int]) -> None:
    """Wait until all requests are answered, by the running engine or by this process as a brief owner.

    Raises: PL-C035.
    """
    deadline = time.monotonic() + PATIENCE_S
    while not _are_answered(ctx, requests):
        with ExitStack() as owned:
            if try_own(ctx, owned):
                _answer(ctx, requests)
                continue
        if time.monotonic() > deadline:
            mend = "see what the engine does: phaseline engine status; it answers when it next reads its requests"
            raise problem_error("PL-C035", "the engine did not answer the request", mend)
        time.sleep(LOOK_S)


def _are_answered(ctx: RequestContext, requests: Sequence[int]) -> bool:
    return all(ctx.store.answer_of(number) is not None for number in requests)


def _answer(ctx: RequestContext, requests: Sequence[int]) -> None:
    """As the owner, answer requests with an engine that begins no call and calls no listener; both wait for the next engine.

    Open executions must be loaded: a new target ends entries that an old one began.
    """
    with open_engine(ctx, NullWatcher()) as engine:
        engine.interrupt()
        engine.phases.paths.tells_nobody = True
        engine.recover()
        engine.run(lambda: _are_answered(ctx, requests))
        engine.close(0)
