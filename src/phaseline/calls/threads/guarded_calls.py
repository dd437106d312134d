"""The only module that calls code of plugins: exceptions of that code are returned as values.

``SystemExit`` and other exceptions that are no ``Exception`` are returned, too, because they would end a thread or a
worker that other calls need. The only exception that passes is a ``KeyboardInterrupt`` in the main thread, with which
the interpreter itself asks to end; in another thread it comes from the plugin.
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
"""The flag of code that was written as ``async def``, as ``inspect`` calls it."""

P = ParamSpec("P")
T = TypeVar("T")


_copies: list[None] = []
"""One for each fork that led to this process."""
os.register_at_fork(after_in_child=lambda: _copies.append(None))


def copies() -> int:
    """How many forks led to this process: where it is more after some code than before, the code has made a copy of it."""
    return len(_copies)


def guarded_call(code: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> tuple[T | None, BaseException | None]:
    """(what ``code`` returned, None), or (None, what it raised). A copy of this process that it made by a fork ends here."""
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
    """End a process that code of a plugin made by ``os.fork``, as Python ends one: what follows the call is for the original alone."""
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
    """What the coroutine raised, being canceled included, or None. It is left alone where a loop that ends leaves it."""
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
    """The task that runs in this thread; None if there is none."""
    import asyncio  # loaded by now where a loop runs

    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _is_wish_to_end(error: BaseException) -> bool:
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()


def is_async(function: object) -> bool:
    """True if calling it makes a coroutine, as in ``inspect``, which takes 10 ms to import."""
    while isinstance(function, partial | MethodType):
        function = function.func if isinstance(function, partial) else function.__func__
    return isinstance(function, FunctionType) and bool(function.__code__.co_flags & CO_COROUTINE)


def call_and_await(function: Callable[..., object], *arguments: object) -> None:
    """Call a function; what an async one returned is run to its end in this thread."""
    result = function(*arguments)
    if isinstance(result, CoroutineType):
        import asyncio  # 25 ms that most commands need not pay

        asyncio.run(result)
