"""The inbox of the loop: any thread posts reports, and the loop waits for them and takes all."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Inbox(Generic[T]):
    """A queue that is emptied in one go; ``deque.append`` needs no lock.

    The lock is held while nothing is in, so that waiting is taking it: a ``threading.Event`` costs ten times as much,
    and is waited for after each call.
    """

    def __init__(self) -> None:
        """An empty inbox."""
        self._items: deque[T] = deque()
        self._empty = threading.Lock()
        self._empty.acquire()
        self._broken: BaseException | None = None
        self._promised: set[int] = set()
        self.on_left: Callable[[], None] = self.wake
        """Called by a thread that has left something, once it has nothing else to do."""

    def post(self, report: T) -> None:
        """Put an item in and wake the waiting thread."""
        self._items.append(report)
        self.wake()

    def promise(self) -> None:
        """This thread calls ``look_after`` after each of its tasks."""
        self._promised.add(threading.get_ident())

    def leave(self, report: T) -> None:
        """Put something in as the last act of a task: a thread that has promised looks after it, for others it is a post."""
        self._items.append(report)
        if threading.get_ident() not in self._promised:
            self.wake()

    def look_after(self) -> None:
        """See that what this thread may have left is taken."""
        if self._items:
            self.on_left()

    def fail(self, error: BaseException) -> None:
        """Record that one of the engine's own threads broke; the next ``take`` raises it, so that nothing waits for ever."""
        self._broken = error
        self.wake()

    def wake(self) -> None:
        """End a wait, be there anything in or not."""
        if self._empty.locked():
            try:  # noqa: SIM105 - a context costs more than all else here
                self._empty.release()
            except RuntimeError:
                pass  # another thread was faster

    def wait(self, timeout_ms: int | None) -> bool:
        """True as soon as something is posted (or ``wake`` was called), or is in at the timeout. None: without end."""
        if not self._empty.acquire(timeout=-1 if timeout_ms is None else max(0, timeout_ms) / 1000):
            return len(self._items) > 0
        self.wake()
        return True

    def take_all(self) -> list[T]:
        """All items, oldest first; the inbox is empty afterwards. Raises the exception that broke a thread."""
        if self._broken is not None:
            raise self._broken
        self._empty.acquire(blocking=False)
        items = self._items
        taken: list[T] = []
        for _ in range(len(items)):  # no more than there are now: other threads keep putting items in
            taken.append(items.popleft())
        return taken

    def first(self) -> T | None:
        """The oldest that is in, and stays in; None where nothing is."""
        try:
            return self._items[0]
        except IndexError:
            return None

    def __len__(self) -> int:
        """The number of waiting items."""
        return len(self._items)
