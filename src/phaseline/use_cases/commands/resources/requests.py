"""Asking the owner of the store for something about resources, and having it answered though nobody owns the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.lookup.running_engine import RunningEngine, engine_now
from phaseline.use_cases.lookup.ticket import await_answers

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.orders import NewOrder


def ask_for(
    ctx: RequestContext,
    asked: Sequence[tuple[RequestKind, int, Mapping[str, Value]]],
    *,
    given: NewOrder | None = None,
    told: Mapping[str, Value] | None = None,
) -> RunningEngine:
    """Ask for all of it, all or nothing, and await the answers; who will go on with it. Each is (kind, execution, body).

    ``given``: the order that this is, ``told``: what its answer needs. Raises: what the owner refused, all of it; PL-C035 if an engine does not answer.
    """
    with ctx.store.as_one(given) as answer:
        answer.update(told or {})
        numbers = [ctx.store.ask(kind, execution, body, ctx.actor) for kind, execution, body in asked]
    engine = settle(ctx, numbers)
    refuse_refused(ctx, numbers)
    return engine


def refuse_refused(ctx: RequestContext, requests: Sequence[int]) -> None:
    """Raise what the owner refused of these."""
    refused = [problem for number in requests if (problem := _refusal(ctx, number)) is not None]
    if refused:
        raise ProblemsError(refused)


def settle(ctx: RequestContext, requests: Sequence[int]) -> RunningEngine:
    """Have all answered, by the engine that runs or by this process for the moment; who goes on. Raises: PL-C035."""
    await_answers(ctx, requests)
    return engine_now(ctx)


def _refusal(ctx: RequestContext, request: int) -> Problem | None:
    from phaseline.run.loop.request_reader import problem_of

    return problem_of(ctx.store.answer_of(request) or {})
