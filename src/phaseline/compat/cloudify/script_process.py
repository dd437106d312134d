"""Runs a process and logs its output while it runs: one thread watches both pipes and the end of the process."""

from __future__ import annotations

import codecs
import os
import selectors
import subprocess
from typing import Any, Protocol

from phaseline.calls.threads.line_buffer import WholeLines
from phaseline.lang.fast_dataclasses import frozen

KEPT_CHARS = 1_000_000
"""Number of last characters of each output stream that are kept, for the message of an error."""
SHELL_SAYS_KILLED = 128
"""Base of a shell's exit code for a command that a signal ended: the exit code is 128 plus the signal's number."""
POLL_S = 0.05
"""Seconds between two checks for the process's end, on systems that cannot report it (no ``pidfd_open``)."""


class Options(Protocol):
    """The options of an operation's input ``process`` that this module uses."""

    @property
    def cwd(self) -> str | None:
        """The folder in which the process runs, or None for the current one."""
        ...

    @property
    def log_stdout(self) -> bool:
        """True if standard output is logged."""
        ...

    @property
    def log_stderr(self) -> bool:
        """True if standard error is logged."""
        ...

    @property
    def stderr_to_stdout(self) -> bool:
        """True if standard error is merged into standard output."""
        ...


@frozen
class FinishedProcess:
    """The result of a process: its exit code (negative: the signal that ended it) and the last part of its output."""

    code: int
    stdout: str
    stderr: str


class LineLog:
    """Logs a text that arrives in pieces, line by line and with a prefix, and keeps the last part of the text.

    If the logger has a method ``log_lines``, it is called with several lines at once; nothing more is logged after it
    has returned False.
    """

    def __init__(self, logger: Any, prefix: str, *, is_logged: bool = True) -> None:
        """Start with an empty text. If ``is_logged`` is False, the text is kept but not logged."""
        self._logger = logger
        self._prefix = prefix
        self._is_logged = is_logged
        self._lines = WholeLines()
        self._kept: list[str] = []
        self._size = 0

    def write(self, text: str) -> None:
        """Add a piece of text, and log the lines that are now complete."""
        self._kept.append(text)
        self._size += len(text)
        if self._size > 2 * KEPT_CHARS:
            whole = "".join(self._kept)[-KEPT_CHARS:]
            self._kept, self._size = [whole], len(whole)
        if self._is_logged:
            self._log(self._lines.take(text))

    def close(self) -> None:
        """Log the rest of the text if it does not end with an end of line."""
        if self._is_logged:
            self._log(self._lines.rest())

    def text(self) -> str:
        """Return the last part of the text."""
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
    """One output pipe of the process, whose lines are logged."""

    def __init__(self, pipe: Any, log: LineLog) -> None:
        os.set_blocking(pipe.fileno(), False)
        self.pipe = pipe
        self.log = log
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.is_open = True

    def read(self) -> bool:
        """Log the output that is available now. Return False if there is none, or if the pipe has ended."""
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

    Processes that the command has started in the background keep running; their output is no longer read.
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
    """Return True if a signal ended the process or its command.

    Such a command was interrupted, so a process that it leaves in the background needs no warning.
    """
    return code < 0 or code > SHELL_SAYS_KILLED


def _watch(process: subprocess.Popen[bytes], streams: list[_Stream]) -> None:
    """Read the output until the process has ended and all available output is read."""
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
