"""Batches: who is in them, whose answers count, and how many there may be."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engine.driving import AGAIN, DONE, FAILED, RETRY, Driver, finished, positions

from phaseline.model.execution.events import Finished, LaneChanged, Lost, SlotsChanged
from phaseline.model.graph.graph import LaneSpec, Policy
from phaseline.model.graph.status import OutcomeKind
from phaseline.testing.graphs import graph_of

ONCE = Policy(LaneSpec("once", form="each"), repeatable=False)
EACH = Policy(LaneSpec("each", form="each"), repeatable=True, max_retries=2, retry_interval_ms=100)
BULK = Policy(LaneSpec("bulk"), repeatable=True, max_retries=-1, retry_interval_ms=100)


def test_more_ready_than_slots_with_calls_that_must_not_be_repeated() -> None:
    """No batch holds more than can really run at once, so that a crash makes only running calls unsure."""
    driver = Driver({"threads": 4, "bulk": 1})
    driver.begin(graph_of([0] * 10, policies=(ONCE,)))
    assert [len(batch) for batch in driver.batches] == [4]
    assert [len(batch) for batch in driver.answer(driver.batches[0], members=[1])] == [1]
    driver.tell(Lost(driver.batches[0].id), Lost(driver.batches[1].id))
    assert driver.statuses()[:5] == ["unsure", "completed", "unsure", "unsure", "unsure"]
    assert sum(len(batch) for batch in driver.batches[2:]) == 4


def test_repeatable_entries_of_a_lost_batch_wait_again_and_the_others_are_unsure() -> None:
    driver = Driver({"threads": 8, "bulk": 1})
    driver.begin(graph_of([0, 0, 1], policies=(EACH, ONCE)))
    driver.tell(SlotsChanged("threads", 0))
    driver.tell(*(Lost(batch.id) for batch in driver.batches))
    assert sorted(driver.statuses()) == ["unsure", "waiting", "waiting"]


def test_a_second_batch_for_an_entry_whose_first_batch_is_still_open() -> None:
    driver = Driver({"threads": 8, "bulk": 1})
    (first,) = driver.begin(graph_of([0, 0], policies=(EACH,)))
    (second,) = driver.answer(first, AGAIN, members=[0], delay=0) or driver.sleep(0)
    assert positions(second) == [0]

    late = driver.tell(finished(first, FAILED, members=[0]))
    assert late.accepted[0].rejected.tolist() == [0]
    assert driver.statuses() == ["running", "running"]

    driver.answer(second)
    driver.answer(first, members=[1])
    assert driver.statuses() == ["completed", "completed"]


def test_answers_that_come_twice_or_for_nobody_move_nothing() -> None:
    driver = Driver()
    (batch,) = driver.begin(graph_of([0, 0], policies=(BULK,)))
    decision = driver.tell(finished(batch, members=[0, 0, 7, -1]))
    assert decision.accepted[0].members.tolist() == [0]
    assert sorted(decision.accepted[0].rejected.tolist()) == [-1, 0, 7]
    assert driver.tell(finished(batch, FAILED, members=[0])).accepted[0].rejected.tolist() == [0]
    unknown = Finished(99, np.array([0], np.int32), np.array([DONE], np.uint8), np.array([-1], np.int64))
    assert driver.tell(unknown).accepted[0].rejected.tolist() == [0]
    assert driver.statuses() == ["completed", "running"]


def test_a_retry_comes_after_the_interval_and_only_so_often() -> None:
    driver = Driver()
    driver.begin(graph_of([0], policies=(EACH,)))
    for attempt in (1, 2):
        assert driver.answer(driver.batches[-1], RETRY) == []
        assert driver.sleep(99) == []
        (again,) = driver.sleep(1)
        assert again.segments[0].attempts.tolist() == [attempt]
    driver.answer(driver.batches[-1], RETRY)
    assert driver.statuses() == ["failed"]


@pytest.mark.parametrize("count", [1, 3])
def test_d34_retries_come_after_the_times_of_the_back_off_and_the_last_one_stays(count: int) -> None:
    patient = Policy(LaneSpec("bulk"), max_retries=4, retry_interval_ms=100, backoff_ms=(20, 80, 300))
    driver = Driver()
    driver.begin(graph_of([0] * count, policies=(patient,)))
    for wait in (20, 80, 300, 300):
        assert driver.answer(driver.batches[-1], RETRY) == []
        assert driver.sleep(wait - 1) == []
        (again,) = driver.sleep(1)
        assert len(again) == count
    driver.answer(driver.batches[-1], RETRY)
    assert driver.statuses() == ["failed"] * count


def test_d34_what_asks_to_be_called_again_waits_for_the_interval_not_for_the_back_off() -> None:
    patient = Policy(LaneSpec("bulk"), max_retries=4, retry_interval_ms=100, backoff_ms=(20,))
    driver = Driver()
    driver.begin(graph_of([0, 0], policies=(patient,)))
    driver.answer(driver.batches[-1], AGAIN)
    assert driver.sleep(99) == []
    assert len(driver.sleep(1)) == 1


def test_again_is_no_retry_and_has_no_end() -> None:
    driver = Driver()
    driver.begin(graph_of([0], policies=(EACH,)))
    for _ in range(10):
        driver.answer(driver.batches[-1], AGAIN, delay=5)
        (batch,) = driver.sleep(5)
        assert batch.segments[0].attempts.tolist() == [0]


def test_a_bulk_lane_has_one_running_call() -> None:
    small = Policy(LaneSpec("bulk", max_batch=10), repeatable=True)
    driver = Driver()
    driver.begin(graph_of([0] * 25, policies=(small,)))
    assert [len(batch) for batch in driver.batches] == [10]
    assert [len(batch) for batch in driver.run()] == [10, 10, 5]


def test_ten_behind_a_hundred_thousand_of_another_end_among_the_first_twenty_batches() -> None:
    small = Policy(LaneSpec("bulk", max_batch=1_000), repeatable=True)
    driver = Driver(is_checked=False)
    driver.begin(graph_of([0] * 100_000, policies=(small,)), execution=1)
    driver.begin(graph_of([0] * 10, policies=(small,)), execution=2)
    driver.run()
    with_second = [place for place, batch in enumerate(driver.batches) if any(s.execution == 2 for s in batch.segments)]
    assert with_second[-1] < 20


def test_a_paused_lane_begins_nothing_until_it_is_opened() -> None:
    driver = Driver()
    driver.tell(LaneChanged("bulk", is_paused=True))
    assert driver.begin(graph_of([0], policies=(BULK,))) == []
    driver.tell(LaneChanged("bulk", is_paused=False))
    assert len(driver.batches) == 1


def test_an_interval_keeps_the_starts_of_two_batches_apart() -> None:
    slow = Policy(LaneSpec("bulk", max_batch=1, concurrency=5, interval_ms=200), repeatable=True)
    driver = Driver()
    assert len(driver.begin(graph_of([0] * 3, policies=(slow,)))) == 1
    assert driver.sleep(199) == []
    assert len(driver.sleep(1)) == 1


def test_an_unsure_outcome_stops_the_execution_for_a_person() -> None:
    driver = Driver()
    (batch,) = driver.begin(graph_of([0], policies=(BULK,)))
    driver.answer(batch, OutcomeKind.UNSURE)
    assert driver.statuses() == ["unsure"]
    assert driver.decisions[-1].changes.executions[-1].status.value == "attention"
