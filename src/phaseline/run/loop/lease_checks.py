"""What an engine does while its lease is late, and when it is lost (HA2).

While the lease is late, no call begins; outcomes are stored as usual. When it is lost, the engine ends with PL-S004. Its
calls may still run, but their outcomes cannot be stored: the next owner decides about them as after a crash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.execution.events import Event
    from phaseline.ports.lease import Lease
    from phaseline.run.loop.drain import DrainState


class LeaseChecks:
    """The checks of one engine's lease. ``check`` costs almost nothing while the lease is neither late nor lost."""

    def __init__(self, lease: Lease, leaving: DrainState) -> None:
        """``leaving`` holds calls back."""
        self._lease, self._leaving = lease, leaving
        self._is_late = False

    def check(self) -> Sequence[Event]:
        """Return the events that make the scheduler hold calls back, or begin calls again. Raises: PL-S004 if it is lost."""
        if self._lease.is_late():
            self.raise_if_lost()
            self._is_late = True
            return self._leaving.hold()
        if not self._is_late:
            return ()
        self._is_late = False
        return () if self._leaving.is_wanted else self._leaving.resume()

    def raise_if_lost(self) -> None:
        """Raise PL-S004 if another process owns the store, or may own it."""
        if self._lease.is_lost():
            raise self._lease.loss()
