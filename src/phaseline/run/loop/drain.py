"""Drain state of an engine: it begins no calls after a request to leave, and begins calls again if that is withdrawn.

An engine leaves when no call is running whose result it awaits. Given-up calls (``cancel --force``) get a limited time.
The executor then ends them, because no other work waits for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.execution.events import SlotsChanged

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from phaseline.model.execution.events import Event
    from phaseline.ports.executor import Executor
    from phaseline.ports.lease import Lease

BULK_SLOTS = 16
"""The largest number of bulk calls that run at the same time, over all lanes."""


class DrainState:
    """Three flags about leaving. ``is_wanted``: the engine is to leave. ``is_asked``: another process has requested it.

    ``is_held``: scheduler and executor have been instructed to begin no calls. A signal handler may set ``is_wanted``,
    because setting a flag takes no lock.
    """

    def __init__(self, executor: Executor, now: Callable[[], int]) -> None:
        """Start with no request to leave. ``now`` returns the time in ms."""
        self._executor, self._now = executor, now
        self._slots = {"bulk": BULK_SLOTS, **executor.slots()}
        self._at: int | None = None
        self.is_wanted = self.is_held = self.is_asked = False

    def ask(self, drain_s: float | None) -> None:
        """Record that another process asks this engine to leave, after ``drain_s`` seconds even if calls still run.

        With None the engine waits for running calls without a limit.
        """
        self.is_asked = True
        if drain_s is not None:
            self._at = self._now() + int(drain_s * 1000)
        self.is_wanted = True

    def slots(self) -> list[Event]:
        """Return the events that give the scheduler the number of calls each pool may run; 0 while calls are held."""
        return [SlotsChanged(pool, 0 if self.is_held else count) for pool, count in self._slots.items()]

    def hold(self) -> list[Event]:
        """Begin no further calls. Return the events that inform the scheduler, or none if calls are held already."""
        if self.is_held:
            return []
        self.is_held = True
        self._executor.hold()
        return self.slots()

    def release(self) -> list[Event]:
        """Withdraw the request to leave, and begin the held calls. Return the events that inform the scheduler."""
        self.is_wanted = False
        return self.resume()

    def resume(self) -> list[Event]:
        """Begin the held calls. Return the events that inform the scheduler, or none if no calls are held."""
        if not self.is_held:
            return []
        self.is_held = False
        self._executor.release()
        return self.slots()

    @property
    def is_overdue(self) -> bool:
        """True if another process has asked this engine to leave within a time limit, and the limit has passed."""
        return self._at is not None and self._now() >= self._at

    def drain_s(self, most: float) -> float:
        """Return how many seconds running calls may still take: ``most``, or less if a requested limit ends earlier."""
        return most if self._at is None else min(most, max(0, self._at - self._now()) / 1000)


class LeaseChecks:
    """The checks of one engine's lease (HA2). ``check`` costs almost nothing while the lease is neither late nor lost.

    While the lease is late, no call begins; outcomes are stored as usual. When it is lost, the engine ends with PL-S004.
    Its calls may still run, but their outcomes cannot be stored: the next owner decides about them as after a crash.
    """

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
