"""Orders with a request id: an order is carried out once and answered each time it is given (ADR 0032)."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.rows.orders import GivenBeforeError, GivenOrder, NewOrder
from phaseline.use_cases.commands.submission import Submission, SubmissionAnswer

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.app.app_context import RequestContext
    from phaseline.use_cases.commands.orders.request_ids import Again

R = TypeVar("R")
HOUR_MS = 3_600_000
FILES = frozenset({"file", "files", "document", "blueprint"})
"""Names of arguments, and of fields of arguments, that hold file paths; the files' content is part of the order."""
LATER = frozenset({"allow_missing_providers"})
"""Names of arguments and fields that were added after schema 7. They are part of an order only if they have a value, so
that an order can be repeated by a newer version than that which carried it out."""


def carry_out_once(
    ctx: RequestContext,
    verb: str,
    function: Callable[..., R],
    args: tuple[object, ...],
    named: Mapping[str, object],
    again: Again | None,
) -> R:
    """Carry out an order under the request id of ``ctx``; if that was done before, return its answer from then.

    ``again``: function that makes this answer from the stored order; None: use ``submitted``.
    """
    requested = ctx.requested
    assert requested is not None, "a request id is in use"
    bound = inspect.signature(function).bind(ctx, *args, **named)
    bound.apply_defaults()
    arguments = {name: value for name, value in list(bound.arguments.items())[1:] if name != "given"}
    now = ctx.clock.now()
    order = NewOrder(
        requested.id, digest_of(verb, arguments), now, ctx.actor, now - ctx.settings.keep_orders_hours * HOUR_MS
    )
    requested.is_taken = True
    found = _find(ctx, order)
    if found is None:
        try:
            return function(ctx, *args, **{**named, "given": order})
        except GivenBeforeError as error:
            found = error.given
        except ProblemsError:
            found = None if order.is_stored else _find(ctx, order)
            if found is None:
                raise
    answer: R = _repeated(ctx, found, order, verb, again, dict(bound.arguments))
    return answer


def next_once(ctx: RequestContext, given: NewOrder | None, verb: str, submit: Callable[[], Submission]) -> Submission:
    """Submit a later step of the order ``given``, which has several executions. ``verb``: name of the step in errors.

    If the order has a request id and this step was stored before, return the submission of that time.
    """
    try:
        return submit()
    except GivenBeforeError as error:
        assert given is not None, "it has a request id"
        repeated: Submission = _repeated(ctx, error.given, given, verb, None, {})
        return repeated


def _repeated(
    ctx: RequestContext,
    found: GivenOrder,
    order: NewOrder,
    verb: str,
    again: Again | None,
    arguments: Mapping[str, object],
) -> Any:
    """Return the answer of the stored order ``found``, and notify the user that nothing is done twice.

    ``again`` makes the answer from ``found`` and the ``arguments`` of the call; if None, ``submitted`` does. ``verb``:
    name of the order in errors. Raises: PL-C097 if the new order has other arguments than the stored one.
    """
    _raise_if_other_order(found, order, verb)
    assert ctx.requested is not None, "a request id is in use"
    ctx.requested.is_repeated = True
    ctx.notice(
        f"The request id '{order.id}' was given before: this is the answer of that order, nothing is done twice."
    )
    return (again or submitted)(ctx, found, arguments)


def digest_of(verb: str, arguments: Mapping[str, object]) -> str:
    """Return a digest that identifies an order without revealing its arguments."""
    known = {name: one for name, one in arguments.items() if one or name not in LATER}
    told = json.dumps([verb, _plain(known)], sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def submitted(ctx: RequestContext, found: GivenOrder, _: Mapping[str, object]) -> Submission:
    """Return the execution that an order started, or the request that it stored, so that it can be followed again.

    Raises: PL-C098 if the execution or the request was purged.
    """
    store = ctx.store
    id = str(found.answer.get("execution") or (found.executions[0] if found.executions else ""))
    row = store.execution(id)
    if row is None:
        raise gone(found, f"the execution {id}")
    begun = bool(found.executions)
    submission = Submission(row, 0 if begun or not found.requests else found.requests[0])
    try:
        SubmissionAnswer(submission).has_come(store)
    except LookupError as error:
        raise gone(found, f"what was asked of {id}") from error
    return submission


def kept_requests(ctx: RequestContext, found: GivenOrder) -> list[int]:
    """Return the stored requests of an order, without those that were answered and purged since."""
    return [number for number in found.requests if _is_kept(ctx, number)]


def gone(found: GivenOrder, what: str) -> ProblemsError:
    """Return the error PL-C098: an order was carried out, but the data for its answer was removed since."""
    mend = "look at what exists, and give a new order a request id of its own"
    return problem_error(
        "PL-C098", f"the order '{found.id}' was carried out before, and {what} was removed since", mend
    )


def _find(ctx: RequestContext, order: NewOrder) -> GivenOrder | None:
    return ctx.store.orders.find(order.actor, order.id, order.keeps_from)


def _raise_if_other_order(found: GivenOrder, order: NewOrder, verb: str) -> None:
    if found.digest != order.digest:
        what = f" ({', '.join(found.executions)})" if found.executions else ""
        message = f"the request id '{order.id}' was used for another order{what}, not for this {verb}"
        raise problem_error(
            "PL-C097",
            message,
            "give each order a request id of its own; a repeated order has the same command line, inputs and files",
        )


def _is_kept(ctx: RequestContext, request: int) -> bool:
    try:
        ctx.store.answer_of(request)
    except LookupError:
        return False
    return True


def _plain(value: object, name: str = "") -> object:
    """Return the value as JSON, in which paths of files are accompanied by digests of their content.

    ``name``: the name of the argument or field, which decides whether it is a path.
    """
    if name in FILES and isinstance(value, str):
        return _file(value)
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        given = {one.name: getattr(value, one.name) for one in fields(value)}
        return {key: _plain(one, key) for key, one in given.items() if one or key not in LATER}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, name) for one in value]
    return value


def _file(path: str) -> object:
    """Return [path, digest of the content], or only the path if the file is unreadable; its reader will refuse it."""
    try:
        return [path, hashlib.sha256(Path(path).read_bytes()).hexdigest()]
    except (OSError, ValueError):
        return path
