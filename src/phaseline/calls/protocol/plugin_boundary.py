"""The one place where code of plugins is called, and where what it gives becomes ours: whatever it raises comes back as a value.

``SystemExit`` and exceptions of a plugin's own kind count as raised, too: they would end a thread or a worker that
others need. Only the interpreter's own wish to end goes through, and that comes to the main thread alone: a
``KeyboardInterrupt`` in another one is the plugin's.

Nothing that a plugin gives is ours: to write it out, to compare it or to make a number of it may call its code once more. Here values,
times, texts and exceptions become plain and bounded, or a ``ProblemsError`` that fails the call that gave them, and nobody else's.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import traceback
from functools import partial
from types import CoroutineType, FunctionType, MethodType
from typing import TYPE_CHECKING, NoReturn, ParamSpec, TypeVar

from phaseline.model.deployment.runtime_properties import Storing, Unstorable, diff
from phaseline.model.problems.problem import ProblemsError, fail

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from types import TracebackType

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.runtime_properties import Path

CO_COROUTINE = 0x80
"""The flag of code that was written as ``async def``, as ``inspect`` calls it."""
LONGEST_AFTER_S = 366 * 24 * 3600
"""Whoever asks for more is called again after so long, as everybody by the engine."""
SHORT_NAME = 1_000
"""Names of properties that are no longer are as they are."""
SHOWN_CHARS = 60
"""Of a value that is none so much is shown."""
BARE = (LookupError, AttributeError, TypeError, AssertionError, ArithmeticError, StopIteration, NameError, UnicodeError)
"""Python's own complaints about code: their texts are fragments without the type."""

P = ParamSpec("P")
T = TypeVar("T")


_copies: list[None] = []
"""One for each fork that led to this process."""
os.register_at_fork(after_in_child=lambda: _copies.append(None))


def copies() -> int:
    """How many forks led to this process: where it is more after some code than before, the code has made a copy of it."""
    return len(_copies)


def attempt(code: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> tuple[T | None, BaseException | None]:
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
    """The task that runs in this thread; None: none does, so that whoever is closed was not the one to say so."""
    import asyncio  # loaded by now where a loop runs

    try:
        return asyncio.current_task()
    except RuntimeError:
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


# -- what it gives ----------------------------------------------------------------------------------------------


def kept(value: object, what: str) -> Value:
    """The value as it is stored. Raises PL-O034, with the place of what cannot be stored; ``what`` it is all part of."""
    found, error = attempt(Storing().take, value, what)
    if error is not None:
        raise _unstorable("", error)
    return found


def changed(before: Mapping[str, Value], after: Mapping[str, Value]) -> tuple[dict[Path, Value], tuple[Path, ...]]:
    """({path: value written}, paths removed) of a document that a plugin had in its hands, to be stored. Raises PL-O034."""
    found, error = attempt(_compared, before, after)
    if found is None:
        assert error is not None
        raise _unstorable("runtime property ", error)
    return found


def _compared(before: Mapping[str, Value], after: Mapping[str, Value]) -> tuple[dict[Path, Value], tuple[Path, ...]]:
    written, removed = diff(before, after)
    storing = Storing()
    for path, value in list(written.items()):
        name = path[-1]
        if type(name) is not str or len(name) > SHORT_NAME:
            del written[path]
            path = (*path[:-1], str(storing.take(str(name), "its own name")))
        written[path] = storing.take(value, ".".join(path))
    return written, removed


def milliseconds(after_s: object) -> int:
    """How long until the next call; what lies behind us is at once. Raises PL-O032 for what is no number of seconds.

    >>> milliseconds(2.5), milliseconds(-5), milliseconds(10**30)
    (2500, 0, 31622400000)
    """
    seconds, _ = attempt(_seconds, after_s)
    if seconds is None or not math.isfinite(seconds):
        raise fail("PL-O032", f"a call is to be made again after {shown(after_s)}", "Give it seconds, as a number.")
    return round(min(max(0.0, seconds), LONGEST_AFTER_S) * 1000)


def _seconds(after_s: object) -> float:
    return float(after_s)  # type: ignore[arg-type]  # if it is none, that is what is to be found out


def text_of(value: object) -> str:
    """The value as a text, and nothing but a text."""
    text = value if isinstance(value, str) else str(value)
    return text if type(text) is str else str.__str__(text)


def shown(value: object) -> str:
    """How a value is written in code, the beginning of it; of one that cannot be written its type."""
    text, _ = attempt(repr, value)
    return f"a {type(value).__name__}" if text is None else text_of(text)[:SHOWN_CHARS]


def said_by(error: BaseException) -> str:
    """The message of an exception, with its type where the text alone says nothing.

    >>> said_by(KeyError("missing")), said_by(ValueError("no such size")), said_by(IndexError()), said_by(SystemExit(3))
    ("KeyError: 'missing'", 'no such size', 'IndexError', 'the operation called sys.exit(3)')
    """
    if isinstance(error, SystemExit):
        return f"the operation called sys.exit({shown(error.code)})"
    text, name = message_of(error), type(error).__name__
    if not text:
        return name
    return f"{name}: {text}" if isinstance(error, BARE) else text


def message_of(error: BaseException) -> str:
    """The text of an exception; nothing where that cannot be told."""
    return attempt(text_of, error)[0] or ""


def trace_of(error: BaseException, frames: TracebackType | None) -> str:
    """Its traceback, from these frames on."""
    lines, _ = attempt(traceback.format_exception, type(error), error, frames)
    return "".join(lines or (f"{type(error).__name__}, of which no traceback can be written\n",))


def _unstorable(where: str, error: BaseException) -> ProblemsError:
    text = str(error) if isinstance(error, Unstorable) else f"that cannot be read: {said_by(error)}"
    return fail("PL-O034", where + text, "Give it texts, numbers, lists and mappings of these, as JSON knows them.")
