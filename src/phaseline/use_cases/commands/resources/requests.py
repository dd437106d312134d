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
    """Store requests about resources, all or nothing. ``asked``: (kind, number of the execution, body) of each.

    ``view``: a function that returns the answer of the command for the engine that then runs. ``given``: the order to
    which the requests belong; ``told``: data that is stored for the answer of a repeated order.
    """
    with ctx.store.as_one(given) as answer:
        answer.update(told or {})
        numbers = [ctx.store.ask(kind, execution, body, ctx.actor) for kind, execution, body in asked]
    return answered(ctx, numbers, view)


def answered(ctx: RequestContext, requests: Sequence[int], view: Callable[[RunningEngine], T]) -> Submissions[T]:
    """The command's result for requests that are stored: it is complete when all of them have answers.

    ``view``: makes the value for the user then, from the engine that runs at that time.
    """
    return Submissions(requests, lambda: view(engine_now(ctx)))


def answered_again(ctx: RequestContext, found: GivenOrder, view: Callable[[RunningEngine], T]) -> Submissions[T]:
    """The stored requests of an order that was given before; when all are answered, ``view`` is called."""
    return answered(ctx, given_orders.kept_requests(ctx, found), view)
