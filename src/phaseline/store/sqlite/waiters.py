"""Register of processes that wait to own the store.

Each holds a shared lock on a file beside the store, which is released when the process dies. The owner needs no clock:
if it can lock the file exclusively, no process waits. The file is never removed.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from phaseline.store.sql import errors as failures
from phaseline.store.sqlite.owner_lock import forget_on_fork


class WaitingRoom:
    """The lock file on which waiting processes of a store hold shared locks."""

    def __init__(self, path: str) -> None:
        """Remember the path; no file is opened yet."""
        self.path = path
        self._handle = -1
        self._count = 0
        self._guard = threading.Lock()
        self._forgets_on_fork = False

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Return a context that registers this process as waiting; several threads may use it.

        Raises PL-S005 if the file cannot be written.
        """
        self._enter()
        try:
            yield
        finally:
            self._leave()

    def somebody_else(self) -> bool:
        """Return True if any other process waits."""
        with self._guard:
            if self._count:
                return not self._alone()
            try:
                handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return False  # no process has ever waited
            try:
                return not _try_alone(handle)
            finally:
                os.close(handle)

    def close(self) -> None:
        """Stop waiting and close the file. Safe to call twice."""
        with self._guard:
            self._count = 0
            self._let_go()

    def _enter(self) -> None:
        with self._guard:
            if not self._count:
                try:
                    self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                    fcntl.flock(self._handle, fcntl.LOCK_SH)  # waits only while an owner looks
                except OSError as error:
                    self._let_go()
                    raise failures.cannot_lock(self.path, error.strerror or str(error)) from error
                if not self._forgets_on_fork:
                    self._forgets_on_fork = True
                    forget_on_fork(self._close_in_child)
            self._count += 1

    def _leave(self) -> None:
        with self._guard:
            if self._count:
                self._count -= 1
                if not self._count:
                    self._let_go()

    def _alone(self) -> bool:
        """Try to turn the shared lock into an exclusive one, and share it again. Return True if that succeeded.

        A failed attempt loses the shared lock, so it is taken again.
        """
        try:
            return _try_alone(self._handle)
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_SH)

    def _let_go(self) -> None:
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)

    def _close_in_child(self) -> None:
        """Close the file in a forked child, which shares the lock but does not wait."""
        self._guard = threading.Lock()
        self._count = 0
        self._let_go()


def _try_alone(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
