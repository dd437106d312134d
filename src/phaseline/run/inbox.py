"""Where everything that comes back waits for the loop: any thread posts, the loop waits and takes all."""

from __future__ import annotations

import threading
from collections import deque
from typing import Generic, TypeVar

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

    def post(self, report: T) -> None:
        """Put something in and wake whoever waits."""
        self._items.append(report)
        self.wake()

    def fail(self, error: BaseException) -> None:
        """A thread of ours broke: whoever takes next hears of it, so that nothing waits for its answers for ever."""
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
        """True as soon as something is in (or ``wake`` was called); False after the timeout. None: without end."""
        if not self._empty.acquire(timeout=-1 if timeout_ms is None else max(0, timeout_ms) / 1000):
            return False
        self.wake()
        return True

    def take_all(self) -> list[T]:
        """Everything that is in, oldest first; the inbox is empty afterwards. Raises what broke a thread of ours."""
        if self._broken is not None:
            raise self._broken
        self._empty.acquire(blocking=False)
        items = self._items
        return [items.popleft() for _ in range(len(items))]

    def __len__(self) -> int:
        """How many wait."""
        return len(self._items)
