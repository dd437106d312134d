"""Pools with a limited number of threads."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.calls.threads.inbox import Inbox

JOIN_STEP_S = 0.05
"""Seconds between two checks whether the threads have ended, while a pool drains."""


class Pool:
    """At most ``size`` daemon threads that run tasks in the order of arrival. A thread starts when it is needed."""

    def __init__(
        self, name: str, size: int, on_break: Callable[[BaseException], None], inbox: Inbox[Any] | None = None
    ) -> None:
        """``on_break`` receives an exception raised by a task: a bug of the engine, as tasks catch errors of plugins.

        If ``inbox`` is given, a thread handles the reports in it after a task that has added one by ``leave``.
        """
        self._name = name
        self._on_break = on_break
        self._inbox = inbox
        self._next: dict[int, Callable[[], None] | None] = {}
        """{id of a thread that is handling reports: the task that it runs next, or None}."""
        self._size = size
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0
        self._waiting = 0
        """Number of tasks that no thread has taken; unlike the queue's length it changes together with ``_idle``."""
        self._abandoned: set[int] = set()
        self._is_stopped = False
        self._has_idled = threading.Event()
        """Set in a stopped pool when a thread has finished its task or ended, so that ``stop`` checks again."""

    def put(self, task: Callable[[], None]) -> None:
        """Run a task as soon as a thread is free.

        If the calling thread is handling reports and becomes free, it runs the task itself: that saves a thread switch.
        """
        own = threading.get_ident()
        if own in self._next and self._next[own] is None:
            self._next[own] = task
            return
        with self._lock:
            self._waiting += 1
            if (
                self._idle < self._waiting
                and self._threads - len(self._abandoned) < self._size
                and not self._is_stopped
            ):
                self._threads += 1
                threading.Thread(target=self._run, name=f"phaseline-{self._name}", daemon=True).start()
        self._tasks.put(task)  # last: the thread that it wakes finds the lock free

    def abandon(self, thread: int) -> None:
        """Replace a thread that hangs in a call that was given up; if the call returns, the thread ends."""
        with self._lock:
            self._abandoned.add(thread)
        self.put(_nothing)

    def busy(self) -> int:
        """Return the number of threads that run a task, without abandoned threads."""
        return self._threads - self._idle - len(self._abandoned)

    def stop(self, drain_s: float) -> None:
        """Start no further tasks; wait up to ``drain_s`` seconds for running ones."""
        self._is_stopped = True
        for _ in range(self._threads):
            self._tasks.put(None)
        until = time.monotonic() + drain_s
        while self.busy() > 0 and time.monotonic() < until:
            self._has_idled.wait(JOIN_STEP_S)
            self._has_idled.clear()

    def _run(self) -> None:
        if self._inbox is not None:
            self._inbox.promise()
        while True:
            with self._lock:
                self._idle += 1
            if self._is_stopped:
                self._has_idled.set()
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
                    self._has_idled.set()
                    return

    def _do(self, task: Callable[[], None]) -> None:
        """Run a task, and the tasks that follow from its reports."""
        following: Callable[[], None] | None = task
        while following is not None:
            try:
                following()
            except BaseException as error:
                self._on_break(error)
                raise
            following = self._look_after()

    def _look_after(self) -> Callable[[], None] | None:
        """Handle the posted reports. Return the task for this thread that follows from them, or None."""
        if self._inbox is None:
            return None
        own = threading.get_ident()
        self._next[own] = None
        self._inbox.look_after()
        following = self._next.pop(own)
        if following is not None and own in self._abandoned:
            self.put(following)
            return None
        return None if self._is_stopped else following


def _nothing() -> None:
    """Do nothing: a task that only makes a thread start."""
