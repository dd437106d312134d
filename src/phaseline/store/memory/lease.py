"""The lease of a store in memory, which no other process can take."""

from __future__ import annotations

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import ProblemsError
from phaseline.store.sql import errors as failures


@frozen
class MemoryLease:
    """Implements ``ports.lease.Lease`` in memory: it is never late and never lost."""

    path: str
    epoch: int
    holder: str

    def is_late(self) -> bool:
        """Return False, because nothing needs to be renewed."""
        return False

    def is_lost(self) -> bool:
        """Return False, because there is no other process."""
        return False

    def loss(self) -> ProblemsError:
        """Return PL-S004."""
        return failures.lease_lost(self.path)
