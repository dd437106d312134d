"""Threads in which hook classes are called: used again, given up after their time, and speaking for whoever waits."""

import queue
import threading
from contextvars import ContextVar

import pytest

from phaseline.hooks.time_limited_threads import BoundedThreads, LeftAloneError

WHO: ContextVar[str] = ContextVar("who", default="nobody")


def test_one_thread_serves_calls_that_come_one_after_the_other() -> None:
    threads = BoundedThreads()
    assert len({threads.run(threading.get_ident, 60) for _ in range(5)}) == 1


def test_what_hangs_is_left_and_ends_with_its_job_and_the_next_call_has_a_thread() -> None:
    threads, gate, hung = BoundedThreads(), threading.Event(), queue.SimpleQueue[threading.Thread]()

    def hang() -> None:
        hung.put(threading.current_thread())
        gate.wait(60)

    with pytest.raises(TimeoutError):
        threads.run(hang, 0.01)
    assert threads.left == 1
    left = hung.get(timeout=60)  # it may come to begin only after it was given up
    assert threads.run(threading.get_ident, 60) != left.ident
    gate.set()
    left.join(60)
    assert threads.left == 0


def test_h32_twenty_that_hang_at_once_keep_nobody_waiting() -> None:
    threads, gate = BoundedThreads(), threading.Event()
    for _ in range(20):
        with pytest.raises(TimeoutError):
            threads.run(lambda: gate.wait(60), 0.001)
    assert threads.left == 20
    assert threads.run(lambda: "done", 60) == "done"
    gate.set()


def test_the_code_speaks_for_whoever_waits() -> None:
    WHO.set("me")
    assert BoundedThreads().run(WHO.get, 60) == "me"


def test_h52_whoever_waits_is_told_when_somebody_else_has_left_the_job() -> None:
    threads, gate = BoundedThreads(), threading.Event()
    job = threads.begin(lambda: gate.wait(60))
    assert job.leave()
    assert not job.leave(), "it is left already"
    with pytest.raises(LeftAloneError):
        job.wait(60)
    assert threads.left == 1
    gate.set()
    done = threads.begin(lambda: "done")
    assert done.wait(60) == "done"
    assert not done.leave(), "it has ended"
