"""Capture direct output to the terminal: by threads of plugins, programs that they start, and code in C.

In place of the terminal, descriptors 1 and 2 are a pipe. A thread reads it and shows the text escaped, like all foreign
text. Programs see no terminal, and most then omit colors and progress bars; questions on ``/dev/tty`` still work.
A small process, the keeper, waits for the end of this one, also by ``kill -9``, and shows the remaining text: a service
that a plugin has started continues to write, and the command does not wait for it.
Text that this process has read but not yet drawn when it is killed is lost.
"""

from __future__ import annotations

import atexit
import codecs
import fcntl
import os
import select
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.cli.streams.escaping import visible

if TYPE_CHECKING:
    from typing import TextIO

READ_BYTES = 65_536
MOST_BYTES = 1_048_576
"""The capacity of the pipe in bytes: the most that code can write while it lets no thread of Python run."""
DESCRIPTORS = (1, 2)
DETACHED = '"$@" &'
"""A shell command that starts the keeper detached: a plugin that waits for all children must not wait for it."""
KEEPER = "import sys; sys.path.insert(0, sys.argv[1]); from phaseline.cli.streams import terminal_capture as overheard; overheard.keep(*sys.argv[2:])"


class Overheard:
    """The pipe. ``show`` receives written text, escaped, in pieces that need not be whole lines."""

    def __init__(self, pipe: int, terminal: TextIO) -> None:
        """``pipe``: its reading end."""
        os.set_blocking(pipe, False)
        self.pipe = pipe
        self._terminal = terminal
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lock = threading.RLock()
        self._show: Callable[[str], None] = self._write
        self.keeper: int | None = None
        """The writing end whose closing starts the keeper."""

    def shown_by(self, show: Callable[[str], None] | None = None) -> None:
        """Set the function that shows text; None: the terminal itself. When this returns, the former one has ended."""
        with self._lock:
            self._show = show or self._write

    def take(self) -> bool:
        """Show the text written so far. False: no program can write any more."""
        with self._lock:
            for _ in range(0, MOST_BYTES + 1, READ_BYTES):  # bounded: a program may write without end
                try:
                    chunk = os.read(self.pipe, READ_BYTES)
                except BlockingIOError:
                    return True
                text = self._decoder.decode(chunk, final=not chunk)
                if text:
                    self._try_to_show(visible(text))
                if not chunk:
                    return False
        return True

    def run(self) -> None:
        """Show text as it is written, until no program can write any more."""
        ready = select.poll()
        ready.register(self.pipe, select.POLLIN)
        while ready.poll() and self.take():
            pass

    def end(self) -> None:
        """Show the text so far, and leave the rest to the keeper; this process reads no more."""
        self._lock.acquire()  # never released: a thread that writes while Python ends would break it
        self.take()
        if self.keeper is not None:
            os.close(self.keeper)
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in DESCRIPTORS:
            os.dup2(nowhere, number)

    def _try_to_show(self, text: str) -> None:
        """Suppress errors of the output: a closed terminal, or a signal during writing, must not block programs that write."""
        with suppress(OSError, ValueError, RuntimeError):
            self._show(text)

    def _write(self, text: str) -> None:
        self._terminal.write(text)
        self._terminal.flush()


_begun: list[Overheard] = []
_shows: list[Callable[[str], None]] = []
"""The function that shows the text in place of the terminal, if any."""
_beginning = threading.Lock()


def begin(terminal: TextIO) -> None:
    """Start the capture; ``terminal`` receives our own texts, and foreign output to descriptors 1 and 2, escaped."""
    with _beginning:
        if _begun:
            return
        ours, theirs = os.pipe()
        with suppress(OSError):  # the user's limit on pipe memory may be exhausted
            fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, MOST_BYTES)
        made = Overheard(ours, terminal)
        made.shown_by(*_shows)
        with suppress(OSError):  # without it, only text written after the end is lost
            _start_keeper(made, terminal)
        _flush()
        for number in DESCRIPTORS:
            os.dup2(theirs, number)
        os.close(theirs)
        threading.Thread(target=made.run, name="phaseline-overheard", daemon=True).start()
        _begun.append(made)
        os.register_at_fork(after_in_child=_leave_to_the_original)
        atexit.register(_end)


def _start_keeper(made: Overheard, terminal: TextIO) -> None:
    import subprocess

    waits, ends = os.pipe()
    folder = Path(__file__).parents[3]
    command = [sys.executable, "-I", "-S", "-c", KEEPER, str(folder), str(made.pipe), str(waits)]
    try:
        subprocess.run(
            ["/bin/sh", "-c", DETACHED, "sh", *command],
            stdin=subprocess.DEVNULL,
            stdout=terminal,
            stderr=subprocess.DEVNULL,
            pass_fds=(made.pipe, waits),
            start_new_session=True,  # Ctrl-C and Ctrl-Z must not reach it
            check=False,
        )
    except BaseException:
        os.close(ends)
        raise
    finally:
        os.close(waits)
    made.keeper = ends


def keep(pipe: str, waits: str) -> None:
    """Run the keeper: after the end of the command, show further text until no program can write any more."""
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # it is Python's own
    os.read(int(waits), 1)
    Overheard(int(pipe), sys.stdout).run()


def shown_by(show: Callable[[str], None] | None) -> None:
    """Set the function that shows the text, which is escaped already; None: the terminal itself."""
    with _beginning:
        _shows[:] = [] if show is None else [show]
        for made in _begun:
            made.shown_by(show)


def settle() -> None:
    """Show the text written so far."""
    for made in _begun:
        _flush()
        made.take()


def _flush() -> None:
    """Flush Python's own streams, which may hold output of plugins."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, RuntimeError, AttributeError):  # a plugin may have closed or replaced it
            stream.flush()


def _leave_to_the_original() -> None:
    """Stop reading in a process that a plugin forked: the fork writes, and the original reads."""
    for made in _begun:
        os.close(made.pipe)
        if made.keeper is not None:
            os.close(made.keeper)
    _begun.clear()


def _end() -> None:
    """End the capture after all threads that Python awaits have ended."""
    for made in _begun:
        _flush()
        made.end()
    _begun.clear()
