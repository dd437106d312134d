"""The inbox of the loop: any thread posts reports, and the loop waits for them and takes all at once."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Inbox(Generic[T]):
    """A thread-safe queue that is emptied at once; ``deque.append`` needs no lock.

    A lock is held while the queue is empty, so waiting means acquiring the lock. A ``threading.Event`` would cost ten
    times as much, and the loop waits after each call.
    """

    def __init__(self) -> None:
        """Start with an empty inbox."""
        self._items: deque[T] = deque()
        self._empty = threading.Lock()
        self._empty.acquire()
        self._broken: BaseException | None = None
        self._promised: set[int] = set()
        self.on_left: Callable[[], None] = self.wake
        """Function that a thread calls after its task if items were added by ``leave``."""

    def post(self, report: T) -> None:
        """Add an item and wake the waiting thread."""
        self._items.append(report)
        self.wake()

    def promise(self) -> None:
        """Declare that this thread calls ``look_after`` after each task, so its ``leave`` need not wake the loop."""
        self._promised.add(threading.get_ident())

    def leave(self, report: T) -> None:
        """Add an item as the last step of a task.

        If the thread has called ``promise``, its ``look_after`` follows; otherwise wake the waiting thread.
        """
        self._items.append(report)
        if threading.get_ident() not in self._promised:
            self.wake()

    def look_after(self) -> None:
        """Call ``on_left`` if there are items, so that items added by ``leave`` are handled."""
        if self._items:
            self.on_left()

    def fail(self, error: BaseException) -> None:
        """Record that an engine thread has failed. The next ``take_all`` raises the error, so that nothing hangs."""
        self._broken = error
        self.wake()

    def wake(self) -> None:
        """End a wait, even if there are no items."""
        if self._empty.locked():
            try:  # noqa: SIM105 - a context costs more than all else here
                self._empty.release()
            except RuntimeError:
                pass  # another thread was faster

    def wait(self, timeout_ms: int | None) -> bool:
        """Wait for an item or ``wake``; return True if there was either before the timeout (None: no limit)."""
        if not self._empty.acquire(timeout=-1 if timeout_ms is None else max(0, timeout_ms) / 1000):
            return len(self._items) > 0
        self.wake()
        return True

    def take_all(self) -> list[T]:
        """Remove and return all items, oldest first. Raises the exception that ``fail`` recorded."""
        if self._broken is not None:
            raise self._broken
        self._empty.acquire(blocking=False)
        items = self._items
        taken: list[T] = []
        for _ in range(len(items)):  # no more than there are now: other threads keep putting items in
            taken.append(items.popleft())
        return taken

    def first(self) -> T | None:
        """Return the oldest item without removing it, or None."""
        try:
            return self._items[0]
        except IndexError:
            return None

    def __len__(self) -> int:
        """Return the number of waiting items."""
        return len(self._items)
