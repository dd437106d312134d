"""A function killed at every one of its lines in turn, and called again: whether it may really be repeated.

The process that calls a plugin can die at any moment. An operation that says ``repeatable=True`` is then called again
for the same items, with the same tokens; nothing of what it wrote to ``runtime_properties`` is left. ``crash_points``
plays that for every line of the function.

>>> from phaseline import operation
>>> made = []
>>> @operation(bulk=True, repeatable=True)
... def create(batch):
...     for item in batch:
...         made.append(item.token)
>>> [len(made) for point in crash_points(create, lambda: fake_batch(1), before=made.clear)]
[1, 1, 2, 2]

Two of four deaths end with two machines instead of one, because this cloud does not look at the token.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from phaseline.model.frozen import frozen
from phaseline.run.plugin_code import attempt, run_to_end
from phaseline.testing.items import FakeBatch, FakeItem, Tried, call, fake_batch

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["CrashPoint", "crash_points", "fake_batch"]

MOST_POINTS = 10_000
"""A function that goes through more lines than this is called with too many items."""


@frozen
class CrashPoint:
    """The function died before the ``number``-th step (from 1), which was to run ``line``; the last one is its return.

    ``outcomes``: what came of the items when it was called again.
    """

    number: int
    line: int
    outcomes: list[Tried]


class Killed(KeyboardInterrupt):
    """The process dies here: of all exceptions of a function only the interpreter's own wish to end is not an outcome."""


class Fuse:
    """Kills a function before the n-th line that is run of its file, or when it returns after fewer."""

    def __init__(self, function: Callable[..., object], lines: int) -> None:
        """``lines`` that still run to their end."""
        self._code = function.__code__
        self._left = lines
        self.line = 0

    def trace(self, frame: FrameType, event: str, argument: object) -> object:
        """As ``sys.settrace`` wants it."""
        del argument
        if frame.f_code.co_filename != self._code.co_filename:
            return None
        if event == "line" or (event == "return" and frame.f_code is self._code):
            if self._left == 0:
                self.line = frame.f_lineno
                raise Killed
            self._left -= 1
        return self.trace


def crash_points(
    function: Callable[..., object],
    make: Callable[[], FakeBatch | FakeItem],
    *,
    before: Callable[[], object] = lambda: None,
) -> Iterator[CrashPoint]:
    """Each moment at which the function can die, after it was called again; the test looks at its cloud in between.

    ``make``: fresh items, equal each time. ``before`` is called before each point, to begin with an empty cloud. Only
    native functions without ``async``; lines of other files are not looked at.
    """
    for number in range(1, MOST_POINTS + 1):
        before()
        fuse = Fuse(function, number - 1)
        if not _dies(function, make(), fuse):
            return
        yield CrashPoint(number, fuse.line, call(function, make()))
    raise AssertionError(f"more than {MOST_POINTS} lines are run; make fewer items")


def _dies(function: Callable[..., object], given: FakeBatch | FakeItem, fuse: Fuse) -> bool:
    former = sys.gettrace()
    sys.settrace(fuse.trace)  # type: ignore[arg-type]  # the recursive type of trace functions cannot be spelled
    try:
        attempt(run_to_end, function, given)
    except Killed:
        return True
    finally:
        sys.settrace(former)
    return False
