"""The lease of a store in a file: it is held as long as the lock is held, the file is in its place, and the epoch is ours.

Both can only go wrong if files beside the store are removed or replaced while the store is in use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.store.relational.connections import ReadSnapshot
from phaseline.store.sql import deployments as writes
from phaseline.store.sql import errors as failures

if TYPE_CHECKING:
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.store.sqlite.connections import FileConnections


class FileLease:
    """Implements ``ports.lease.Lease`` for a store in a file."""

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
