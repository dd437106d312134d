"""Capturing what plugin code prints in the engine's process: it becomes lines of its call's log.

While an executor exists, ``sys.stdout`` and ``sys.stderr`` are streams that find out which call is printing. Text
printed by a call, coroutines included, is logged for the call. All other text goes to the original stream. But standard
output of other threads goes to standard error, because standard output belongs to the command.
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
"""{stream: (level, prefix of a line)}, the same as for scripts (S3)."""


class Printed:
    """Collects what one call prints inside a ``with`` block. ``close`` logs the last line if it has no line end."""

    __slots__ = ("_keep", "_rest", "_token")

    def __init__(self, keep: Callable[[str, str], None]) -> None:
        """``keep(level, line)`` takes each line; any thread may call it."""
        self._keep = keep
        self._rest: dict[str, WholeLines] | None = None
        self._token: Token[Printed | None] | None = None

    def __enter__(self) -> Self:
        """Assign the output of this thread, and of coroutines that it starts, to the call from now on."""
        self._token = _speaking.set(self)
        return self

    def __exit__(self, *raised: object) -> None:
        """End the assignment of this thread's output to the call."""
        assert self._token is not None
        _speaking.reset(self._token)

    def write(self, stream: str, text: str) -> None:
        """Log whole lines, and keep the rest for the next write."""
        if self._rest is None:
            self._rest = {}
        level, before = STYLES[stream]
        lines = self._rest.get(stream)
        if lines is None:
            lines = self._rest[stream] = WholeLines()
        for line in lines.take(text):
            self._keep(level, before + line)

    def close(self) -> None:
        """Log the last line of each stream if it has no line end."""
        rests, self._rest = self._rest, None
        if rests is None:  # nearly always: nothing was printed
            return
        for stream, lines in rests.items():
            level, before = STYLES[stream]
            for line in lines.rest():
                self._keep(level, before + line)


_speaking: ContextVar[Printed | None] = ContextVar("phaseline_speaking", default=None)


_copied: list[None] = []
"""Not empty in a copy of this process that a call forked: the output of a copy is not logged."""


def _speak_no_more() -> None:
    if _speaking.get() is not None:
        _speaking.set(None)
        _copied.append(None)


os.register_at_fork(after_in_child=_speak_no_more)


class Dispatching:
    """A text stream that replaces ``sys.stdout`` or ``sys.stderr``. Only writing differs from the original stream."""

    def __init__(self, name: str, former: Any) -> None:
        """``name`` is ``stdout`` or ``stderr``, ``former`` the original stream."""
        self._name = name
        self.former = former

    def write(self, text: str) -> int:
        """Pass the text to the call that is printing, or else to the original stream."""
        call = _speaking.get()
        if call is None:
            return int(self._through().write(text))
        call.write(self._name, text)
        return len(text)

    def writelines(self, lines: Sequence[str]) -> None:
        """Write each line."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush the original stream; lines of calls are logged at once."""
        if _speaking.get() is None:
            self._through().flush()

    def _through(self) -> Any:
        if self._name == "stdout" and (_copied or threading.current_thread() is not threading.main_thread()):
            return sys.stderr
        return self.former

    def __getattr__(self, name: str) -> Any:
        """Return another attribute of the original stream, such as ``encoding`` or ``isatty``."""
        return getattr(self.former, name)


_users: list[None] = []
_changing = threading.Lock()


def install() -> None:
    """Replace the standard streams. Each call must be followed by a call of ``uninstall``."""
    with _changing:
        _users.append(None)
        for name in STYLES:
            found = getattr(sys, name)
            if found is not None and not isinstance(found, Dispatching):
                setattr(sys, name, Dispatching(name, found))


def uninstall() -> None:
    """End one use that began with ``install``. After the last one, restore the original streams.

    A stream that other code has replaced meanwhile is left unchanged.
    """
    with _changing:
        del _users[-1:]
        if _users:
            return
        for name in STYLES:
            found = getattr(sys, name)
            if isinstance(found, Dispatching):
                setattr(sys, name, found.former)
