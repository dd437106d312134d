"""Capture of direct output to the terminal: by threads of plugins, programs that they start, and code in C.

Descriptors 1 and 2 become a pipe in place of the terminal. A thread reads the pipe and shows the text escaped. Programs
see no terminal, so most omit colors and progress bars; questions on ``/dev/tty`` still work. A small process, the
keeper, waits for the end of this process, even by ``kill -9``, and shows the remaining text. So a service that a plugin
has started can continue to write, and the command does not wait for it. Text that this process has read but not yet
shown when it is killed is lost.
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
"""Capacity of the pipe in bytes. Code that holds Python's global lock can write this much before the pipe is read."""
DESCRIPTORS = (1, 2)
DETACHED = '"$@" &'
"""Shell command that starts the keeper detached, because a plugin may wait for all its children."""
KEEPER = "import sys; sys.path.insert(0, sys.argv[1]); from phaseline.cli.streams import terminal_capture as overheard; overheard.keep(*sys.argv[2:])"


class Overheard:
    """The pipe into which plugins and other programs write, in place of the terminal.

    ``show`` receives the text, escaped, in pieces that need not be whole lines.
    """

    def __init__(self, pipe: int, terminal: TextIO) -> None:
        """``pipe``: file descriptor of the reading end; ``terminal``: where the text is shown."""
        os.set_blocking(pipe, False)
        self.pipe = pipe
        self._terminal = terminal
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lock = threading.RLock()
        self._show: Callable[[str], None] = self._write
        self.keeper: int | None = None
        """File descriptor of a pipe's writing end. When it is closed, the keeper begins to show text."""

    def shown_by(self, show: Callable[[str], None] | None = None) -> None:
        """Set the function that shows text; None means the terminal itself.

        The former function is not called any more.
        """
        with self._lock:
            self._show = show or self._write

    def take(self) -> bool:
        """Show the text written so far. Return False if no program can write any more."""
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
        """Show the text so far and leave the rest to the keeper; this process reads no more."""
        self._lock.acquire()  # never released: a thread that writes while Python ends would break it
        self.take()
        if self.keeper is not None:
            os.close(self.keeper)
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in DESCRIPTORS:
            os.dup2(nowhere, number)

    def _try_to_show(self, text: str) -> None:
        """Show text and ignore errors: a closed terminal or a signal must not block programs that write."""
        with suppress(OSError, ValueError, RuntimeError):
            self._show(text)

    def _write(self, text: str) -> None:
        self._terminal.write(text)
        self._terminal.flush()


_begun: list[Overheard] = []
_shows: list[Callable[[str], None]] = []
"""The function that shows the text in place of the terminal; empty if there is none."""
_beginning = threading.Lock()


def begin(terminal: TextIO) -> None:
    """Start the capture. ``terminal`` receives our own texts, and what others write to descriptors 1 and 2, escaped."""
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
    """Set the function that shows the text, which is already escaped; None means the terminal itself."""
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
    """Stop reading in a process that a plugin forked: the forked process writes, and only the original one reads."""
    for made in _begun:
        os.close(made.pipe)
        if made.keeper is not None:
            os.close(made.keeper)
    _begun.clear()


def _end() -> None:
    """End the capture after all threads that Python waits for have ended."""
    for made in _begun:
        _flush()
        made.end()
    _begun.clear()
