"""Capture of what plugin code prints in the engine's process: it becomes lines of its call's log.

While an executor lives, ``sys.stdout`` and ``sys.stderr`` are streams that find out which call is printing. Text from the
code of a call, coroutines included, goes to the log of the call. All other text goes to the former stream, except that
standard output of other threads goes to standard error, because standard output belongs to the command.
"""

from __future__ import annotations

import os
import sys
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Self

from phaseline.calls.threads.line_buffer import WholeLines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextvars import Token

STYLES = {"stdout": ("info", "<out> "), "stderr": ("error", "<err> ")}
"""{stream: (level, prefix of a line)}, as for scripts (S3)."""


class Printed:
    """Takes what one call prints; in a ``with`` its code speaks. ``close`` keeps what is left without an end of line."""

    __slots__ = ("_keep", "_rest", "_token")

    def __init__(self, keep: Callable[[str, str], None]) -> None:
        """``keep(level, line)`` may be called from any thread."""
        self._keep = keep
        self._rest: dict[str, WholeLines] | None = None
        self._token: Token[Printed | None] | None = None

    def __enter__(self) -> Self:
        """From now on the thread, and what it starts as a coroutine, speaks for the call."""
        self._token = _speaking.set(self)
        return self

    def __exit__(self, *raised: object) -> None:
        """The thread speaks for itself again."""
        assert self._token is not None
        _speaking.reset(self._token)

    def write(self, stream: str, text: str) -> None:
        """Keep whole lines, remember the rest."""
        if self._rest is None:
            self._rest = {}
        level, before = STYLES[stream]
        lines = self._rest.get(stream)
        if lines is None:
            lines = self._rest[stream] = WholeLines()
        for line in lines.take(text):
            self._keep(level, before + line)

    def close(self) -> None:
        """Keep the rest of the output."""
        rests, self._rest = self._rest, None
        if rests is None:  # nearly always: nothing was printed
            return
        for stream, lines in rests.items():
            level, before = STYLES[stream]
            for line in lines.rest():
                self._keep(level, before + line)


_speaking: ContextVar[Printed | None] = ContextVar("phaseline_speaking", default=None)


_copied: list[None] = []
"""Set in a copy of this process that a call forked: its output is not kept."""


def _speak_no_more() -> None:
    if _speaking.get() is not None:
        _speaking.set(None)
        _copied.append(None)


os.register_at_fork(after_in_child=_speak_no_more)


class Dispatching:
    """A text stream in place of ``sys.stdout`` or ``sys.stderr``; all it does not know is the former stream's."""

    def __init__(self, name: str, former: Any) -> None:
        """``name``: ``stdout`` or ``stderr``."""
        self._name = name
        self.former = former

    def write(self, text: str) -> int:
        """Give the text to the call whose code speaks, or to the former stream."""
        call = _speaking.get()
        if call is None:
            return int(self._through().write(text))
        call.write(self._name, text)
        return len(text)

    def writelines(self, lines: Sequence[str]) -> None:
        """Write each."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Whole lines are kept at once; only the former stream has something to flush."""
        if _speaking.get() is None:
            self._through().flush()

    def _through(self) -> Any:
        if self._name == "stdout" and (_copied or threading.current_thread() is not threading.main_thread()):
            return sys.stderr
        return self.former

    def __getattr__(self, name: str) -> Any:
        """Everything else, such as ``encoding`` and ``isatty``."""
        return getattr(self.former, name)


_users: list[None] = []
_changing = threading.Lock()


def install() -> None:
    """Put the dispatching streams in place; each call needs an ``uninstall``."""
    with _changing:
        _users.append(None)
        for name in STYLES:
            found = getattr(sys, name)
            if found is not None and not isinstance(found, Dispatching):
                setattr(sys, name, Dispatching(name, found))


def uninstall() -> None:
    """Restore the former streams when ours are no longer needed; a stream that other code installed stays."""
    with _changing:
        del _users[-1:]
        if _users:
            return
        for name in STYLES:
            found = getattr(sys, name)
            if isinstance(found, Dispatching):
                setattr(sys, name, found.former)
