"""The one place where code of plugins is called: whatever it raises comes back as a value.

``SystemExit`` and exceptions of a plugin's own kind count as raised, too: they would end a thread or a worker that
others need. Only the interpreter's own wish to end goes through, and that comes to the main thread alone: a
``KeyboardInterrupt`` in another one is the plugin's.
"""

from __future__ import annotations

import threading
from functools import partial
from types import CoroutineType, FunctionType, MethodType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

CO_COROUTINE = 0x80
"""The flag of code that was written as ``async def``, as ``inspect`` calls it."""

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


def is_async(function: object) -> bool:
    """Whether calling it makes a coroutine, as ``inspect`` says, which takes 10 ms to import."""
    while isinstance(function, partial | MethodType):
        function = function.func if isinstance(function, partial) else function.__func__
    return isinstance(function, FunctionType) and bool(function.__code__.co_flags & CO_COROUTINE)


def run_to_end(function: Callable[..., object], *arguments: object) -> None:
    """Call a function; what an async one returned is run to its end in this thread."""
    result = function(*arguments)
    if isinstance(result, CoroutineType):
        import asyncio  # 25 ms that most commands need not pay

        asyncio.run(result)
