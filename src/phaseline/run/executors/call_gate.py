"""The check that precedes each call: calls begin only while the lease of their engine is neither late nor lost (HA2).

A process may be stopped for a long time between any two statements, for example by SIGSTOP. When it continues, its
threads run before the engine has noticed anything, and the next owner may have completed what they are about to call.
What remains is a call whose thread has passed this check before the process was stopped: only its token guards it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.ports.lease import Lease

LOOK_S = 0.02
"""Seconds between two checks of a late lease."""


class CallGate:
    """Lets calls begin as long as the lease is held. Thread-safe."""

    def __init__(self, lease: Lease | None = None) -> None:
        """``lease``: that of the engine; None: calls may always begin."""
        self._lease = lease
        self._closed = threading.Event()

    def may_begin(self) -> bool:
        """Return True if a call may begin; wait while the lease is late. Return False if it is lost, or after ``close``."""
        lease = self._lease
        if lease is None or not lease.is_late():
            return True
        while lease.is_late():
            if lease.is_lost() or self._closed.wait(LOOK_S):
                return False
        return True

    def close(self) -> None:
        """Let no call wait any longer, because the engine ends."""
        self._closed.set()
