"""The one place where code of plugins is called: whatever it raises comes back as a value.

``SystemExit`` counts as raised: it would end a thread or a worker that others need.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

P = ParamSpec("P")
T = TypeVar("T")


def attempt(code: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> tuple[T | None, BaseException | None]:
    """(what ``code`` returned, None), or (None, what it raised)."""
    try:
        return code(*args, **kwargs), None
    except (Exception, SystemExit) as error:
        return None, error


async def attempt_async(coroutine: Awaitable[object]) -> BaseException | None:
    """What the coroutine raised, being canceled included, or None."""
    from asyncio import CancelledError  # 25 ms that most commands need not pay

    try:
        await coroutine
    except (Exception, SystemExit, CancelledError) as error:
        return error
    return None


def run_to_end(function: Callable[..., object], argument: object) -> None:
    """Call a native function; what an async one returned is run to its end in this thread."""
    result = function(argument)
    if inspect.iscoroutine(result):
        import asyncio  # see above

        asyncio.run(result)
