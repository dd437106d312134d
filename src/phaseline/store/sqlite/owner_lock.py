"""The owner's lock: an operating-system lock on a file beside the store, which is released when its holder dies.

The file contains the holder's pid and command for the message to other processes. It is never removed, because another
process may be locking it at the same time.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.rows.rows import Owner
from phaseline.store.relational.connections import ReadSnapshot
from phaseline.store.sql import deployments as writes
from phaseline.store.sql import errors as failures

if TYPE_CHECKING:
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.store.sqlite.connections import FileConnections

PATIENCE_S = 0.25
"""How long, in seconds, to try for a held lock: a dying holder releases it within this time."""
LOOKED_AT_S = 10.0
"""How long, in seconds, to try for a lock that another process holds only to inspect the file.

Inspecting is brief, unless that process is paused.
"""
TRY_EVERY_S = 0.01
COMMAND_LENGTH = 256
"""Number of characters kept of the owner's command; each takes at most twelve bytes."""
NOTE_BYTES = 4_096
"""Largest number of bytes read from a lock file."""


@frozen
class Memory:
    """The lock file's data about the store beside it: its identity, and the epoch of the last owner that wrote."""

    identity: str
    epoch: int


class OwnerLock:
    """The lock file of a store, which this process can lock to become the owner."""

    def __init__(self, path: str) -> None:
        """Remember the path; no file is opened yet."""
        self.path = path
        self._handle = -1
        self._note: dict[str, str | int] = {}
        self._forgets_on_fork = False

    def take(self, command: str, since: int, name: str = "") -> None:
        """Take the lock as the holder ``name``. Raises PL-S004 naming the present holder, PL-S005 if unwritable."""
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise failures.cannot_lock(self.path, error.strerror or str(error)) from error
        if not _locked(handle, fcntl.LOCK_EX):
            holder = _read_owner(handle)
            os.close(handle)
            raise failures.owned(self.path.removesuffix(".lock"), str(holder))
        self._handle = handle
        self._forget_on_fork()
        self._note = {"pid": os.getpid(), "command": command[:COMMAND_LENGTH], "since": since, "holder": name}
        self._note.update(_read_memory(handle))
        try:
            self._write_note()
        except OSError as error:
            self.release()
            raise failures.cannot_lock(self.path, error.strerror or str(error)) from error

    def remember(self, identity: str, epoch: int) -> None:
        """Record in the lock file that the store was written in this epoch. The caller must hold the lock.

        The record stays when the holder ends, so that an older copy of the store can be detected.
        """
        known: dict[str, str | int] = {"store": identity, "epoch": epoch}
        if self._handle < 0 or known.items() <= self._note.items():
            return
        self._note.update(known)
        with suppress(OSError):  # what is not remembered is looked for in other ways
            self._write_note()

    def memory(self) -> Memory | None:
        """Return the recorded data about the store, or None if there is none or it is unreadable."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            known = _read_memory(handle)
        finally:
            os.close(handle)
        return Memory(str(known["store"]), int(known["epoch"])) if known else None

    def _write_note(self) -> None:
        # Spaces instead of a truncation, which waits for the file system's journal: 3 ms where others write.
        handle, note = self._handle, json.dumps(self._note).encode()
        os.pwrite(handle, note.ljust(min(os.fstat(handle).st_size, NOTE_BYTES)), 0)

    def release(self) -> None:
        """Release the lock. Safe to call twice."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            fcntl.flock(handle, fcntl.LOCK_UN)
            os.close(handle)

    def holder(self) -> Owner | None:
        """Return the process that holds the lock, or None."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return None if _try(handle, fcntl.LOCK_SH) else _read_owner(handle)
        finally:
            os.close(handle)

    def _forget_on_fork(self) -> None:
        """Close the lock file in forked children: a child shares the lock, and must not keep it longer than we do."""
        if not self._forgets_on_fork:
            forget_on_fork(self._close_in_child)
            self._forgets_on_fork = True

    def _close_in_child(self) -> None:
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


class FileLease:
    """Implements ``ports.lease.Lease``: held as long as the lock is held, the file is in its place, and the epoch is ours.

    The latter two can only go wrong if files beside the store are removed or replaced while the store is in use.
    """

    def __init__(self, connections: FileConnections, epoch: int, holder: str) -> None:
        """``epoch``: as the owner has just raised it."""
        self.epoch, self.holder = epoch, holder
        self._connections = connections
        self._seen = self._epoch_now = 0
        self._is_lost = False

    def is_late(self) -> bool:
        """Return False: the operating system keeps the lock, which needs no renewal."""
        return False

    def is_lost(self) -> bool:
        """Return True if the file was replaced, or another process has raised the epoch."""
        self._is_lost = self._is_lost or self._connections.is_gone() or self._has_other_epoch()
        return self._is_lost

    def loss(self) -> ProblemsError:
        """Return PL-S004."""
        if self._epoch_now > self.epoch:
            return failures.taken_over(self._connections.path, self.epoch, self._epoch_now)
        return failures.lease_lost(self._connections.path)

    def _has_other_epoch(self) -> bool:
        """Read the epoch if any other connection has written since the last time."""
        version = self._connections.version()
        if version == self._seen:
            return False
        self._seen = version
        with ReadSnapshot(self._connections) as db:
            self._epoch_now = writes.epoch(db)
        return self._epoch_now != self.epoch


def forget_on_fork(close: Callable[[], None]) -> None:
    """Call a bound method in each forked child, as long as the method's object exists."""
    method = weakref.WeakMethod(close)
    os.register_at_fork(after_in_child=lambda: _call(method))


def _call(method: weakref.WeakMethod[Callable[[], None]]) -> None:
    bound = method()
    if bound is not None:
        bound()


def _try(handle: int, form: int) -> bool:
    try:
        fcntl.flock(handle, form | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _locked(handle: int, form: int) -> bool:
    """Take the lock within the time limit. Return False if that fails."""
    end = time.monotonic() + PATIENCE_S
    while not _try(handle, form):
        late_s = time.monotonic() - end
        if late_s > 0 and (late_s > LOOKED_AT_S or not _is_looked_at(handle)):
            return False
        time.sleep(TRY_EVERY_S)
    return True


def _is_looked_at(handle: int) -> bool:
    """Return True if the lock is held only in shared mode, by processes that inspect the file and not by an owner."""
    is_shared = _try(handle, fcntl.LOCK_SH)
    if is_shared:
        fcntl.flock(handle, fcntl.LOCK_UN)
    return is_shared


def _read_memory(handle: int) -> dict[str, str | int]:
    """Return the lock file's data about the store; empty if there is none or an earlier version wrote the file."""
    try:
        note = json.loads(os.pread(handle, NOTE_BYTES, 0))
        return {"store": str(note["store"]), "epoch": int(note["epoch"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _read_owner(handle: int) -> Owner:
    try:
        note = json.loads(os.pread(handle, NOTE_BYTES, 0))
        return Owner(int(note["pid"]), str(note["command"]), int(note["since"]), str(note.get("holder", "")))
    except (ValueError, KeyError, TypeError):
        return Owner(0, "", 0)
