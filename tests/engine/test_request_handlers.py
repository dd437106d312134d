"""What users ask: cancel, retry, complete, wake; and limits of failure."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engine.driving import AGAIN, DONE, FAILED, RETRY, Driver, commands_of, positions

from phaseline.engine.request_handlers import GRACE_MS
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.events import (
    CancelRequested,
    CompleteRequested,
    Planned,
    RetryRequested,
    Stop,
    Submitted,
    WakeRequested,
)
from phaseline.model.execution.execution import StopAfter, Verdict
from phaseline.model.graph.graph import Bound, LaneSpec, Policy
from phaseline.model.graph.status import ExecutionStatus
from phaseline.testing.graphs import graph_of

EACH = Policy(LaneSpec("each", form="each"), repeatable=True, max_retries=5, retry_interval_ms=100)
ONCE = Policy(LaneSpec("once", form="each"), repeatable=False)


def three_in_a_row(*, policy: Policy = EACH) -> Driver:
    """Entries 0 → 1 → 2 and, beside them, 3."""
    driver = Driver()
    driver.begin(graph_of([0, 0, 0, 0], needs={1: [0], 2: [1]}, policies=(policy,)))
    return driver


def test_a_retry_revives_exactly_the_shadow_of_what_failed() -> None:
    driver = three_in_a_row()
    driver.answer(driver.batches[0], FAILED, members=[0])
    driver.answer(driver.batches[0], members=[1])
    assert driver.statuses() == ["failed", "skipped", "skipped", "completed"]
    decision = driver.tell(RetryRequested(1))
    assert driver.statuses() == ["running", "blocked", "blocked", "completed"]
    assert decision.changes.notes[0].generations.tolist() == [1]
    assert driver.batches[-1].segments[0].generations.tolist() == [1]
    driver.answer(driver.batches[-1])
    assert driver.statuses() == ["completed", "running", "blocked", "completed"]


def test_a_cancel_awaits_running_calls_and_begins_nothing() -> None:
    driver = three_in_a_row()
    decision = driver.tell(CancelRequested(1))
    assert driver.statuses() == ["canceling", "canceled", "canceled", "canceling"]
    assert [stop.kill for stop in commands_of(decision, Stop)] == [False]
    assert driver.asked[-1].graph == 0
    driver.answer(driver.batches[0])
    assert driver.statuses() == ["completed", "canceled", "canceled", "completed"]
    assert driver.asked[-1].graph == 1


@pytest.mark.parametrize("how", ["force", "kill"])
def test_force_and_kill_give_running_calls_up_at_once(how: str) -> None:
    driver = Driver()
    driver.begin(graph_of([0, 1], policies=(EACH, ONCE)))
    decision = driver.tell(CancelRequested(1, how))
    assert driver.statuses() == ["canceled", "unsure"]
    assert {stop.kill for stop in commands_of(decision, Stop)} == {how == "kill"}
    late = driver.tell(*[])
    assert not late.commands
    assert driver.asked[-1].graph == 1


@pytest.mark.parametrize("how", ["force", "kill"])
def test_h52_whoever_answers_when_it_is_ended_is_ended_and_awaited(how: str) -> None:
    driver = Driver()
    hook = altered(EACH, answers_stop=True)
    driver.begin(graph_of([0, 1, 0], needs={2: [0]}, policies=(hook, EACH)))
    decision = driver.tell(CancelRequested(1, how))
    assert driver.statuses() == ["canceling", "canceled", "canceled"]
    assert sorted(stop.kill for stop in commands_of(decision, Stop)) == sorted([True, how == "kill"])
    assert [ask.graph for ask in driver.asked] == [0], "it is awaited"
    driver.answer(driver.batches[0], FAILED, members=[0])
    assert driver.statuses() == ["failed", "canceled", "canceled"]
    assert driver.asked[-1].graph == 1


def test_a_cancel_of_some_subjects_leaves_the_others_alone() -> None:
    driver = Driver()
    driver.begin(graph_of([0, 0, 0, 0], needs={1: [0], 3: [2]}, subjects=[5, 5, 6, 6], policies=(EACH,)))
    driver.tell(CancelRequested(1, "force", np.array([5])))
    assert driver.statuses() == ["canceled", "canceled", "running", "blocked"]


def test_a_retry_after_a_cancel_goes_on_where_it_stood() -> None:
    driver = three_in_a_row()
    driver.tell(CancelRequested(1))
    driver.answer(driver.batches[0])
    driver.tell(RetryRequested(1))
    assert driver.statuses() == ["completed", "running", "blocked", "completed"]


def test_completing_by_hand_lets_dependents_go() -> None:
    driver = three_in_a_row()
    driver.answer(driver.batches[0], FAILED, members=[0])
    driver.tell(CompleteRequested(1, 1, np.array([0], np.int32)))
    assert driver.statuses()[:3] == ["completed", "running", "blocked"]


def test_a_sleeper_can_be_woken() -> None:
    driver = three_in_a_row()
    driver.answer(driver.batches[0], AGAIN, members=[0], delay=60_000)
    driver.tell(WakeRequested(1, 1))
    assert positions(driver.batches[-1]) == [0]


def test_a_sleeper_that_was_canceled_and_retried_is_called_once() -> None:
    driver = three_in_a_row()
    driver.answer(driver.batches[0], RETRY, members=[0])
    driver.tell(CancelRequested(1))
    driver.answer(driver.batches[0], members=[1])
    driver.tell(RetryRequested(1))
    assert driver.sleep(1_000) == []
    assert driver.statuses()[0] == "running"


@pytest.mark.parametrize(
    ("limit", "failures"),
    [(StopAfter(failures=0), 1), (StopAfter(failures=2), 3), (StopAfter(share=0.25), 3)],
)
def test_what_has_not_begun_is_canceled_when_too_many_failed(limit: StopAfter, failures: int) -> None:
    driver = Driver({"threads": 1, "bulk": 1})
    one = Policy(LaneSpec("each", form="each", max_batch=1), repeatable=False)
    driver.begin(graph_of([0] * 8, policies=(one,)), stop_after=limit)
    for number in range(failures):
        assert driver.statuses().count("canceled") == 0, number
        driver.answer(driver.batches[-1], FAILED)
    assert driver.statuses().count("failed") == failures
    assert driver.statuses().count("canceled") == 8 - failures


def test_failures_are_tolerated_by_group() -> None:
    driver = Driver({"threads": 8, "bulk": 1})
    driver.begin(
        graph_of([0] * 8, needs={7: [0]}, policies=(EACH,), groups=[0, 0, 0, 0, 1, 1, 1, 1]),
        stop_after=StopAfter(share=0.5),
    )
    driver.answer(driver.batches[0], FAILED, members=[1, 2])
    assert "canceled" not in driver.statuses()
    driver.answer(driver.batches[0], FAILED, members=[3])
    assert driver.statuses()[7] == "canceled"


def test_seconds_after_the_first_failure_count_from_it() -> None:
    driver = Driver({"threads": 8, "bulk": 1})
    driver.begin(graph_of([0, 0, 0], needs={2: [0]}, policies=(EACH,)), stop_after=StopAfter(seconds=2))
    driver.answer(driver.batches[0], FAILED, members=[1])
    driver.sleep(1_999)
    assert driver.statuses()[2] == "blocked"
    driver.sleep(1)
    assert driver.statuses()[2] == "canceled"


def test_a_verdict_ends_the_execution_and_its_room_is_used_again() -> None:
    driver = Driver()
    driver.begin(graph_of([0] * 30_000, policies=(Policy(LaneSpec("bulk"), repeatable=True),)))
    driver.run()
    driver.tell(Planned(1, Verdict(ExecutionStatus.COMPLETED)))
    driver.begin(graph_of([0], policies=(EACH,)), execution=2)
    assert len(driver.scheduler.arena) == 1
    assert driver.statuses(2) == ["running"]


def test_f45_bounds_count_the_subjects_of_their_groups_and_stop_what_has_not_begun() -> None:
    one = Policy(LaneSpec("call", "each", max_batch=1, concurrency=1))
    bounds = (Bound("web", (1,), 1), Bound("all", (1, 2), 1))
    graph = graph_of([0] * 5, policies=(one,), subjects=[0, 0, 1, 2, 3], groups=[1, 1, 1, 2, 2])
    driver = Driver()
    (batch,) = driver.begin(altered(graph, bounds=bounds))
    for kind in (FAILED, FAILED, DONE):  # twice the same instance: one of three in its group
        (batch,) = driver.answer(batch, kind)
    assert not driver.answer(batch, FAILED)
    assert driver.statuses() == ["failed", "failed", "completed", "failed", "canceled"]
    assert driver.scheduler.runs[1].reason == "stopped: 2 of all failed, 1 are tolerated"


def test_who_is_woken_while_it_is_called_is_called_again_at_once_if_it_asks_for_that() -> None:
    driver = Driver()
    driver.begin(graph_of([0, 0, 0], policies=(EACH,)))
    driver.tell(WakeRequested(1, 1, np.array([0], np.int32)))
    driver.answer(driver.batches[0], AGAIN, members=[0, 1], delay=60_000)
    assert driver.statuses() == ["running", "sleeping", "running"]
    driver.answer(driver.batches[-1], AGAIN, delay=60_000)
    driver.sleep(0)
    assert driver.statuses()[0] == "sleeping", "one wake is one call"


def test_a_wake_of_everybody_leaves_those_alone_that_are_called() -> None:
    driver = Driver()
    driver.begin(graph_of([0], policies=(EACH,)))
    driver.tell(WakeRequested(1, 1, None))
    driver.answer(driver.batches[0], AGAIN, delay=60_000)
    driver.sleep(0)
    assert driver.statuses() == ["sleeping"]


def test_t12_calls_whose_cancel_wins_count_as_canceled_whatever_they_answer() -> None:
    driver = Driver()
    phase = Policy(LaneSpec("phase"), repeatable=True, cancel_wins=True)
    (batch,) = driver.begin(graph_of([0, 0, 0], policies=(phase,)))
    driver.tell(CancelRequested(1))
    driver.answer(batch, DONE)
    assert driver.statuses() == ["canceled"] * 3


def test_a_call_that_was_woken_while_it_ran_is_called_again_at_once() -> None:
    driver = Driver()
    (batch,) = driver.begin(graph_of([0], policies=(EACH,)))
    driver.tell(WakeRequested(1, 1, np.array([0], np.int32)))
    driver.answer(batch, AGAIN, delay=60_000)
    driver.sleep(0)
    assert (len(driver.batches), driver.statuses()) == (2, ["running"])


def test_an_execution_whose_time_is_over_begins_nothing_and_is_given_up_after_its_grace() -> None:
    driver = Driver()
    driver.tell(Submitted(1, 1, timeout_ms=1_000))
    driver.tell(Planned(1, graph_of([0, 0], needs={1: [0]}, policies=(EACH,)), 1))
    driver.sleep(1_000)
    assert driver.statuses() == ["canceling", "canceled"]
    driver.sleep(GRACE_MS - 1)
    assert driver.statuses() == ["canceling", "canceled"]
    driver.sleep(1)
    assert driver.statuses() == ["canceled", "canceled"]


def test_what_closes_an_execution_whose_time_is_over_has_a_time_of_its_own() -> None:
    driver = Driver()
    driver.tell(Submitted(1, 1, timeout_ms=1_000))
    driver.tell(Planned(1, graph_of([0], policies=(EACH,)), 1))
    driver.sleep(1_000)
    driver.answer(driver.batches[0])
    driver.tell(Planned(1, graph_of([0], policies=(EACH,)), 2))
    driver.sleep(GRACE_MS)
    assert driver.statuses(2) == ["running"]


def test_the_time_of_an_execution_that_is_canceled_is_of_no_account() -> None:
    driver = Driver()
    driver.tell(Submitted(1, 1, timeout_ms=1_000))
    driver.tell(Planned(1, graph_of([0], policies=(EACH,)), 1))
    driver.tell(CancelRequested(1))
    driver.sleep(1_000 + GRACE_MS)
    assert driver.statuses() == ["canceling"]


def test_those_in_no_group_are_answers_and_stop_nothing() -> None:
    driver = Driver()
    graph = graph_of([0, 0, 0], needs={2: [0]}, policies=(altered(EACH, max_retries=0),), groups=(-1, 0, 0))
    (first, *_) = driver.begin(graph, stop_after=StopAfter(failures=0))
    driver.answer(first, FAILED, members=[0])
    assert driver.statuses() == ["failed", "running", "skipped"]
    assert not driver.scheduler.runs[1].is_stopped
