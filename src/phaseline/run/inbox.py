"""Where everything that comes back waits for the loop: any thread posts, the loop waits and takes all."""

from __future__ import annotations

import threading
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Inbox(Generic[T]):
    """A queue that is emptied in one go. The lock is only for the waiting; ``deque.append`` needs none."""

    def __init__(self) -> None:
        """An empty inbox."""
        self._items: deque[T] = deque()
        self._filled = threading.Event()
        self._broken: BaseException | None = None

    def post(self, report: T) -> None:
        """Put something in and wake whoever waits."""
        self._items.append(report)
        if not self._filled.is_set():
            self._filled.set()

    def fail(self, error: BaseException) -> None:
        """A thread of ours broke: whoever takes next hears of it, so that nothing waits for its answers for ever."""
        self._broken = error
        self._filled.set()

    def wake(self) -> None:
        """End a wait without putting anything in."""
        self._filled.set()

    def wait(self, timeout_ms: int | None) -> bool:
        """True as soon as something is in (or ``wake`` was called); False after the timeout. None: without end."""
        return self._filled.wait(None if timeout_ms is None else max(0, timeout_ms) / 1000)

    def take_all(self) -> list[T]:
        """Everything that is in, oldest first; the inbox is empty afterwards. Raises what broke a thread of ours."""
        if self._broken is not None:
            raise self._broken
        self._filled.clear()
        items = self._items
        return [items.popleft() for _ in range(len(items))]

    def __len__(self) -> int:
        """How many wait."""
        return len(self._items)
