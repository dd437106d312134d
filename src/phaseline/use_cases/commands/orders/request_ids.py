"""Use cases that give orders: with a request id they are carried out once (ADR 0032)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from phaseline.use_cases.commands.orders import given_orders

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.orders import GivenOrder


P = ParamSpec("P")
R = TypeVar("R")
Again = Callable[["RequestContext", "GivenOrder", Mapping[str, object]], object]
"""Makes the answer of an order that was given before, of its row and of the arguments of the call."""


def once(
    verb: str, again: Again | None = None
) -> Callable[[Callable[Concatenate[RequestContext, P], R]], Callable[Concatenate[RequestContext, P], R]]:
    """A decorator of a use case that gives an order: where a request id is in use it is carried out once (ADR 0032).

    The use case gets the order as ``given`` and stores it by ``Store.as_one``, or hands it on to another one that does. ``again``: what
    makes the answer for who asks again; None: the execution is followed. Without a request id this costs one look.
    Raises: PL-C097 for another order under the same id, PL-C098 if what it began was removed.
    """

    def wrap(function: Callable[Concatenate[RequestContext, P], R]) -> Callable[Concatenate[RequestContext, P], R]:
        @wraps(function)
        def ordered(ctx: RequestContext, /, *args: P.args, **named: P.kwargs) -> R:
            if ctx.requested is None or named.get("given") is not None:
                return function(ctx, *args, **named)

            return given_orders.carry_out_once(ctx, verb, function, args, named, again)

        return ordered

    return wrap
