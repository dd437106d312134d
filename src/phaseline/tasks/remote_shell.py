"""Runs a script in a shell on a host: logs its output and waits for its end. Closing the connection ends the shell."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from phaseline.compat.cloudify.script_process import LineLog
from phaseline.lang.fast_dataclasses import frozen
from phaseline.tasks.shell_scripts import GRACE_S, encoded

if TYPE_CHECKING:
    from collections.abc import Callable

LINGER_S = 0.25
"""Seconds after the end of a command on this machine in which its remaining output is awaited.

Later output comes from a process that the command has left running.
"""
FAR_LINGER_S = 2.0
"""Seconds after the end of a command on a host in which its output is awaited, because it may arrive after the end."""
MOST_LINGERING = 20
"""Number of times that the waiting for output after a command's end is prolonged, because more output has arrived."""
AWAIT_END_S = GRACE_S + 5.0
"""Seconds in which a shell must end after its input was closed; after that it is no longer awaited."""
AWAIT_CLOSE_S = 1.0
"""Seconds for which the end of a shell is awaited after its line was closed."""
LAST_LINES = 5
"""Number of last output lines of a command that a failure shows."""
MAX_LAST_CHARS = 2_000
"""Largest number of characters of a command's last output lines that a failure shows."""


class HostUnreachable(Exception):
    """Raised if a host cannot be reached or its connection is lost. ``is_final``: a retry cannot help."""

    def __init__(self, text: str, *, is_final: bool = False) -> None:
        """Make the error; ``text`` names the host and the reason."""
        super().__init__(text)
        self.is_final = is_final


class ShellLine(Protocol):
    """A line: the connection to a started shell."""

    def write(self, data: bytes) -> None:
        """Write bytes to the shell's standard input."""
        ...

    def end(self) -> None:
        """Close the shell's input; the shell then ends all processes that it has started."""
        ...

    def close(self) -> None:
        """Close the line, whether or not the shell has ended. Safe to call twice."""
        ...


class CommandHost(Protocol):
    """A place where commands run: this machine or a host."""

    @property
    def name(self) -> str:
        """The name of the place in messages of failures."""
        ...

    @property
    def root(self) -> str:
        """The folder that contains the instances' work folders, absolute or relative to the folder in which shells
        begin.
        """
        ...

    async def open(self, command: Command) -> ShellLine:
        """Start a shell that reads its script from its input (``shell_scripts.BOOT``). Raises ``HostUnreachable``."""
        ...


@frozen
class Ended:
    """How a command has ended. ``code``: its exit code, or minus the signal's number; ``lines``: its last output lines.

    ``is_late``: the command was ended because its time limit had passed. ``said``: the kept part of its standard
    output.
    """

    code: int
    lines: tuple[str, ...] = ()
    is_late: bool = False
    said: str = ""


class _Logger:
    """Passes output lines to the log, and keeps the last ones."""

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
    """The output and the end of one shell. Use it only in the thread of the event loop."""

    def __init__(self, log: Callable[[str, str], None] | None, missing: str = "") -> None:
        """Start collecting output.

        ``log(level, line)`` is called for each line; if ``log`` is None, lines are not logged.

        ``missing``: an error message that is recognized (``is_missing``) instead of being logged.
        """
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
        """Receive a piece of the shell's output."""
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
        """Record that the shell has ended, and wait up to ``linger_s`` seconds for the rest of its output."""
        self._code, self._linger_s = code, linger_s
        self._loop.call_later(linger_s, self._linger)

    def closed(self, error: BaseException | None = None) -> None:
        """Record that the output is complete.

        ``error``: the exception that closed the connection before the shell's exit code arrived.
        """
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
        """Return how the command has ended, with its last output."""
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
    """Run a script in a shell of ``place``, and return how it ended, or None if the script only wrote ``missing``.

    ``content``: bytes for the shell's standard input, which is closed after them; if None, the input stays open while
    the script runs. ``limit_s`` is called when the line is open, and returns the time limit in seconds, 0 for none.
    When the limit has passed, or this coroutine is canceled, all processes that the script has started are ended.
    Raises ``HostUnreachable``.
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
            ended.exception()  # reported above, or no longer needed


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
