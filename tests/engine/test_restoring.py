"""Going on from what a store remembers: statuses, notes and open batches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.engine.driving import AGAIN, FAILED, Driver, positions

from phaseline.model.execution.events import (
    CancelRequested,
    CompleteRequested,
    Event,
    Lost,
    Planned,
    Reattached,
    RerunRequested,
    Restored,
    RetryRequested,
    SlotsChanged,
    Submitted,
)
from phaseline.model.execution.execution import StopAfter, Verdict
from phaseline.model.graph.batch_members import MemberPositions
from phaseline.model.graph.graph import Graph, LaneSpec, Policy
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.testing.graphs import graph_of
from phaseline.testing.recorder import Recorder

AGAIN_AND_AGAIN = Policy(LaneSpec("call"), repeatable=True)
ONCE = Policy(LaneSpec("once"))


def restarted(driver: Driver, *, execution: int | None = None) -> tuple[Driver, list[Event]]:
    """Another process, and what the store tells it: an execution, or all that are open; what was called is lost."""
    recorder = Recorder()
    for decision in driver.decisions:
        recorder.commit(decision.changes)
    other = Driver(now=driver.now, next_batch=len(driver.batches) + 1)
    return other, recorder.restoring(None if execution is None else [execution])


def go_on(driver: Driver) -> Driver:
    """Another process that has gone on."""
    other, told = restarted(driver)
    other.tell(*told)
    return other


def test_completed_entries_stay_completed_and_lost_ones_are_called_again_or_unsure() -> None:
    driver = Driver()
    graph = graph_of([0, 0, 1], policies=(AGAIN_AND_AGAIN, ONCE))
    first, _ = driver.begin(graph)
    driver.answer(first, members=[0])
    other = go_on(driver)
    assert other.statuses() == ["completed", "running", "unsure"]


def test_a_canceling_entry_of_some_subjects_is_still_canceling_after_a_crash() -> None:
    driver = Driver()
    driver.begin(graph_of([0, 0], policies=(AGAIN_AND_AGAIN,)))
    driver.tell(CancelRequested(1, subjects=np.array([0])))
    assert go_on(driver).statuses() == ["canceled", "running"]


def test_the_closing_round_of_a_canceled_execution_is_not_canceled_by_a_crash() -> None:
    driver = Driver()
    (batch,) = driver.begin(graph_of([0]))
    driver.tell(CancelRequested(1))
    driver.answer(batch, AGAIN)
    driver.tell(Planned(1, graph_of([0], name="closing"), 2))
    other = go_on(driver)
    assert other.scheduler.runs[1].status is ExecutionStatus.CANCELING
    assert other.statuses(2) == ["running"]


def test_a_sleeper_wakes_at_its_time_and_keeps_its_attempts() -> None:
    driver = Driver()
    patient = replace(ONCE, max_retries=3, retry_interval_ms=500)
    (batch,) = driver.begin(graph_of([0], policies=(patient,)))
    driver.answer(batch, OutcomeKind.RETRY)
    other = go_on(driver)
    assert other.statuses() == ["sleeping"]
    assert not other.sleep(499)
    (again,) = other.sleep(1)
    assert again.segments[0].attempts.tolist() == [1]


def test_failures_before_the_crash_count_for_the_limit() -> None:
    driver = Driver()
    limit = StopAfter(failures=1)
    (batch,) = driver.begin(graph_of([0, 0, 0], policies=(replace(AGAIN_AND_AGAIN, max_retries=0),)), stop_after=limit)
    driver.answer(batch, FAILED, members=[0])
    other, told = restarted(driver)
    limited = [replace(event, stop_after=limit) if isinstance(event, Restored) else event for event in told]
    other.tell(*limited)
    other.answer(other.batches[-1], FAILED, members=[0])
    assert other.scheduler.runs[1].is_stopped


def test_taking_up_twice_is_taking_up_once() -> None:
    driver = Driver()
    driver.begin(graph_of([0, 1], policies=(AGAIN_AND_AGAIN, ONCE)))
    other, told = restarted(driver)
    other.tell(*told, *told)
    assert other.statuses() == ["running", "unsure"]
    assert len(other.batches) == 1


def test_an_ended_execution_is_taken_up_and_retried_in_one_turn() -> None:
    driver = Driver()
    (batch,) = driver.begin(graph_of([0, 0], needs={1: [0]}))
    driver.answer(batch, FAILED)
    driver.tell(Planned(1, Verdict(ExecutionStatus.FAILED)))
    other, told = restarted(driver, execution=1)
    other.tell(*told, RetryRequested(1))
    assert other.statuses() == ["running", "blocked"]
    assert other.scheduler.runs[1].attempt == 1


def test_completing_by_hand_reopens_an_ended_execution() -> None:
    driver = Driver()
    (batch,) = driver.begin(graph_of([0, 0], needs={1: [0]}))
    driver.answer(batch, FAILED)
    driver.tell(Planned(1, Verdict(ExecutionStatus.FAILED)))
    other, told = restarted(driver, execution=1)
    decision = other.tell(*told, CompleteRequested(1, 1, np.array([0, 0])))
    assert other.statuses() == ["completed", "running"]
    assert [(again.graph, again.attempt) for again in decision.changes.reopened] == [(1, 1)]


def test_a_rerun_reopens_an_ended_execution() -> None:
    driver = Driver()
    (batch,) = driver.begin(graph_of([0, 0], needs={1: [0]}))
    driver.answer(driver.answer(batch)[0])
    driver.tell(Planned(1, Verdict(ExecutionStatus.COMPLETED)))
    other, told = restarted(driver, execution=1)
    decision = other.tell(*told, RerunRequested(1, 1, np.array([1])))
    assert other.statuses() == ["completed", "running"]
    assert [(again.graph, again.attempt) for again in decision.changes.reopened] == [(1, 1)]


def test_an_execution_without_a_graph_asks_for_its_first() -> None:
    driver = Driver()
    driver.tell(Submitted(1, 1))
    other = go_on(driver)
    assert [ask.graph for ask in other.asked] == [0]


def test_a_settled_round_beside_an_open_one_is_not_asked_about_again() -> None:
    other = Driver()
    done, graph = np.array([6], np.uint8), graph_of([0])
    other.tell(known(1, graph, done), known(2, graph, np.array([0], np.uint8)))
    assert not other.asked
    assert other.statuses(2) == ["running"]


def known(graph_id: int, graph: Graph, statuses: np.ndarray | None = None, execution: int = 1) -> Restored:
    """A graph without notes."""
    return Restored(execution, 1, ExecutionStatus.RUNNING, 0, None, graph_id=graph_id, graph=graph, statuses=statuses)


def shared() -> Reattached:
    """A batch with one member of graph 1 and one of graph 2."""
    return Reattached(7, MemberPositions((1, 2), (1, 2), np.array([0, 0], np.int32)), None)


def test_a_batch_stays_open_for_members_of_executions_that_are_not_held() -> None:
    other = Driver()
    decision = other.tell(known(1, graph_of([0], policies=(ONCE,))), shared(), Lost(7))
    assert other.statuses() == ["unsure"]
    (closed,) = decision.changes.closed
    assert (closed.closed_at, closed.kinds.tolist()) == (0, [OutcomeKind.UNSURE, OutcomeKind.PENDING])


def test_two_executions_taken_up_one_after_the_other_share_a_lost_batch() -> None:
    other = Driver()
    graph = graph_of([0], policies=(ONCE,))
    other.tell(known(1, graph), shared(), Lost(7), known(2, graph, execution=2), shared(), Lost(7))
    assert [other.statuses(1), other.statuses(2)] == [["unsure"], ["unsure"]]
    assert not other.batches


def test_an_open_batch_that_is_not_yet_lost_may_still_answer() -> None:
    other = Driver()
    other.tell(known(1, graph_of([0], policies=(ONCE,))), shared())
    assert other.statuses() == ["running"]
    assert other.scheduler.batches[7].lane is None


def test_rf7_a_call_that_runs_elsewhere_counts_in_its_lane_unless_the_lane_has_a_key() -> None:
    for spec, lanes, used in ((LaneSpec("plain"), 1, 1), (LaneSpec("keyed", key="region"), 0, 0)):
        other = Driver()
        elsewhere = Reattached(7, MemberPositions((1,), (1,), np.array([0], np.int32)), None, is_running=True)
        other.tell(known(1, graph_of([0], policies=(Policy(spec),))), elsewhere)
        assert other.statuses() == ["running"]
        batch = other.scheduler.batches[7]
        assert (sum(lane.running for lane in other.scheduler.lanes.by_key.values()), batch.held) == (lanes, used)
        assert sum(other.scheduler.lanes.used.values()) == used
        other.tell(Lost(7))
        assert other.statuses() == ["unsure"]
        assert sum(other.scheduler.lanes.used.values()) == 0


def test_a_batch_of_nobody_is_closed_when_it_is_lost() -> None:
    other = Driver()
    other.tell(Reattached(7, MemberPositions.of([]), np.empty(0, np.uint8)))
    decision = other.tell(Lost(7), Lost(8))
    assert [closed.batch for closed in decision.changes.closed] == [7]


def test_what_waits_and_runs_survives_the_closing_of_holes() -> None:
    driver = Driver(slots={"bulk": 1})
    driver.scheduler._compact_from = 0
    big = graph_of([0] * 50, policies=(Policy(LaneSpec("big"), repeatable=True),))
    narrow = Policy(LaneSpec("narrow", max_batch=1), repeatable=True, max_retries=1, retry_interval_ms=10)
    (first,) = driver.begin(big, 1)
    driver.begin(graph_of([0, 0, 0], policies=(narrow,)), 2)
    (second,) = driver.answer(first)
    driver.tell(Planned(1, Verdict(ExecutionStatus.COMPLETED)))
    assert len(driver.scheduler.arena) == 53
    (third,) = driver.answer(second, OutcomeKind.RETRY)
    assert len(driver.scheduler.arena) == 3
    assert driver.statuses(2) == ["sleeping", "running", "waiting"]
    assert [positions(third)] == [[1]]
    driver.tell(CancelRequested(2, subjects=np.array([0])), SlotsChanged("bulk", 2))
    assert driver.statuses(2) == ["canceled", "running", "waiting"]


def test_of_two_settled_rounds_only_the_last_is_asked_about() -> None:
    other = Driver()
    done, graph = np.array([6], np.uint8), graph_of([0])
    other.tell(known(1, graph, done), known(2, graph, done))
    assert [ask.graph for ask in other.asked] == [2]


def test_graphs_with_equal_policies_share_them_before_and_after_the_closing_of_holes() -> None:
    driver = Driver(is_checked=False)
    driver.scheduler._compact_from = 0
    (first,) = driver.begin(graph_of([0] * 9, policies=(ONCE,)), 1)
    driver.begin(graph_of([0], policies=(ONCE, AGAIN_AND_AGAIN)), 2)
    driver.begin(graph_of([0], policies=(ONCE, AGAIN_AND_AGAIN)), 3)
    assert driver.scheduler.arena.policies == [ONCE, ONCE, AGAIN_AND_AGAIN]
    driver.answer(first)
    driver.tell(Planned(1, Verdict(ExecutionStatus.COMPLETED)))
    driver.run()
    assert driver.scheduler.arena.policies == [ONCE, AGAIN_AND_AGAIN]
    assert [driver.statuses(2), driver.statuses(3)] == [["completed"], ["completed"]]
