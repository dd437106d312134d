"""The one place where code of plugins is called: whatever it raises comes back as a value.

``SystemExit`` and exceptions of a plugin's own kind count as raised, too: they would end a thread or a worker that
others need. Only the interpreter's own wish to end goes through, and that comes to the main thread alone: a
``KeyboardInterrupt`` in another one is the plugin's.
"""

from __future__ import annotations

import inspect
import threading
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

P = ParamSpec("P")
T = TypeVar("T")


def attempt(code: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> tuple[T | None, BaseException | None]:
    """(what ``code`` returned, None), or (None, what it raised)."""
    try:
        return code(*args, **kwargs), None
    except BaseException as error:
        if _is_wish_to_end(error):
            raise
        return None, error


async def attempt_async(coroutine: Awaitable[object]) -> BaseException | None:
    """What the coroutine raised, being canceled included, or None. ``GeneratorExit`` is how a loop that ends leaves it."""
    try:
        await coroutine
    except GeneratorExit:
        raise
    except BaseException as error:
        if _is_wish_to_end(error):
            raise
        return error
    return None


def _is_wish_to_end(error: BaseException) -> bool:
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()


def run_to_end(function: Callable[..., object], *arguments: object) -> None:
    """Call a function; what an async one returned is run to its end in this thread."""
    result = function(*arguments)
    if inspect.iscoroutine(result):
        import asyncio  # 25 ms that most commands need not pay

        asyncio.run(result)
