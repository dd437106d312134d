"""Asking the owner of the store for something about resources, and having it answered though nobody owns the store.

Where no engine runs, this process is the owner for a moment: what was asked for is written down, and no plugin is called.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from phaseline.app.watcher import Nobody
from phaseline.model.problems.problem import ProblemsError, fail
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.lookup.running_engine import Engine, engine_now

if TYPE_CHECKING:
    from phaseline.app.app_context import Workplace
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.orders import NewOrder

LOOK_S = 0.02
PATIENCE_S = 60.0
"""So long an engine may take to answer."""


def ask_for(
    place: Workplace,
    asked: Sequence[tuple[RequestKind, int, Mapping[str, Value]]],
    *,
    given: NewOrder | None = None,
    told: Mapping[str, Value] | None = None,
) -> Engine:
    """Ask for all of it, all or nothing, and await the answers; who will go on with it. Each is (kind, execution, body).

    ``given``: the order that this is, ``told``: what its answer needs. Raises: what the owner refused, all of it; PL-C035 if an engine does not answer.
    """
    with place.store.as_one(given) as answer:
        answer.update(told or {})
        numbers = [place.store.ask(kind, execution, body, place.actor) for kind, execution, body in asked]
    engine = settle(place, numbers)
    refuse_refused(place, numbers)
    return engine


def refuse_refused(place: Workplace, requests: Sequence[int]) -> None:
    """Raise what the owner refused of these."""
    refused = [problem for number in requests if (problem := _refusal(place, number)) is not None]
    if refused:
        raise ProblemsError(refused)


def settle(place: Workplace, requests: Sequence[int]) -> Engine:
    """Wait until all are answered, by the engine that runs or by this process for the moment; who goes on."""
    deadline = time.monotonic() + PATIENCE_S
    while not _are_answered(place, requests):
        with ExitStack() as owned:
            from phaseline.embedded.run_execution import try_own

            if try_own(place, owned):
                _answer(place, requests)
                continue
        if time.monotonic() > deadline:
            mend = "See what it does: phaseline engine status. It answers as soon as it looks at its requests."
            raise fail("PL-C035", "the engine did not answer what it was asked for", mend)
        time.sleep(LOOK_S)
    return engine_now(place)


def _are_answered(place: Workplace, requests: Sequence[int]) -> bool:
    return all(place.store.answer_of(number) is not None for number in requests)


def _answer(place: Workplace, requests: Sequence[int]) -> None:
    """As the owner, with an engine that begins no call and tells no listener: whom that concerns waits for the next one.

    What is open must be at hand: a new target ends what an old one began.
    """
    from phaseline.embedded.run_execution import engine_of

    with engine_of(place, Nobody()) as engine:
        engine.interrupt()
        engine.phases.paths.tells_nobody = True
        engine.recover()
        engine.run(lambda: _are_answered(place, requests))
        engine.close(0)


def _refusal(place: Workplace, request: int) -> Problem | None:
    from phaseline.run.loop.request_reader import problem_of

    return problem_of(place.store.answer_of(request) or {})
