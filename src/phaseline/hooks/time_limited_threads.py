"""Threads for calls of hook classes, so that a hanging class blocks nothing beyond its time limit."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Generic, TypeVar

T = TypeVar("T")


class LeftAloneError(Exception):
    """The wait for a job was given up."""


class Job(Generic[T]):
    """A running job. ``is_over`` can be acquired as soon as it has ended; ``is_left``: it was abandoned."""

    __slots__ = ("_threads", "code", "context", "is_left", "is_over", "result")

    def __init__(self, code: Callable[[], T], threads: BoundedThreads) -> None:
        """About to be run by one of these threads."""
        self.code, self._threads = code, threads
        self.context = copy_context()  # its output belongs to the waiting call
        self.is_over = threading.Lock()
        self.is_over.acquire()
        self.is_left = False
        self.result: list[T] = []

    def leave(self) -> bool:
        """Wait for it no longer, from any thread; False if it has ended, or was left before."""
        with self._threads.lock:
            if self.result or self.is_left:
                return False
            self.is_left = True
            self._threads.left += 1
        self.is_over.release()
        return True

    def wait(self, timeout_s: float) -> T:
        """The return value of its code. ``TimeoutError``: it took longer and was abandoned; ``LeftAloneError``: another thread abandoned it."""
        if not self.is_over.acquire(timeout=timeout_s) and self.leave():
            raise TimeoutError
        if not self.result:
            raise LeftAloneError
        return self.result[0]


class BoundedThreads:
    """Daemon threads that are used again; one whose job was given up ends with it, should it ever return."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[Job[object]]] = []
        self.left = 0
        """How many threads hang in jobs that were given up."""

    def begin(self, code: Callable[[], T]) -> Job[T]:
        """Run ``code``, which must not raise; the caller waits for it."""
        job = Job(code, self)
        with self.lock:
            jobs = self._idle.pop() if self._idle else None
        if jobs is None:
            jobs = queue.SimpleQueue()
            threading.Thread(target=self._work, args=(jobs,), name="phaseline-hook", daemon=True).start()
        jobs.put(job)  # type: ignore[arg-type]  # the taking thread only stores the result
        return job

    def run(self, code: Callable[[], T], timeout_s: float) -> T:
        """What ``code`` returns, which may raise nothing. ``TimeoutError``: it has not come to an end in that time."""
        return self.begin(code).wait(timeout_s)

    def _work(self, jobs: queue.SimpleQueue[Job[object]]) -> None:
        while True:
            job = jobs.get()
            result = job.context.run(job.code)
            with self.lock:
                if job.is_left:
                    self.left -= 1
                    return
                job.result.append(result)
                self._idle.append(jobs)
            job.is_over.release()
            del job, result  # not kept while there is nothing to do
