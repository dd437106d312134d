"""A shell on a host: its output is logged and its end is awaited; closing its connection ends the shell."""

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
"""The same for a remote shell: its output may still arrive after its end is reported."""
MOST_LINGERING = 20
"""So often it is waited for more of it at most."""
AWAIT_END_S = GRACE_S + 5.0
"""The time in which a shell must end after its connection was closed; then it is given up."""
AWAIT_CLOSE_S = 1.0
"""How long a released shell is still watched."""
LAST_LINES = 5
"""The number of last lines of a command that a failure shows."""
MAX_LAST_CHARS = 2_000
"""The most characters of these lines."""


class HostUnreachable(Exception):
    """A host that cannot be reached, or whose connection was lost; ``is_final``: a retry cannot help."""

    def __init__(self, text: str, *, is_final: bool = False) -> None:
        """``text`` names the host and the reason."""
        super().__init__(text)
        self.is_final = is_final


class ShellLine(Protocol):
    """The connection to a started shell."""

    def write(self, data: bytes) -> None:
        """Bytes for its standard input."""
        ...

    def end(self) -> None:
        """Close the input: the remote process sees its end and stops what it started."""
        ...

    def close(self) -> None:
        """Release the line in any state; safe to call twice."""
        ...


class CommandHost(Protocol):
    """Where commands run: this machine or a host."""

    @property
    def name(self) -> str:
        """What failures call it."""
        ...

    @property
    def root(self) -> str:
        """The folder of the instances' work folders; relative to the folder in which shells begin."""
        ...

    async def open(self, command: Command) -> ShellLine:
        """Start a shell that reads its script (``scripts.BOOT``). Raises ``HostUnreachable``."""
        ...


@frozen
class Ended:
    """The end of a command: its exit code (negative: the signal) and ``lines``, its last lines of output.

    ``is_late``: it was ended because its time limit was over. ``said``: the part of its standard output that was kept.
    """

    code: int
    lines: tuple[str, ...] = ()
    is_late: bool = False
    said: str = ""


class _Logger:
    """Passes lines to the logger and keeps the last lines."""

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
    """The output of one shell. Used in the loop's thread only."""

    def __init__(self, log: Callable[[str, str], None] | None, missing: str = "") -> None:
        """``log(level, line)`` receives each line of output; None: no log. ``missing``: an error that is not logged."""
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
        """The shell has ended; wait up to ``linger_s`` for the rest of its output."""
        self._code, self._linger_s = code, linger_s
        self._loop.call_later(linger_s, self._linger)

    def closed(self, error: BaseException | None = None) -> None:
        """The output is complete. ``error``: the exception that closed the connection before the end was known."""
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
        """Its end, with its output."""
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
    """Run a script at a place and return how it ended.

    ``content``: bytes for its standard input, which is closed after them; None: the input remains open while the script runs.
    Returns None if the script only wrote ``missing``. After ``limit_s()`` seconds (0: no limit; called when the line is open)
    or when this call is canceled, all processes that the script has started are ended. Raises ``HostUnreachable``.
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
