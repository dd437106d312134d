"""Lanes: when a batch may begin, and who comes along with it."""

from __future__ import annotations

import numpy as np
from tests.engine.driving import AGAIN, RETRY, Driver, positions

from phaseline.engine.lanes.rate_limits import BUCKETS_KEPT, TokenBuckets
from phaseline.model.execution.events import Batch, Finished, LaneChanged, RateAdapted, WakeRequested
from phaseline.model.graph.graph import LaneSpec, Policy
from phaseline.testing.graphs import graph_of


def test_the_phase_of_two_definitions_runs_once_all_the_same() -> None:
    """A phase that was loaded anew has another lane beside the one that still calls (X3)."""
    former, present = (Policy(LaneSpec("phase:boot", max_batch=most)) for most in (10, 20))
    driver = Driver()
    (first,) = driver.begin(graph_of([0], policies=(former,)), 1)
    assert not driver.begin(graph_of([0], policies=(present,)), 2)
    assert len(driver.begin(graph_of([0], policies=(Policy(LaneSpec("phase:join")),)), 3)) == 1, "another phase"
    assert [batch.lane.max_batch for batch in driver.answer(first)] == [20]


def test_a_phase_on_probation_calls_one_at_a_time() -> None:
    driver = Driver()
    driver.tell(LaneChanged("phase:boot", is_paused=False, is_probe=True))
    (first,) = driver.begin(graph_of([0] * 3, policies=(Policy(LaneSpec("phase:boot")),)))
    assert positions(first) == [0]
    (second,) = driver.answer(first)
    assert positions(second) == [1]
    driver.tell(LaneChanged("phase:boot", is_paused=False))
    assert [positions(batch) for batch in driver.answer(second)] == [[2]]


def test_x5_who_is_due_within_the_window_comes_along() -> None:
    policies = (Policy(LaneSpec("phase:poll", coalesce_ms=50)), Policy(LaneSpec("phase:other")))
    driver = Driver()
    poll, other = driver.begin(graph_of([0, 0, 0, 1], policies=policies))
    driver.tell(_again(poll, [0, 1, 2], [100, 140, 200]), _again(other, [0], [110]))
    assert [positions(batch) for batch in driver.sleep(100)] == [[0, 1]]
    assert [positions(batch) for batch in driver.sleep(10)] == [[3]], "which has no window"


def test_x5_nobody_comes_along_who_is_due_later() -> None:
    driver = Driver()
    (batch,) = driver.begin(graph_of([0, 0], policies=(Policy(LaneSpec("phase:poll", coalesce_ms=50)),)))
    driver.tell(_again(batch, [0, 1], [100, 200]))
    assert [positions(one) for one in driver.sleep(100)] == [[0]]
    assert not driver.answer(driver.batches[-1])


def _again(batch: Batch, members: list[int], delays: list[int]) -> Finished:
    kinds = np.full(len(members), AGAIN, np.uint8)
    return Finished(batch.id, np.array(members, np.int32), kinds, np.array(delays, np.int64))


def test_x7_a_lane_waits_until_its_rate_allows_a_call() -> None:
    limited = Policy(LaneSpec("phase:boot", max_batch=1, rate=2.0))
    driver = Driver()
    (first,) = driver.begin(graph_of([0, 0], policies=(limited,)))
    assert not driver.answer(first)
    assert not driver.sleep(499)
    assert len(driver.sleep(1)) == 1
    driver.tell(RateAdapted(limited.lane, 0, is_throttled=True))


def test_x7_what_has_filled_again_is_forgotten() -> None:
    rates, spec = TokenBuckets(), LaneSpec("phase:boot", rate=1.0)
    for key in range(BUCKETS_KEPT + 1):
        rates.take(spec, key, 0)
    rates.adapt(spec, 0, is_throttled=True)
    rates.take(spec, 99_999, 1_000)
    assert rates.keys == {0, 99_999}, "a rate that is reduced is remembered"


def test_a_wake_of_those_that_fail_leaves_others_asleep() -> None:
    patient = Policy(LaneSpec("boot"), max_retries=3, retry_interval_ms=1_000)
    driver = Driver()
    (batch,) = driver.begin(graph_of([0, 0], policies=(patient,)))
    driver.answer(batch, RETRY, [0])
    driver.answer(batch, AGAIN, [1], delay=1_000)
    driver.tell(WakeRequested(1, 1, only_failing=True))
    assert driver.statuses() == ["running", "sleeping"]
