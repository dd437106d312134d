"""Converting and checking values that come from plugin code, before Phaseline uses them.

A value from a plugin is never used directly, because printing, comparing or converting it could run plugin code again.
Here values, times, texts and exceptions become plain and of limited size. If that is impossible, a ``ProblemsError``
fails the one call that returned them.
"""

from __future__ import annotations

import math
import traceback
from typing import TYPE_CHECKING

from phaseline.calls.threads.guarded_calls import guarded_call
from phaseline.model.deployment.runtime_properties import Storing, Unstorable, diff
from phaseline.model.problems.problem import ProblemsError, problem_error

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.runtime_properties import PropertyPath

LONGEST_AFTER_S = 366 * 24 * 3600
"""The longest delay in seconds until the next call; a longer one is reduced to it."""
SHORT_NAME = 1_000
"""Number of characters up to which a property name is certainly short enough, so that its length is not checked."""
SHOWN_CHARS = 60
"""The most characters of an invalid value that a message shows."""
BARE = (LookupError, AttributeError, TypeError, AssertionError, ArithmeticError, StopIteration, NameError, UnicodeError)
"""Exceptions whose text is hard to understand without their type, mostly raised by Python itself."""


def require_storable(value: object, what: str) -> Value:
    """Return the value as it is stored. Raises PL-O034, naming the part of ``what`` that cannot be stored."""
    found, error = guarded_call(Storing().take, value, what)
    if error is not None:
        raise _unstorable("", error)
    return found


def changed(
    before: Mapping[str, Value], after: Mapping[str, Value]
) -> tuple[dict[PropertyPath, Value], tuple[PropertyPath, ...]]:
    """Return how a plugin changed a document: ({path: value written}, paths removed). Raises PL-O034."""
    found, error = guarded_call(_compared, before, after)
    if found is None:
        assert error is not None
        raise _unstorable("runtime property ", error)
    return found


def _compared(
    before: Mapping[str, Value], after: Mapping[str, Value]
) -> tuple[dict[PropertyPath, Value], tuple[PropertyPath, ...]]:
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
    """Return the delay until the next call in ms; a negative time means at once. Raises: PL-O032 for a non-number.

    >>> milliseconds(2.5), milliseconds(-5), milliseconds(10**30)
    (2500, 0, 31622400000)
    """
    seconds, _ = guarded_call(_seconds, after_s)
    if seconds is None or not math.isfinite(seconds):
        raise problem_error(
            "PL-O032", f"a call is to be made again after {shown(after_s)}", "give it seconds, as a number"
        )
    return round(min(max(0.0, seconds), LONGEST_AFTER_S) * 1000)


def _seconds(after_s: object) -> float:
    return float(after_s)  # type: ignore[arg-type]  # if it is none, that is what is to be found out


def text_of(value: object) -> str:
    """Return the value as a plain ``str``."""
    text = value if isinstance(value, str) else str(value)
    return text if type(text) is str else str.__str__(text)


def shown(value: object) -> str:
    """Return the beginning of ``repr(value)``, or the value's type if it has no ``repr``."""
    text, _ = guarded_call(repr, value)
    return f"a {type(value).__name__}" if text is None else text_of(text)[:SHOWN_CHARS]


def exception_text(error: BaseException) -> str:
    """Return the message of an exception, with its type if the text alone is not enough.

    >>> exception_text(KeyError("missing")), exception_text(ValueError("no such size")), exception_text(IndexError()), exception_text(SystemExit(3))
    ("KeyError: 'missing'", 'no such size', 'IndexError', 'the operation called sys.exit(3)')
    """
    if isinstance(error, SystemExit):
        return f"the operation called sys.exit({shown(error.code)})"
    text, name = message_of(error), type(error).__name__
    if not text:
        return name
    return f"{name}: {text}" if isinstance(error, BARE) else text


def message_of(error: BaseException) -> str:
    """Return the text of an exception, or '' if it has no readable text."""
    return guarded_call(text_of, error)[0] or ""


def trace_of(error: BaseException, frames: TracebackType | None) -> str:
    """Return the traceback of an exception, from ``frames`` on."""
    lines, _ = guarded_call(traceback.format_exception, type(error), error, frames)
    return "".join(lines or (f"{type(error).__name__}, of which no traceback can be written\n",))


def _unstorable(where: str, error: BaseException) -> ProblemsError:
    text = str(error) if isinstance(error, Unstorable) else f"that cannot be read: {exception_text(error)}"
    return problem_error(
        "PL-O034", where + text, "give it texts, numbers, lists and mappings of these, as JSON knows them"
    )
