"""Members of batches are called by as many threads as are of use: one where calls compute, all where they wait."""

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from phaseline.calls.threads.elastic_pool import LATE_S, PATIENCE_S, Company, Crew
from phaseline.calls.threads.timer_thread import Alarms

SIZE = 8
LONG_S = 60.0
"""Tests give up after so long."""


@pytest.fixture
def crew() -> Iterator[Crew]:
    alarms = Alarms(_raise)
    made = Crew("test", SIZE, _raise, alarms.set)
    yield made
    made.stop(1)
    alarms.stop()


def _raise(error: BaseException) -> None:
    raise AssertionError from error


def test_every_member_is_called_once_in_the_order_of_the_batches(crew: Crew) -> None:
    called: list[tuple[str, int]] = []
    one_more = threading.Semaphore(0)

    def call(batch: str, member: int) -> None:
        called.append((batch, member))
        one_more.release()

    crew.call(500, partial(call, "first"))
    crew.call(1, partial(call, "second"))
    for _ in range(501):
        assert one_more.acquire(timeout=LONG_S)
    assert sorted(called) == [*(("first", member) for member in range(500)), ("second", 0)]


def test_calls_that_wait_for_one_another_all_run(crew: Crew) -> None:
    """Each stays until all are there: one thread for each member is needed, over the bounds of batches too."""
    meeting = threading.Barrier(SIZE + 1)
    crew.call(SIZE - 2, lambda _: meeting.wait(LONG_S) and None)
    for _ in range(2):
        crew.call(1, lambda _: meeting.wait(LONG_S) and None)
    meeting.wait(LONG_S)


def test_no_more_threads_than_the_size_are_sent_for(crew: Crew) -> None:
    free, there = threading.Event(), threading.Semaphore(0)

    def stay(_: int) -> None:
        there.release()
        free.wait(LONG_S)

    crew.call(10 * SIZE, stay)
    for _ in range(SIZE):
        assert there.acquire(timeout=LONG_S)
    assert crew.busy() == SIZE
    assert not there.acquire(timeout=0.02)
    free.set()
    for _ in range(9 * SIZE):
        assert there.acquire(timeout=LONG_S)


def test_a_crew_that_is_held_begins_nobody(crew: Crew) -> None:
    called: list[int] = []
    begun, free = threading.Event(), threading.Event()

    def call(member: int) -> None:
        called.append(member)
        begun.set()
        free.wait(LONG_S)

    crew.call(1, call)
    assert begun.wait(LONG_S)
    crew.hold()
    crew.call(5, call)
    free.set()
    crew.stop(LONG_S)
    assert called == [0]


def test_a_crew_that_is_released_goes_on_where_it_was_held(crew: Crew) -> None:
    called: list[int] = []
    begun, free, done = threading.Event(), threading.Event(), threading.Event()

    def call(member: int) -> None:
        called.append(member)
        begun.set()
        free.wait(LONG_S)
        if len(called) == 5:
            done.set()

    crew.call(5, call)
    assert begun.wait(LONG_S)
    crew.hold()
    held = len(called)
    free.set()
    while crew.busy():
        threading.Event().wait(0.001)
    assert len(called) == held
    crew.release()
    assert done.wait(LONG_S)
    assert sorted(called) == [0, 1, 2, 3, 4]


def judged(company: Company, *looks: tuple[float, float, float, int]) -> int:
    """How many are wanted after looks at (now, how late, the share of a processor, how many have begun)."""
    for now, late_s, share, begun in looks:
        company.judge(now, late_s=late_s, share=share, begun=begun)
    return company.wanted


def test_calls_that_compute_stay_with_one_thread() -> None:
    looks = [(at / 100, 3 * LATE_S * (at % 2), 1.0, at) for at in range(200)]
    assert judged(Company(16), *looks) == 1


def test_calls_that_wait_get_twice_as_many_at_each_look_up_to_the_size() -> None:
    company = Company(10)
    looks = [(at / 500, 0.0, 0.1, at) for at in range(5)]
    assert [judged(company, look) for look in looks] == [2, 4, 8, 10, 10]


def test_threads_that_are_in_one_anothers_way_are_sent_home() -> None:
    company = Company(16)
    assert judged(company, *[(at / 500, 0.0, 0.1, at) for at in range(4)]) == 16
    assert judged(company, *[(1 + at / 500, 2 * LATE_S, 1.0, at) for at in range(5)]) == 1


def test_a_look_that_comes_late_on_a_machine_that_does_other_things_says_nothing() -> None:
    assert judged(Company(16), *[(at / 500, 2 * LATE_S, 0.2, at) for at in range(10)]) == 1


def test_long_calls_get_company_though_they_compute() -> None:
    """Members never wait for one another without end."""
    company = Company(16)
    assert judged(company, (0.0, 2 * LATE_S, 1.0, 1), (PATIENCE_S - 0.01, 2 * LATE_S, 1.0, 1)) == 1
    assert judged(company, (PATIENCE_S, 2 * LATE_S, 1.0, 1)) == 2
