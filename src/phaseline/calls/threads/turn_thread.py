"""Whose thread makes a turn: that of the loop, or the one that has just brought an outcome.

A call that returns has a thread at hand, awake and with nothing else to do, while the loop's own sleeps. To wake that one
costs two changes of threads a turn, more than the call of an empty operation: so the thread that has left an
outcome makes one turn of its own (``Inbox.leave``, ``Inbox.look_after``), and takes up what the turn hands over, which is
mostly the next call. It may do so only while the loop's thread waits: turns and everything else that touches the
engine are made under one lock, the baton, which the loop's thread gives away for no other time. What only
that thread can do — whatever a user looks at, the end of ``run`` — it is woken for.

No thread waits for the baton: who does not get it wakes the loop's thread, which looks after what was left.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from phaseline.calls.threads.guarded_calls import guarded_call

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.calls.threads.inbox import Inbox


class TurnBaton:
    """The baton, held by the loop's thread but for its waits. ``turns``: how many turns others have made."""

    def __init__(self, inbox: Inbox[Any], turn: Callable[[], bool]) -> None:
        """``turn`` makes one; True if the loop's own thread is wanted after it."""
        self._inbox = inbox
        self._turn = turn
        self._baton = threading.Lock()
        self._baton.acquire()
        self._raised: BaseException | None = None
        self._is_open = False
        self.turns = 0
        inbox.on_left = self._lend

    def __enter__(self) -> None:
        """From now on others may turn while this thread waits."""
        self._is_open = True

    def __exit__(self, *raised: object) -> None:
        """It turns alone again."""
        self._is_open = False

    def wait(self, timeout_ms: int) -> bool:
        """Wait for so long at most, the baton given away; True when something is in, somebody wakes, or others made turns.

        Raises what a turn of another thread raised.
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
        """Make a turn if the loop's thread waits; otherwise, or if there is more to do than that, wake it."""
        if self._baton.acquire(blocking=False):
            self.turns += 1
            is_wanted, self._raised = guarded_call(
                self._turn
            )  # for the loop's thread: that of a plugin has no use for it
            self._baton.release()
            if not is_wanted and self._raised is None and not len(self._inbox):
                return
        self._inbox.wake()
