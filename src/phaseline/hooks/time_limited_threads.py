"""Threads for calls of hook classes: a call that hangs is abandoned with its thread, and blocks nothing else."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Generic, TypeVar

T = TypeVar("T")


class LeftAloneError(Exception):
    """Raised in the thread that waits for a job, if another thread has abandoned the job."""


class Job(Generic[T]):
    """A function that runs in another thread, and its result.

    ``is_over`` is a lock that can be acquired as soon as the job has ended or was abandoned (``is_left``).
    """

    __slots__ = ("_threads", "code", "context", "is_left", "is_over", "result")

    def __init__(self, code: Callable[[], T], threads: BoundedThreads) -> None:
        """Make the job of running ``code`` in one of these threads; it is not started yet."""
        self.code, self._threads = code, threads
        self.context = copy_context()  # its output belongs to the waiting call
        self.is_over = threading.Lock()
        self.is_over.acquire()
        self.is_left = False
        self.result: list[T] = []

    def leave(self) -> bool:
        """Abandon the job, from any thread. Return False if it has ended already, or was abandoned before."""
        with self._threads.lock:
            if self.result or self.is_left:
                return False
            self.is_left = True
            self._threads.left += 1
        self.is_over.release()
        return True

    def wait(self, timeout_s: float) -> T:
        """Return the result of the job's code.

        Raises: ``TimeoutError`` if the job took longer than ``timeout_s``, and is now abandoned; ``LeftAloneError`` if
        another thread has abandoned it.
        """
        if not self.is_over.acquire(timeout=timeout_s) and self.leave():
            raise TimeoutError
        if not self.result:
            raise LeftAloneError
        return self.result[0]


class BoundedThreads:
    """Daemon threads that are reused. The thread of an abandoned job is not reused: it ends when the job returns."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[Job[object]]] = []
        self.left = 0
        """Number of threads that still run abandoned jobs."""

    def begin(self, code: Callable[[], T]) -> Job[T]:
        """Start running ``code``, which must not raise exceptions, and return the job to wait for."""
        job = Job(code, self)
        with self.lock:
            jobs = self._idle.pop() if self._idle else None
        if jobs is None:
            jobs = queue.SimpleQueue()
            threading.Thread(target=self._work, args=(jobs,), name="phaseline-hook", daemon=True).start()
        jobs.put(job)  # type: ignore[arg-type]  # the taking thread only stores the result
        return job

    def run(self, code: Callable[[], T], timeout_s: float) -> T:
        """Run ``code``, which must not raise exceptions, and return its result.

        Raises: ``TimeoutError`` if it took longer than ``timeout_s``.
        """
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
