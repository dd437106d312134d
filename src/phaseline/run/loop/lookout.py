"""When the owner of a store looks for requests: when the store wakes it, and now and then by itself.

Only an engine that has run for a while listens to wake-ups, because listening starts a thread, for which a short command
has no use.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phaseline.calls.threads.inbox import Inbox
    from phaseline.ports.store import Store

LOOK_MS = 150
"""The longest time in ms between two looks for requests without a wake-up; a busy engine looks in its turns."""


class Lookout:
    """Decides whether a look is due. A context: within it, wake-ups of the store end the loop's wait."""

    def __init__(self, store: Store, inbox: Inbox[Any]) -> None:
        """Let the first look be due at once. ``inbox``: its wait is ended by a wake-up."""
        self._store, self._inbox = store, inbox
        self._hearing: ExitStack | None = None
        self._looked: int | None = None
        self._every_ms = LOOK_MS
        self._is_listening = self._is_closed = False
        self.is_woken = False

    def __enter__(self) -> None:
        """Permit to listen."""
        self._hearing = ExitStack()

    def __exit__(self, *raised: object) -> None:
        """Stop listening."""
        hearing, self._hearing, self._is_listening = self._hearing, None, False
        self._every_ms = LOOK_MS
        if hearing is not None:
            hearing.close()

    def close(self) -> None:
        """Let no further look be due: the engine ends."""
        self._is_closed = True

    def is_due(self, now: int) -> bool:
        """Return True, and note the time ``now``, if a request may be new: after a wake-up, or long after the last look."""
        is_first = self._looked is None
        if self._is_closed or not (is_first or self.is_woken or now - (self._looked or 0) >= self._every_ms // 2):
            return False
        if self._hearing is not None and not is_first and not self._is_listening:
            self._is_listening = True
            self._every_ms = self._hearing.enter_context(self._store.listen(self._wake))
        self.is_woken = False  # before the look, so that a wake-up during it leads to another one
        self._looked = now
        return True

    def _wake(self) -> None:
        """Note the wake-up and end the loop's wait; called from any thread."""
        self.is_woken = True
        self._inbox.wake()
