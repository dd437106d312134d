"""Get requests answered even if no process owns the store.

If no engine runs, this process owns the store briefly: it stores the answers and calls no plugin.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from phaseline.app.watcher import NullWatcher
from phaseline.embedded.pauses import Pauses
from phaseline.embedded.run_execution import open_engine, try_own
from phaseline.model.problems.problem import problem_error

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext

LOOK_S = 0.02
"""Longest interval, in seconds, between two readings of the store."""
PATIENCE_S = 60.0
"""How long, in seconds, to wait for the engine's answer."""


def settle(ctx: RequestContext, requests: Sequence[int]) -> None:
    """Wait until all requests are answered, by the running engine or by this process as a brief owner of the store.

    Raises: PL-C035 if the engine does not answer within a minute.
    """
    deadline = time.monotonic() + PATIENCE_S
    with Pauses(ctx.store, LOOK_S) as pauses:
        while not _are_answered(ctx, requests):
            with ExitStack() as owned:
                if not pauses.is_short and try_own(ctx, owned):
                    _answer(ctx, requests)
                    continue
            if time.monotonic() > deadline:
                mend = "see what the engine does: phaseline engine status; it answers when it next reads its requests"
                raise problem_error("PL-C035", "the engine did not answer the request", mend)
            pauses.wait()


def _are_answered(ctx: RequestContext, requests: Sequence[int]) -> bool:
    return all(ctx.store.answer_of(number) is not None for number in requests)


def _answer(ctx: RequestContext, requests: Sequence[int]) -> None:
    """As the owner of the store, answer requests with an engine that begins no calls and calls no listener.

    Calls and listeners wait for the next engine. Open executions must be loaded for the answers, because a new target
    ends entries of the execution that moved a resource to its old target.
    """
    with open_engine(ctx, NullWatcher()) as engine:
        engine.interrupt()
        engine.phases.paths.tells_nobody = True
        engine.recover()
        engine.run(lambda: _are_answered(ctx, requests))
        engine.close(0)
