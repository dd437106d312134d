"""Which thread runs the next turn: the loop's own thread, or the thread that has just reported an outcome.

When a call returns, its thread is awake and idle, while the loop's thread sleeps. Waking the loop's thread costs two
thread switches a turn, more than the call of an empty operation. So the thread that reported an outcome runs one turn
itself (``Inbox.leave``, ``Inbox.look_after``), and starts what the turn hands over, usually the next call. It may do so
only while the loop's thread waits: turns and all other access to the engine happen under one lock, the baton, which the
loop's thread releases only while it waits. For work that only the loop's thread can do, such as progress output and the
end of ``run``, it is woken.

No thread waits for the baton: a thread that does not get it wakes the loop's thread, which handles the outcome.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from phaseline.calls.threads.guarded_calls import guarded_call

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.calls.threads.inbox import Inbox


class TurnBaton:
    """The lock for turns, held by the loop's thread except while it waits. ``turns`` counts turns of other threads."""

    def __init__(self, inbox: Inbox[Any], turn: Callable[[], bool]) -> None:
        """``turn`` runs a turn, and returns True if the loop's own thread is needed after it."""
        self._inbox = inbox
        self._turn = turn
        self._baton = threading.Lock()
        self._baton.acquire()
        self._raised: BaseException | None = None
        self._is_open = False
        self.turns = 0
        inbox.on_left = self._lend

    def __enter__(self) -> None:
        """Take the lock; from now on other threads may run turns while this thread waits in ``wait``."""
        self._is_open = True

    def __exit__(self, *raised: object) -> None:
        """End the context: the loop's thread runs all turns again."""
        self._is_open = False

    def wait(self, timeout_ms: int) -> bool:
        """Wait up to the given time for an item or a wake-up; in an open context other threads can run turns then.

        Return True if there was an item, a wake-up or a turn of another thread. Raises the exception of such a turn.
        """
        if not self._is_open:
            return self._inbox.wait(timeout_ms)
        before = self.turns
        self._baton.release()
        try:
            is_woken = self._inbox.wait(timeout_ms)
        finally:
            self._baton.acquire()
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised
        return is_woken or self.turns != before

    def _lend(self) -> None:
        """Run a turn if the loop's thread waits. Wake that thread if it does not, or if it is needed afterwards."""
        if self._baton.acquire(blocking=False):
            self.turns += 1
            is_wanted, self._raised = guarded_call(
                self._turn
            )  # for the loop's thread: that of a plugin has no use for it
            self._baton.release()
            if not is_wanted and self._raised is None and not len(self._inbox):
                return
        self._inbox.wake()
