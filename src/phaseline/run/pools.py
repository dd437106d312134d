"""Bounded pools of threads."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

JOIN_STEP_S = 0.05
"""How often a draining pool looks whether its threads have ended."""


class Pool:
    """At most ``size`` daemon threads that run tasks in the order given; started when there is work for them."""

    def __init__(self, name: str, size: int, on_break: Callable[[BaseException], None]) -> None:
        """No thread is started yet. ``on_break`` hears what a task raised: tasks answer for plugins, so it is our mistake."""
        self._name = name
        self._on_break = on_break
        self._size = size
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0
        self._waiting = 0
        """Tasks that no thread has taken: changed together with ``_idle``, as the length of the queue is not."""
        self._abandoned: set[int] = set()
        self._is_stopped = False

    def put(self, task: Callable[[], None]) -> None:
        """Run it as soon as a thread is free."""
        with self._lock:
            self._waiting += 1
            if (
                self._idle < self._waiting
                and self._threads - len(self._abandoned) < self._size
                and not self._is_stopped
            ):
                self._threads += 1
                threading.Thread(target=self._run, name=f"phaseline-{self._name}", daemon=True).start()
        self._tasks.put(task)  # last: whoever is woken by it finds the lock free

    def abandon(self, thread: int) -> None:
        """This thread hangs in a call that was given up: let another take its place, and end it should it return."""
        with self._lock:
            self._abandoned.add(thread)
        self.put(_nothing)

    def busy(self) -> int:
        """How many threads are in a task, those that were given up left out."""
        return self._threads - self._idle - len(self._abandoned)

    def stop(self, drain_s: float) -> None:
        """Take no more tasks up; wait for running ones at most so long."""
        self._is_stopped = True
        for _ in range(self._threads):
            self._tasks.put(None)
        until = time.monotonic() + drain_s
        done = threading.Event()
        while self.busy() > 0 and time.monotonic() < until:
            done.wait(JOIN_STEP_S)

    def _run(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            task = self._tasks.get()
            with self._lock:
                self._idle -= 1
                self._waiting -= task is not None
            if task is not None and not self._is_stopped:
                self._do(task)
            with self._lock:
                if task is None or threading.get_ident() in self._abandoned:
                    self._threads -= 1
                    self._abandoned.discard(threading.get_ident())
                    return

    def _do(self, task: Callable[[], None]) -> None:
        try:
            task()
        except BaseException as error:
            self._on_break(error)
            raise


def _nothing() -> None:
    """A task that only makes a thread begin."""
