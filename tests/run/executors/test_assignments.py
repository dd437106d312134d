"""Which calls of a worker have begun is certain at any time: a permit is read by the worker, or taken back."""

import os
from collections.abc import Iterator

import pytest

from phaseline.run.executors.assignments import Assignment, Assignments
from phaseline.run.executors.permits import PermitReader


def made(number: int) -> Assignment:
    one = Assignment(None, {"mark": f"m{number}"}, None, lambda *_: None)  # type: ignore[arg-type]  # nobody asks
    one.number = number
    return one


@pytest.fixture
def calls() -> Iterator[Assignments]:
    found = Assignments()
    found.permit([made(number) for number in (1, 2, 3)])
    yield found
    found.close()


@pytest.fixture
def worker(calls: Assignments) -> PermitReader:
    return PermitReader(calls.permits.fileno())


def numbers(found: list[Assignment]) -> list[int]:
    return [one.number for one in found]


def test_permits_that_were_read_are_not_taken_back(calls: Assignments, worker: PermitReader) -> None:
    assert worker.take() == 1
    assert numbers(calls.take_back()) == [2, 3]
    assert calls.current is not None
    assert (calls.current.number, calls.has_more, calls.take_back()) == (1, False, [])


def test_all_are_taken_back_of_a_worker_that_has_begun_none(calls: Assignments) -> None:
    assert calls.take_back(only_behind=True) == [], "it is not the first that holds the others up"
    assert numbers(calls.take_back()) == [1, 2, 3]
    assert calls.current is None


def test_what_is_paused_begins_when_the_one_that_runs_has_ended(calls: Assignments, worker: PermitReader) -> None:
    assert worker.take() == 1
    calls.pause()
    calls.unpause()
    assert calls.permits.take_back() == set()
    calls.end_current()
    assert [worker.take(), worker.take()] == [2, 3]


def test_what_ends_while_the_others_are_paused_lets_none_begin_before_they_are_not(
    calls: Assignments, worker: PermitReader
) -> None:
    assert worker.take() == 1
    calls.pause()
    calls.end_current()
    assert calls.permits.take_back() == set()
    calls.unpause()
    assert worker.take() == 2


def test_what_is_paused_can_be_taken_back(calls: Assignments, worker: PermitReader) -> None:
    assert worker.take() == 1
    calls.pause()
    assert numbers(calls.take_back()) == [2, 3]


def test_a_call_whose_end_was_not_read_yet_is_not_taken_for_the_one_that_runs(
    calls: Assignments, worker: PermitReader
) -> None:
    assert (worker.take(), worker.take()) == (1, 2)
    assert numbers(calls.take_back()) == [3]
    assert [calls.runs(mark) for mark in ("m1", "m2", "m3")] == [False, True, False]
    calls.end_current()
    calls.end_current()
    assert not calls.runs("m2")


def test_a_worker_whose_engine_is_gone_reads_no_permit(calls: Assignments) -> None:
    reading = os.dup(calls.permits.fileno())
    calls.take_back()
    calls.close()
    calls.close()
    assert PermitReader(reading).take() is None
    assert calls.take_back() == []
    os.close(reading)
