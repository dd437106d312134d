"""The only module that calls plugin code. Exceptions of that code are returned as values, not raised.

This includes ``SystemExit`` and others that do not derive from ``Exception``: they would end a thread or a worker that
other calls need. Only a ``KeyboardInterrupt`` in the main thread is raised, because the interpreter raises it there to
end the program. In another thread it comes from the plugin.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from functools import partial
from types import CoroutineType, FunctionType, MethodType
from typing import TYPE_CHECKING, NoReturn, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

CO_COROUTINE = 0x80
"""The flag of a code object that was written as ``async def`` (``inspect.CO_COROUTINE``)."""

P = ParamSpec("P")
T = TypeVar("T")


_copies: list[None] = []
"""A list with one element for each fork that led to this process."""
os.register_at_fork(after_in_child=lambda: _copies.append(None))


def copies() -> int:
    """Return how many forks led to this process. If code increases the number, it now runs in a forked copy."""
    return len(_copies)


def guarded_call(code: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> tuple[T | None, BaseException | None]:
    """Call ``code`` and return (result, None), or (None, exception).

    If ``code`` forks this process, the copy ends here.
    """
    before = len(_copies)
    try:
        found = code(*args, **kwargs)
    except BaseException as error:
        if len(_copies) != before:
            end_copy(error)
        if _is_wish_to_end(error):
            raise
        return None, error
    if len(_copies) != before:
        end_copy(None)
    return found, None


def end_copy(error: BaseException | None) -> NoReturn:
    """End this process, which is a copy that plugin code made by ``os.fork``; only the original process continues.

    ``error``: the exception with which the code ended in the copy; the exit code follows from it as in Python.
    """
    code = 1
    try:
        if error is None:
            code = 0
        elif isinstance(error, SystemExit):
            code = error.code if isinstance(error.code, int) else int(error.code is not None)
            if isinstance(error.code, str):
                print(error.code, file=sys.stderr)  # noqa: T201 - as Python does
        else:
            traceback.print_exception(error, file=sys.stderr)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    finally:
        os._exit(code & 0xFF)


async def attempt_async(coroutine: Awaitable[object]) -> BaseException | None:
    """Await a coroutine, and return its exception (including a cancel) or None.

    If the event loop itself closes the coroutine, raise its ``GeneratorExit`` instead of returning it.
    """
    own, before = _task(), len(_copies)
    try:
        await coroutine
    except BaseException as error:
        if len(_copies) != before:
            end_copy(error)
        if _is_wish_to_end(error) or (isinstance(error, GeneratorExit) and (own is None or _task() is not own)):
            raise
        return error
    if len(_copies) != before:
        end_copy(None)
    return None


def _task() -> object:
    """Return the asyncio task that runs in this thread, or None."""
    import asyncio  # loaded by now where a loop runs

    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _is_wish_to_end(error: BaseException) -> bool:
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()


def is_async(function: object) -> bool:
    """Return True if calling the function returns a coroutine. ``inspect`` has the same, but takes 10 ms to import."""
    while isinstance(function, partial | MethodType):
        function = function.func if isinstance(function, partial) else function.__func__
    return isinstance(function, FunctionType) and bool(function.__code__.co_flags & CO_COROUTINE)


def call_and_await(function: Callable[..., object], *arguments: object) -> None:
    """Call a function; if it is async, run its coroutine to the end in this thread."""
    result = function(*arguments)
    if isinstance(result, CoroutineType):
        import asyncio  # 25 ms that most commands need not pay

        asyncio.run(result)
