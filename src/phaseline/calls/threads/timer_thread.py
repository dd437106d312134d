"""A thread that calls functions at given times, for one executor."""

from __future__ import annotations

import heapq
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

IDLE_S = 3_600.0
"""The longest sleep in seconds while no alarm is set."""


class Alarms:
    """Timers. Their functions are called one after the other in one thread, so each must return quickly."""

    def __init__(self, on_break: Callable[[BaseException], None]) -> None:
        """Start no thread yet. ``on_break`` receives an exception raised by an alarm, which is a bug of the engine."""
        self._on_break = on_break
        self._lock = threading.Lock()
        self._earlier = threading.Lock()
        """A lock whose release wakes the thread, for an alarm that is due before all others; see ``Inbox``."""
        self._earlier.acquire()
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._is_stopped = False
        self._thread: threading.Thread | None = None

    def set(self, after_s: float, ring: Callable[[], None]) -> None:
        """Call ``ring`` after ``after_s`` seconds."""
        with self._lock:
            self._count += 1
            alarm = (time.monotonic() + after_s, self._count, ring)
            heapq.heappush(self._due, alarm)
            is_first = self._due[0] is alarm
            if self._thread is None and not self._is_stopped:
                self._thread = threading.Thread(target=self._run, name="phaseline-alarms", daemon=True)
                self._thread.start()
        if is_first:
            self._wake()

    def stop(self) -> None:
        """Call no further functions, and end the thread."""
        with self._lock:
            self._is_stopped = True
        self._wake()
        if self._thread is not None:
            self._thread.join()

    def _wake(self) -> None:
        if self._earlier.locked():
            with suppress(RuntimeError):  # another thread was faster
                self._earlier.release()

    def _run(self) -> None:
        try:
            while not self._is_stopped:
                self._ring()
                self._earlier.acquire(timeout=self._left_s())
        except BaseException as error:
            self._on_break(error)
            raise

    def _left_s(self) -> float:
        with self._lock:
            return max(0.0, self._due[0][0] - time.monotonic()) if self._due else IDLE_S

    def _ring(self) -> None:
        while not self._is_stopped:
            with self._lock:
                if not self._due or self._due[0][0] > time.monotonic():
                    return
                ring = heapq.heappop(self._due)[2]
            ring()
