"""Threads are few, shared and replaced when they hang."""

import queue
import sys
import threading
from functools import partial

from phaseline.calls.threads.thread_pool import Pool

LONG_S = 60.0
"""Tests give up after so long."""


def test_never_more_threads_than_the_size_run_at_once() -> None:
    pool = Pool("test", 3, _raise)
    lock, done = threading.Lock(), threading.Semaphore(0)
    running = most = 0

    def task() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        inside.release()
        gate.wait(LONG_S)
        with lock:
            running -= 1
        done.release()

    gate, inside = threading.Event(), threading.Semaphore(0)
    for _ in range(9):
        pool.put(task)
    for _ in range(3):
        assert inside.acquire(timeout=LONG_S)
    assert not inside.acquire(timeout=0.02)
    gate.set()
    for _ in range(9):
        assert done.acquire(timeout=LONG_S)
    assert most == 3
    pool.stop(1)


def test_a_hanging_thread_is_replaced_and_ends_when_it_returns() -> None:
    pool = Pool("test", 1, _raise)
    hanging, threads = threading.Event(), queue.SimpleQueue[int]()

    def hang() -> None:
        threads.put(threading.get_ident())
        hanging.wait()

    pool.put(hang)
    hung = threads.get(timeout=LONG_S)
    pool.abandon(hung)
    for _ in range(2):
        pool.put(lambda: threads.put(threading.get_ident()))
    others = {threads.get(timeout=LONG_S) for _ in range(2)}
    assert len(others) == 1
    assert hung not in others
    assert pool.busy() <= 1
    hanging.set()
    pool.put(lambda: threads.put(threading.get_ident()))
    assert {threads.get(timeout=LONG_S)} == others
    pool.stop(1)


def _raise(error: BaseException) -> None:
    raise AssertionError from error


def test_a_task_never_waits_for_a_long_one_while_a_thread_may_be_started() -> None:
    """The second task comes while the only thread is taking the first: that thread is idle no more."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(300):
            pool = Pool("test", 2, _raise)
            meeting = threading.Barrier(3)
            for _ in range(2):
                pool.put(partial(meeting.wait, LONG_S))
            meeting.wait(LONG_S)  # both run at once, or the barrier breaks
            pool.stop(0)
    finally:
        sys.setswitchinterval(before)
