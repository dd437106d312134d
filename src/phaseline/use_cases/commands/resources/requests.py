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
    """Store requests about resources in one transaction, and return the result of the command.

    ``asked``: (kind, number of the execution, body) of each request. ``view``: makes the command's answer from the
    engine that runs when all are answered. ``given``: the order that the requests belong to. ``told``: data to answer a
    repeated order.
    """
    with ctx.store.as_one(given) as answer:
        answer.update(told or {})
        numbers = [ctx.store.ask(kind, execution, body, ctx.actor) for kind, execution, body in asked]
    return answered(ctx, numbers, view)


def answered(ctx: RequestContext, requests: Sequence[int], view: Callable[[RunningEngine], T]) -> Submissions[T]:
    """Return the result of a command whose requests are stored; it is complete when all of them have answers.

    ``view``: then makes the value for the user, from the engine that runs at that time.
    """
    return Submissions(requests, lambda: view(engine_now(ctx)))


def answered_again(ctx: RequestContext, found: GivenOrder, view: Callable[[RunningEngine], T]) -> Submissions[T]:
    """Return the result of an order that was given before, from its stored requests.

    ``view``: makes the answer when all requests are answered.
    """
    return answered(ctx, given_orders.kept_requests(ctx, found), view)
