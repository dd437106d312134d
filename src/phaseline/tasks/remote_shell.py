"""A shell on a place that is spoken to over a line: what it says is logged, its end is awaited, a closed line ends it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from phaseline.compat.cloudify.script_process import LineLog
from phaseline.lang.fast_dataclasses import frozen
from phaseline.tasks.shell_scripts import GRACE_S, encoded

if TYPE_CHECKING:
    from collections.abc import Callable

LINGER_S = 0.25
"""Output that comes later than this after the end of a command of this machine is that of something it left running."""
FAR_LINGER_S = 2.0
"""The same for one that runs elsewhere: what it said may still be on its way when its end is told."""
MOST_LINGERING = 20
"""So often it is waited for more of it at most."""
AWAIT_END_S = GRACE_S + 5.0
"""A shell whose line was closed must have ended after so long; then it is given up."""
AWAIT_CLOSE_S = 1.0
"""And so long after it was let go of, until nobody looks at it any more."""
LAST_LINES = 5
"""How many of the last lines of a command a failure tells."""
MAX_LAST_CHARS = 2_000
"""And so many characters of them at most."""


class HostUnreachable(Exception):
    """A place that cannot be reached now, or whose line was lost; ``is_final``: nor will it be before somebody does something."""

    def __init__(self, text: str, *, is_final: bool = False) -> None:
        """``text`` says which and why."""
        super().__init__(text)
        self.is_final = is_final


class ShellLine(Protocol):
    """The way to a shell that was started."""

    def write(self, data: bytes) -> None:
        """Bytes for its standard input."""
        ...

    def end(self) -> None:
        """Nothing more will come: whatever lives by the line is ended there."""
        ...

    def close(self) -> None:
        """Let go of it, whatever it does; safe to call twice."""
        ...


class CommandHost(Protocol):
    """Where commands run: this machine or a host."""

    @property
    def name(self) -> str:
        """What failures call it."""
        ...

    @property
    def root(self) -> str:
        """The folder in which work folders of instances lie; relative to that in which shells begin."""
        ...

    async def open(self, command: Command) -> ShellLine:
        """Start a shell that reads its script (``scripts.BOOT``). Raises ``HostUnreachable``."""
        ...


@frozen
class Ended:
    """How a command ended: its exit code (negative: the signal); ``lines``: the last that it said.

    ``is_late``: it had to be ended because its time was over. ``said``: all of its standard output that was kept.
    """

    code: int
    lines: tuple[str, ...] = ()
    is_late: bool = False
    said: str = ""


class _Logger:
    """Takes lines as a logger does, and keeps the last."""

    def __init__(self, log: Callable[[str, str], None] | None) -> None:
        self._log = log
        self.last: list[str] = []

    def info(self, _form: str, prefix: str, line: str) -> None:
        if self._log is not None:
            self._log("info", f"{prefix}{line}")
        if line.strip():
            self.last.append(line)
            del self.last[:-LAST_LINES]


class Command:
    """What is heard of one shell. Used in the loop's thread only."""

    def __init__(self, log: Callable[[str, str], None] | None, missing: str = "") -> None:
        """``log(level, line)`` is given each line of output, None: nobody is. ``missing``: an error that is not logged."""
        import codecs

        self._loop = asyncio.get_running_loop()
        self._logger = _Logger(log)
        decoder = codecs.getincrementaldecoder("utf-8")
        self._streams = [(LineLog(self._logger, prefix), decoder("replace")) for prefix in ("<out> ", "<err> ")]
        self._code, self._linger_s = 0, LINGER_S
        self._lingered = 0
        self._has_spoken = False
        self.ended: asyncio.Future[int] = self._loop.create_future()
        self._missing = f"{missing}\n".encode() if missing else b""
        self._held = b""
        self.is_missing = False

    def heard(self, data: bytes, *, is_error: bool) -> None:
        """A piece of its output."""
        self._has_spoken = True
        if is_error and self._missing:
            data, self._held = self._held + data, b""
            if self._missing.startswith(data):
                self._held, self.is_missing = data, self._missing == data
                return
            self._missing = b""
        log, decoder = self._streams[is_error]
        log.write(decoder.decode(data))

    def exited(self, code: int, linger_s: float = LINGER_S) -> None:
        """It has ended; more of its output may be on its way, if it does not take longer than ``linger_s`` to come."""
        self._code, self._linger_s = code, linger_s
        self._loop.call_later(linger_s, self._linger)

    def closed(self, error: BaseException | None = None) -> None:
        """All is heard. ``error``: what took the line away before its end was known."""
        if self.ended.done():
            return
        if self._held and not self.is_missing:
            self._streams[1][0].write(self._held.decode("utf-8", "replace"))
        for log, _ in self._streams:
            log.close()
        if error is None:
            self.ended.set_result(self._code)
        else:
            self.ended.set_exception(error)

    def told(self, code: int, *, is_late: bool = False) -> Ended:
        """How it ended, with what it said."""
        text = "\n".join(self._logger.last)[-MAX_LAST_CHARS:]
        return Ended(code, tuple(text.split("\n")) if text else (), is_late, self._streams[0][0].text())

    def _linger(self) -> None:
        self._lingered += 1
        if self._has_spoken and self._lingered < MOST_LINGERING and not self.ended.done():
            self._has_spoken = False
            self._loop.call_later(self._linger_s, self._linger)
        else:
            self.closed()


async def run(
    place: CommandHost,
    script: str,
    *,
    log: Callable[[str, str], None] | None = None,
    limit_s: Callable[[], float] = lambda: 0.0,
    content: bytes | None = None,
    missing: str = "",
) -> Ended | None:
    """How a script ended that was run on a place, with ``content`` on its input, if any; else for as long as its line is open.

    None: it wrote ``missing`` and did nothing. After ``limit_s()`` (0: never; asked when the line is open), or when it is canceled
    here, everything it has started is ended there. Raises ``HostUnreachable``.
    """
    command = Command(log, missing)
    line = await place.open(command)
    try:
        limit = limit_s()
        line.write(encoded(script))
        if content is not None:
            line.write(content)
            line.end()
        return await _awaited(command, line, limit if limit > 0 else None)
    finally:
        line.close()
        done, _ = await asyncio.wait({command.ended}, timeout=AWAIT_CLOSE_S)
        for ended in done:
            ended.exception()  # heard above, or of no interest any more


async def _awaited(command: Command, line: ShellLine, limit_s: float | None) -> Ended | None:
    try:
        done, _ = await asyncio.wait({command.ended}, timeout=limit_s)
    except asyncio.CancelledError:
        line.end()
        await asyncio.wait({command.ended}, timeout=AWAIT_END_S)
        raise
    if done:
        code = command.ended.result()
        return None if command.is_missing else command.told(code)
    line.end()
    done, _ = await asyncio.wait({command.ended}, timeout=AWAIT_END_S)
    if done and command.ended.exception() is None:
        return command.told(command.ended.result(), is_late=True)
    return command.told(-9, is_late=True)
