"""Whether an engine begins calls: it does not while somebody wants it to leave, and does again if that comes to nothing.

An engine leaves when nothing is running that anybody waits for. Calls that were given up (``cancel --force``) are heard
out for a bounded time and then ended with the executor: nobody's work stands still for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.execution.events import SlotsChanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.model.execution.events import Event
    from phaseline.ports import Executor

BULK_SLOTS = 16
"""Bulk calls at once, over all lanes."""


class DrainState:
    """``is_wanted``: begin no call; ``is_held``: the scheduler and the executor know; ``is_asked``: by another process.

    ``is_wanted`` may be set by a signal handler, which takes no lock.
    """

    def __init__(self, executor: Executor, now: Callable[[], int]) -> None:
        """Nobody wants it. ``now`` in ms."""
        self._executor, self._now = executor, now
        self._slots = {"bulk": BULK_SLOTS, **executor.slots()}
        self._at: int | None = None
        self.is_wanted = self.is_held = self.is_asked = False

    def ask(self, drain_s: float | None) -> None:
        """Another process wants it, within so long though calls are still running. None: without end."""
        self.is_asked = True
        if drain_s is not None:
            self._at = self._now() + int(drain_s * 1000)
        self.is_wanted = True

    def slots(self) -> list[Event]:
        """What tells the scheduler how many calls each pool takes now."""
        return [SlotsChanged(pool, 0 if self.is_held else count) for pool, count in self._slots.items()]

    def hold(self) -> list[Event]:
        """Give no slot away any more; what tells the scheduler, once."""
        if self.is_held:
            return []
        self.is_held = True
        self._executor.hold()
        return self.slots()

    def release(self) -> list[Event]:
        """Give slots away again, and begin what was held back; what tells the scheduler."""
        self.is_wanted = False
        if not self.is_held:
            return []
        self.is_held = False
        self._executor.release()
        return self.slots()

    @property
    def is_overdue(self) -> bool:
        """True when the time is over within which it was asked to leave."""
        return self._at is not None and self._now() >= self._at

    def drain_s(self, most: float) -> float:
        """How long calls that still run may take to end."""
        return most if self._at is None else min(most, max(0, self._at - self._now()) / 1000)
