"""Drain state of an engine: it begins no calls while it is asked to leave, and begins calls again if that is withdrawn.

An engine leaves when no awaited call is running. Calls that were given up (``cancel --force``) get a bounded time and
are then ended with the executor: no other work waits for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.execution.events import SlotsChanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.model.execution.events import Event
    from phaseline.ports.executor import Executor

BULK_SLOTS = 16
"""The most bulk calls at the same time, over all lanes."""


class DrainState:
    """``is_wanted``: begin no call; ``is_held``: the scheduler and the executor begin none; ``is_asked``: another process asked for it.

    ``is_wanted`` may be set by a signal handler, which takes no lock.
    """

    def __init__(self, executor: Executor, now: Callable[[], int]) -> None:
        """Start with no request to leave. ``now`` in ms."""
        self._executor, self._now = executor, now
        self._slots = {"bulk": BULK_SLOTS, **executor.slots()}
        self._at: int | None = None
        self.is_wanted = self.is_held = self.is_asked = False

    def ask(self, drain_s: float | None) -> None:
        """Record the request of another process: leave after ``drain_s`` even if calls still run. None: no limit."""
        self.is_asked = True
        if drain_s is not None:
            self._at = self._now() + int(drain_s * 1000)
        self.is_wanted = True

    def slots(self) -> list[Event]:
        """Events for the scheduler: how many calls each pool takes now."""
        return [SlotsChanged(pool, 0 if self.is_held else count) for pool, count in self._slots.items()]

    def hold(self) -> list[Event]:
        """Grant no more slots; returns the events for the scheduler, the first time."""
        if self.is_held:
            return []
        self.is_held = True
        self._executor.hold()
        return self.slots()

    def release(self) -> list[Event]:
        """Grant slots again, and begin held calls; returns the events for the scheduler."""
        self.is_wanted = False
        if not self.is_held:
            return []
        self.is_held = False
        self._executor.release()
        return self.slots()

    @property
    def is_overdue(self) -> bool:
        """True if the time in which the engine was asked to leave is over."""
        return self._at is not None and self._now() >= self._at

    def drain_s(self, most: float) -> float:
        """How long calls that still run may take to end."""
        return most if self._at is None else min(most, max(0, self._at - self._now()) / 1000)
