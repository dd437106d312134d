"""Threads in which hook classes are called, so that one that hangs holds up nobody for longer than it may take."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Generic, TypeVar

T = TypeVar("T")


class _Job(Generic[T]):
    """Something to run. ``is_over`` can be acquired as soon as it has ended; ``is_left``: nobody waits for it any more."""

    __slots__ = ("code", "context", "is_left", "is_over", "result")

    def __init__(self, code: Callable[[], T]) -> None:
        self.code = code
        self.context = copy_context()  # what the code prints belongs to the call of whoever waits
        self.is_over = threading.Lock()
        self.is_over.acquire()
        self.is_left = False
        self.result: list[T] = []


class BoundedThreads:
    """Daemon threads that are used again; one whose job was given up ends with it, should it ever return."""

    def __init__(self) -> None:
        """None is started yet."""
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[_Job[object]]] = []
        self.left = 0
        """How many threads hang in jobs that were given up."""

    def run(self, code: Callable[[], T], timeout_s: float) -> T:
        """What ``code`` returns, which may raise nothing. ``TimeoutError``: it has not come to an end in that time."""
        job = _Job(code)
        with self._lock:
            jobs = self._idle.pop() if self._idle else None
        if jobs is None:
            jobs = queue.SimpleQueue()
            threading.Thread(target=self._work, args=(jobs,), name="phaseline-hook", daemon=True).start()
        jobs.put(job)  # type: ignore[arg-type]  # who takes it only stores what it gives
        if not job.is_over.acquire(timeout=timeout_s):
            with self._lock:
                if not job.result:
                    job.is_left = True
                    self.left += 1
                    raise TimeoutError
        return job.result[0]

    def _work(self, jobs: queue.SimpleQueue[_Job[object]]) -> None:
        while True:
            job = jobs.get()
            result = job.context.run(job.code)
            with self._lock:
                if job.is_left:
                    self.left -= 1
                    return
                job.result.append(result)
                self._idle.append(jobs)
            job.is_over.release()
            del job, result  # not kept while there is nothing to do
