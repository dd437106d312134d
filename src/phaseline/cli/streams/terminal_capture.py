"""What others write to our terminal past Python: threads of plugins, programs that they start, code in C.

In place of the terminal they have a pipe at descriptors 1 and 2. A thread reads it and shows the text escaped, as all text
that is not ours. Programs see that it is no terminal, and mostly leave their colors and progress bars out; what they ask
on ``/dev/tty`` they still ask. A small process, the keeper, waits for the end of this one, be it a ``kill -9``, and shows
the rest: a service that a plugin has started goes on writing, and nobody waits for it.
What this process has read and not yet drawn when it is killed is lost.
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
"""What the pipe holds: so much may be written by code that lets no thread of Python run meanwhile."""
DESCRIPTORS = (1, 2)
DETACHED = '"$@" &'
"""For a shell: the program is no child of ours, whom a plugin that waits for all its children would wait for."""
KEEPER = "import sys; sys.path.insert(0, sys.argv[1]); from phaseline.cli.streams import terminal_capture as overheard; overheard.keep(*sys.argv[2:])"


class Overheard:
    """The pipe. ``show`` gets what was written, escaped: any part of a text, not only whole lines."""

    def __init__(self, pipe: int, terminal: TextIO) -> None:
        """``pipe``: its end to read from."""
        os.set_blocking(pipe, False)
        self.pipe = pipe
        self._terminal = terminal
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lock = threading.RLock()
        self._show: Callable[[str], None] = self._write
        self.keeper: int | None = None
        """Closed, it lets the keeper begin."""

    def shown_by(self, show: Callable[[str], None] | None = None) -> None:
        """What shows the text from now on; None: the terminal itself. When this returns, what did so before has ended."""
        with self._lock:
            self._show = show or self._write

    def take(self) -> bool:
        """Show what has been written until now. False: no program is left that could write."""
        with self._lock:
            for _ in range(0, MOST_BYTES + 1, READ_BYTES):  # and no more: somebody may write without end
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
        """Show what is written, until no program is left that could write."""
        ready = select.poll()
        ready.register(self.pipe, select.POLLIN)
        while ready.poll() and self.take():
            pass

    def end(self) -> None:
        """Show what is there, and leave the rest to the keeper; here nobody reads any more."""
        self._lock.acquire()  # for good: a thread that writes while Python ends would break it
        self.take()
        if self.keeper is not None:
            os.close(self.keeper)
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in DESCRIPTORS:
            os.dup2(nowhere, number)

    def _try_to_show(self, text: str) -> None:
        """A terminal that is gone is no reason to keep those waiting who write; nor is a signal that came while it was written to."""
        with suppress(OSError, ValueError, RuntimeError):
            self._show(text)

    def _write(self, text: str) -> None:
        self._terminal.write(text)
        self._terminal.flush()


_begun: list[Overheard] = []
_shows: list[Callable[[str], None]] = []
"""What shows the text in place of the terminal itself, if anything does."""
_beginning = threading.Lock()


def begin(terminal: TextIO) -> None:
    """From now on; ``terminal`` is for our own texts, and what others write to descriptors 1 and 2 is shown there, escaped."""
    with _beginning:
        if _begun:
            return
        ours, theirs = os.pipe()
        with suppress(OSError):  # a user may have used up what the system lends to pipes
            fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, MOST_BYTES)
        made = Overheard(ours, terminal)
        made.shown_by(*_shows)
        with suppress(OSError):  # without it, only what is written after the end is lost
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
            start_new_session=True,  # Ctrl-C and Ctrl-Z are not meant for it
            check=False,
        )
    except BaseException:
        os.close(ends)
        raise
    finally:
        os.close(waits)
    made.keeper = ends


def keep(pipe: str, waits: str) -> None:
    """The keeper: when the command has ended, show what is still written, until no program is left that could write."""
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # it is Python's own
    os.read(int(waits), 1)
    Overheard(int(pipe), sys.stdout).run()


def shown_by(show: Callable[[str], None] | None) -> None:
    """What shows the text from now on, escaped as it is; None: the terminal itself."""
    with _beginning:
        _shows[:] = [] if show is None else [show]
        for made in _begun:
            made.shown_by(show)


def settle() -> None:
    """What was written until now is shown."""
    for made in _begun:
        _flush()
        made.take()


def _flush() -> None:
    """Streams of Python's own may hold what plugins wrote there."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(
            OSError, ValueError, RuntimeError, AttributeError
        ):  # a plugin may have closed it, or taken it away
            stream.flush()


def _leave_to_the_original() -> None:
    """In a copy that a plugin made of this process: the copy writes, and the original reads."""
    for made in _begun:
        os.close(made.pipe)
        if made.keeper is not None:
            os.close(made.keeper)
    _begun.clear()


def _end() -> None:
    """All threads that are waited for have ended."""
    for made in _begun:
        _flush()
        made.end()
    _begun.clear()
