"""A decorator for use cases that give orders: with a request id an order is carried out once (ADR 0032)."""

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
"""Function (context, stored order, arguments of the call) that returns the answer of a repeated order."""


def once(
    verb: str, again: Again | None = None
) -> Callable[[Callable[Concatenate[RequestContext, P], R]], Callable[Concatenate[RequestContext, P], R]]:
    """Decorate a use case that gives an order, so that with a request id it is carried out only once (ADR 0032).

    The use case gets the order as ``given`` and stores it by ``Store.as_one``, or passes it to a use case that does.
    ``again``: returns the answer for a repeated order; None: the execution of the first order is followed. Calls
    without a request id go directly to the use case. Raises: PL-C097 for another order under the same id, PL-C098 if
    the data of the first order was removed.
    """

    def wrap(function: Callable[Concatenate[RequestContext, P], R]) -> Callable[Concatenate[RequestContext, P], R]:
        @wraps(function)
        def ordered(ctx: RequestContext, /, *args: P.args, **named: P.kwargs) -> R:
            if ctx.requested is None or named.get("given") is not None:
                return function(ctx, *args, **named)

            return given_orders.carry_out_once(ctx, verb, function, args, named, again)

        return ordered

    return wrap
