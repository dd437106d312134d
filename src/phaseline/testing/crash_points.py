"""Tests of repeatability: a function is killed at each of its lines in turn, and called again.

The process that calls a plugin can die at any moment. An operation with ``repeatable=True`` is then called again for
the same items, with the same tokens; of its changes to ``runtime_properties`` only saved ones are left. ``crash_points``
simulates that for every line of the function. For the function of a phase, ``find(items)`` is called first.

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

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from phaseline.app.callers import make_caller
from phaseline.calls.batches.caller_registry import CallerRegistry
from phaseline.calls.batches.trial_call import Trial, TrialMember
from phaseline.calls.threads.guarded_calls import is_async
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.graph.plugin_errors import NonRecoverableError, RecoverableError
from phaseline.testing.items import FakeBatch, FakeItem, Tried, fake_batch, members_of
from phaseline.testing.phases import Target, target_of

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.testing.phases import LoadedPhase

    Saved = dict[int, dict[str, Value]]

__all__ = ["CrashPoint", "crash_points", "fake_batch"]

MOST_POINTS = 10_000
"""Largest number of lines that are tried; if a function runs more, the test should use fewer items."""
SAID = (RecoverableError, NonRecoverableError)
"""Exceptions with which a plugin reports a failure on purpose; they are outcomes, not bugs."""


@frozen
class CrashPoint:
    """The function was killed before its step ``number`` (from 1), which was to run ``line``; the last step is its return.

    ``outcomes`` are the outcomes of the items in the second call, after that death.
    """

    number: int
    line: int
    outcomes: list[Tried]


class Killed(KeyboardInterrupt):
    """Raised in a function to simulate the death of its process. It is no ``Exception``, so plugins do not handle it."""


class Fuse:
    """Kills a function before the n-th line of its file is run, or at its return if it runs fewer lines.

    After that no further line of the file runs, not even in ``finally`` or ``except``, as when a process dies.
    """

    def __init__(self, code: CodeType, lines: int, *, returns: bool) -> None:
        """``lines`` is the number of lines that run before the kill; ``returns``: the return counts as a line, too."""
        self._code = code
        self._left = lines
        self._returns = returns
        self._last = code.co_firstlineno
        self.line = 0

    def trace(self, frame: FrameType, event: str, argument: object) -> object:
        """Return the trace function for ``sys.settrace``."""
        del argument
        if frame.f_code.co_filename != self._code.co_filename:
            return None
        if event == "line" or (self._returns and event == "return" and frame.f_code is self._code):
            self._last = frame.f_lineno
            if self._left == 0:
                self.line = self.line or self._last
                raise Killed
            self._left -= 1
        return self.trace

    def end(self) -> None:
        """Note that the function has returned: this is the last crash point if the return itself is not traced."""
        if not self.line and not self._returns and self._left == 0:
            self.line = self._last


def crash_points(
    function: Callable[..., object] | LoadedPhase,
    make: Callable[[], FakeBatch | FakeItem],
    *,
    before: Callable[[], object] = lambda: None,
    expected: type[BaseException] | tuple[type[BaseException], ...] = (),
) -> Iterator[CrashPoint]:
    """Yield each point at which the function can die, after calling it again; the test checks its cloud in between.

    ``make`` returns fresh items, equal each time. ``before`` is called before each point, such as to empty the cloud.
    Lines of other files are ignored. Exceptions of the function are raised with the line at which it died, unless
    they report a failure (``TemporaryError``, ``NonRecoverableError`` and their like) or are ``expected``.
    Raises: ``ProblemsError`` for a phase that no engine would accept; ``TypeError`` for objects that are no Python functions.
    """
    target = target_of(function)
    code = _code_of(target.function)
    for number in range(1, MOST_POINTS + 1):
        before()
        fuse = Fuse(code, number - 1, returns=not is_async(target.function))
        saved, raised = _run_until(target, members_of(make()), fuse)
        if not fuse.line:
            _refuse(raised, expected, "called without dying")
            return
        given = [_as_saved(one, saved.get(place)) for place, one in enumerate(members_of(make()))]
        again = Trial(given, phase=target.phase, is_doubted=target.phase is not None, keeps_raised=True)
        outcomes = again.call(target.function, CallerRegistry(make_caller))
        for tried in outcomes:
            _refuse(tried.raised, expected, f"called again after dying at line {fuse.line}")
        yield CrashPoint(number, fuse.line, outcomes)
    raise AssertionError(f"more than {MOST_POINTS} lines are run; make fewer items")


def _code_of(function: Callable[..., object]) -> CodeType:
    plain = inspect.unwrap(function)
    code = getattr(getattr(plain, "__func__", plain), "__code__", None)
    if code is None:
        raise TypeError(f"{function!r:.100} has no lines of Python")
    return code  # type: ignore[no-any-return]  # that is what the attribute of functions is


def _run_until(target: Target, members: Sequence[TrialMember], fuse: Fuse) -> tuple[Saved, BaseException | None]:
    """Call the function until it is killed.

    Returns ({index of an item: document saved before the kill}, the exception if the function raised one itself).
    """
    trial = Trial(members, phase=target.phase, keeps_raised=True)
    done: list[Tried] = []
    former = sys.gettrace()
    sys.settrace(fuse.trace)  # type: ignore[arg-type]  # the recursive type of trace functions cannot be spelled
    try:
        done = trial.call(target.function, CallerRegistry(make_caller))
    except Killed:
        pass
    finally:
        sys.settrace(former)
    fuse.end()
    return trial.saved, next((tried.raised for tried in done if tried.raised is not None), None)


def _as_saved(member: TrialMember, saved: dict[str, Value] | None) -> TrialMember:
    if saved is None:
        return member
    return altered(member, subject=altered(member.subject, runtime_properties=saved), phase_data={})


def _refuse(
    raised: BaseException | None, expected: type[BaseException] | tuple[type[BaseException], ...], when: str
) -> None:
    """Raise an exception of the function unless it is expected, with ``when`` as a note about the call in which it occurred."""
    if raised is not None and not isinstance(
        raised, (*SAID, *(expected if isinstance(expected, tuple) else (expected,)))
    ):
        raised.add_note(when)
        raise raised
