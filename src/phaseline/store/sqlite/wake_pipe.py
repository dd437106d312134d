"""Wake-ups between processes: a named pipe beside the store, which only the owner reads.

A process that has stored a request writes a byte into the pipe, which wakes a thread of the owner. If anything goes
wrong, the owner finds the request when it next looks by itself, so every error is ignored: a file system without pipes,
a pipe without a reader because the owner was killed, another file of that name.
"""

from __future__ import annotations

import os
import select
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

ASKED = b"a"
"""What is written into the pipe for a stored request."""
END = b"e"
"""What ends the thread that reads."""
READ_TOGETHER = 4_096
"""Number of bytes that one read takes: all requests of that time are one wake-up."""


class WakePipe:
    """The pipe of a store."""

    def __init__(self, path: str) -> None:
        """Remember the path; nothing is created."""
        self.path = path

    def write(self) -> None:
        """Wake the process that listens, if there is one. Never waits."""
        try:
            handle = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return  # no process listens
        try:
            if _is_pipe(handle):
                os.write(handle, ASKED)
        except OSError:
            pass  # the pipe is full of wake-ups, or its reader has just ended
        finally:
            os.close(handle)

    @contextmanager
    def listen(self, wake: Callable[[], None]) -> Iterator[bool]:
        """Return a context in which a thread calls ``wake`` after other processes have written into the pipe.

        It yields False if that is impossible.
        """
        handle = self._open()
        if handle < 0:
            yield False
            return
        end, ending = os.pipe()  # the end is not written into the named pipe, which another process may read, too
        thread = threading.Thread(target=_hear, args=(handle, end, wake), name="phaseline-wake-ups", daemon=True)
        thread.start()
        try:
            yield True
        finally:
            os.write(ending, END)  # closing would not be noticed while a forked child has it open, too
            thread.join()
            self._remove(handle)
            for each in (handle, end, ending):
                os.close(each)

    def _open(self) -> int:
        """Make the pipe and open it. Return -1 if that is impossible."""
        handle = -1
        try:
            with suppress(FileExistsError):  # left by an owner that was killed
                os.mkfifo(self.path, 0o600)
            # Also for writing: otherwise the pipe is at its end, and so always readable, when a writer has closed it.
            handle = os.open(self.path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
            if _is_pipe(handle):
                return handle
            os.close(handle)
        except OSError:
            pass
        return -1

    def _remove(self, handle: int) -> None:
        """Remove the pipe, unless another file has its name now."""
        with suppress(OSError):
            if os.path.samestat(os.lstat(self.path), os.fstat(handle)):
                os.unlink(self.path)  # noqa: PTH108 - as above


def _is_pipe(handle: int) -> bool:
    return stat.S_ISFIFO(os.fstat(handle).st_mode)


def _hear(handle: int, end: int, wake: Callable[[], None]) -> None:
    """Call ``wake`` whenever something was written into the pipe, until ``end`` can be read."""
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    waiting.register(end, select.POLLIN)
    while all(number == handle for number, _ in waiting.poll()):
        with suppress(BlockingIOError):  # another process has read it
            os.read(handle, READ_TOGETHER)
        wake()
