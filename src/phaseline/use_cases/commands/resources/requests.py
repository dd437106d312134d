"""Requests about resources: stored together, and answered by an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from phaseline.use_cases.commands.orders import given_orders
from phaseline.use_cases.commands.submission import Submissions
from phaseline.use_cases.lookup.running_engine import RunningEngine, engine_now

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.orders import GivenOrder, NewOrder
    from phaseline.model.rows.rows import RequestKind

T = TypeVar("T")


def ask_for(
    ctx: RequestContext,
    asked: Sequence[tuple[RequestKind, int, Mapping[str, Value]]],
    view: Callable[[RunningEngine], T],
    *,
    given: NewOrder | None = None,
    told: Mapping[str, Value] | None = None,
) -> Submissions[T]:
    """Store these requests, all or nothing. Each is (kind, execution, body).

    ``view``: returns the answer for the engine that runs then. ``given``: their order, ``told``: the data that its answer
    needs.
    """
    with ctx.store.as_one(given) as answer:
        answer.update(told or {})
        numbers = [ctx.store.ask(kind, execution, body, ctx.actor) for kind, execution, body in asked]
    return answered(ctx, numbers, view)


def answered(ctx: RequestContext, requests: Sequence[int], view: Callable[[RunningEngine], T]) -> Submissions[T]:
    """The requests, to be answered before ``view`` is called with the engine that continues."""
    return Submissions(requests, lambda: view(engine_now(ctx)))


def answered_again(ctx: RequestContext, found: GivenOrder, view: Callable[[RunningEngine], T]) -> Submissions[T]:
    """The requests of an order that was given before, to be answered before ``view`` is called."""
    return answered(ctx, given_orders.kept_requests(ctx, found), view)
