"""A process whose output is logged while it runs: one thread watches both pipes and the end of the process."""

from __future__ import annotations

import codecs
import os
import selectors
import subprocess
from typing import Any, Protocol

from phaseline.calls.threads.line_buffer import WholeLines
from phaseline.lang.fast_dataclasses import frozen

KEPT_CHARS = 1_000_000
"""Characters kept of the end of each stream for an error."""
SHELL_SAYS_KILLED = 128
"""The number to which a shell adds the signal that ended its command."""
POLL_S = 0.05
"""How often the end is checked if the system cannot signal it."""


class Options(Protocol):
    """The used parts of the ``process`` input."""

    @property
    def cwd(self) -> str | None:
        """The folder to run in."""
        ...

    @property
    def log_stdout(self) -> bool:
        """Log standard output."""
        ...

    @property
    def log_stderr(self) -> bool:
        """Log standard error."""
        ...

    @property
    def stderr_to_stdout(self) -> bool:
        """Merge standard error into standard output."""
        ...


@frozen
class FinishedProcess:
    """How a process ended: exit code (negative: the signal) and the ends of its output."""

    code: int
    stdout: str
    stderr: str


class LineLog:
    """A log of text that comes in pieces: it logs whole lines with a prefix, and remembers the end of the text.

    A logger that has ``log_lines`` gets several lines at once, and returns whether it accepts more.
    """

    def __init__(self, logger: Any, prefix: str, *, is_logged: bool = True) -> None:
        """``is_logged`` False: only remember the end."""
        self._logger = logger
        self._prefix = prefix
        self._is_logged = is_logged
        self._lines = WholeLines()
        self._kept: list[str] = []
        self._size = 0

    def write(self, text: str) -> None:
        """Log the complete lines."""
        self._kept.append(text)
        self._size += len(text)
        if self._size > 2 * KEPT_CHARS:
            whole = "".join(self._kept)[-KEPT_CHARS:]
            self._kept, self._size = [whole], len(whole)
        if self._is_logged:
            self._log(self._lines.take(text))

    def close(self) -> None:
        """Log a last line without an end of line."""
        if self._is_logged:
            self._log(self._lines.rest())

    def text(self) -> str:
        """The end of the written text."""
        return "".join(self._kept).replace("\r\n", "\n").removesuffix("\n")

    def _log(self, lines: list[str]) -> None:
        if not lines:
            return
        together = getattr(self._logger, "log_lines", None)
        if together is not None:
            self._is_logged = together([self._prefix + line for line in lines])
            return
        for line in lines:
            self._logger.info("%s%s", self._prefix, line)


class _Stream:
    """One pipe of the process: bytes in, lines out."""

    def __init__(self, pipe: Any, log: LineLog) -> None:
        os.set_blocking(pipe.fileno(), False)
        self.pipe = pipe
        self.log = log
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.is_open = True

    def read(self) -> bool:
        """Log the available output. False at its end, or if there is none now."""
        try:
            chunk = os.read(self.pipe.fileno(), 65536)
        except BlockingIOError:
            return False
        if chunk:
            self.log.write(self._decoder.decode(chunk))
            return True
        self.is_open = False
        return False

    def close(self) -> None:
        self.log.write(self._decoder.decode(b"", final=True))
        self.log.close()
        self.pipe.close()


def run_command(command: str, environment: dict[str, str], logger: Any, options: Options) -> FinishedProcess:
    """Run a command through the shell until its process ends.

    Processes it leaves in the background keep running; if they still hold the output, it is not read any more.
    """
    process = subprocess.Popen(
        command,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if options.stderr_to_stdout else subprocess.PIPE,
        cwd=options.cwd,
        env=environment,
        start_new_session=True,
    )
    out = LineLog(logger, "<out> ", is_logged=options.log_stdout)
    err = LineLog(logger, "<err> ", is_logged=options.log_stderr)
    streams = [_Stream(process.stdout, out)]
    if process.stderr is not None:
        streams.append(_Stream(process.stderr, err))
    try:
        _watch(process, streams)
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        still_held = [stream for stream in streams if stream.is_open]
        for stream in streams:
            stream.close()
    if still_held and not _was_killed(process.returncode):
        logger.warning(
            "a process that the script left running still holds its output, which is not read any more; "
            "start it with its output redirected: COMMAND >FILE 2>&1 &"
        )
    return FinishedProcess(process.returncode, out.text(), err.text())


def _was_killed(code: int) -> bool:
    """True if a signal ended the process, or the command that its shell ran: it left nothing running on purpose."""
    return code < 0 or code > SHELL_SAYS_KILLED


def _watch(process: subprocess.Popen[bytes], streams: list[_Stream]) -> None:
    """Read until the process has ended and its output is read."""
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream.pipe, selectors.EVENT_READ, stream)
        end = os.pidfd_open(process.pid) if hasattr(os, "pidfd_open") else None
        try:
            if end is not None:
                selector.register(end, selectors.EVENT_READ, None)
            while process.poll() is None:
                for key, _ in selector.select(None if end is not None else POLL_S):
                    if key.data is not None and not key.data.read() and not key.data.is_open:
                        selector.unregister(key.fileobj)
        finally:
            if end is not None:
                os.close(end)
    for stream in streams:
        while stream.is_open and stream.read():
            pass
