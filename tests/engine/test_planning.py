"""Questions to planners: one at a time, asked when nothing moves, asked anew when something came in between."""

from __future__ import annotations

import numpy as np
from tests.engine.driving import FAILED, Driver, commands_of

from phaseline.model.execution.events import (
    Announce,
    Ask,
    CancelRequested,
    CompleteRequested,
    Evaluate,
    Evaluated,
    Planned,
    RetryRequested,
    Submitted,
    WakeRequested,
)
from phaseline.model.execution.execution import Verdict
from phaseline.model.graph.graph import LaneSpec, Policy
from phaseline.model.graph.status import ExecutionStatus, Mark, OutcomeKind
from phaseline.testing.graphs import graph_of

ONCE = Policy(LaneSpec("once"))
COMPLETED = Verdict(ExecutionStatus.COMPLETED)


def failed_once() -> Driver:
    """One entry has failed; the planner is asked and has not answered."""
    driver = Driver()
    (batch,) = driver.begin(graph_of([0]))
    driver.answer(batch, FAILED)
    return driver


def test_an_answer_that_a_retry_has_overtaken_is_dropped() -> None:
    driver = failed_once()
    driver.tell(RetryRequested(1), Planned(1, COMPLETED))
    assert driver.statuses() == ["running"]
    driver.answer(driver.batches[-1])
    assert [ask.graph for ask in driver.asked] == [0, 1, 1]


def test_an_answer_that_a_cancel_has_overtaken_is_asked_for_again() -> None:
    driver = failed_once()
    decision = driver.tell(CancelRequested(1), Planned(1, graph_of([0]), 2))
    assert not decision.changes.graphs
    assert driver.asked[-1] == Ask(1, 1)
    driver.tell(Planned(1, Verdict(ExecutionStatus.CANCELED)))
    assert not driver.scheduler.runs


def test_a_cancel_before_the_first_graph_asks_again_when_that_was_answered() -> None:
    driver = Driver()
    driver.tell(Submitted(1, 1))
    driver.tell(CancelRequested(1))
    assert len(driver.asked) == 1
    driver.tell(Planned(1, graph_of([0]), 1))
    assert not driver.scheduler.arena.slots
    assert len(driver.asked) == 2


def test_a_second_question_waits_until_the_first_is_answered() -> None:
    driver = failed_once()
    driver.tell(CompleteRequested(1, 1, np.array([0])))
    assert len(driver.asked) == 2
    driver.tell(Planned(1, Verdict(ExecutionStatus.FAILED)))
    assert len(driver.asked) == 3
    assert driver.scheduler.runs[1].status is ExecutionStatus.RUNNING


def test_a_verdict_that_nobody_asked_for_is_ignored() -> None:
    driver = Driver()
    driver.begin(graph_of([0]))
    driver.tell(Planned(1, COMPLETED))
    assert driver.scheduler.runs
    driver.tell(Planned(99, COMPLETED))


def test_a_retry_that_plans_afresh_leaves_the_old_round_as_history() -> None:
    driver = Driver()
    (batch,) = driver.begin(graph_of([0, 0], needs={1: [0]}, policies=(ONCE,)))
    driver.answer(batch, OutcomeKind.UNSURE)
    assert driver.scheduler.runs[1].status is ExecutionStatus.ATTENTION
    driver.tell(RetryRequested(1, replan=True))
    driver.tell(Planned(1, graph_of([0]), 2))
    decision = driver.tell(CompleteRequested(1, 1, np.array([0])), WakeRequested(1, 1), RetryRequested(1, 1))
    assert not decision.commands
    driver.run()
    assert driver.asked[-1].graph == 2


def test_a_retry_that_plans_afresh_waits_for_what_still_moves() -> None:
    driver = Driver()
    (batch,) = driver.begin(graph_of([0]))
    decision = driver.tell(RetryRequested(1, replan=True))
    assert not commands_of(decision, Ask)
    driver.answer(batch)
    assert driver.asked[-1].graph == 1


def test_what_is_blocked_behind_an_unsure_call_does_not_keep_the_execution_running() -> None:
    driver = Driver()
    (batch,) = driver.begin(graph_of([0, 0, 0], needs={2: [0]}, policies=(ONCE,)))
    driver.answer(batch, OutcomeKind.UNSURE, members=[0])
    assert driver.scheduler.runs[1].status is ExecutionStatus.RUNNING
    driver.answer(batch, members=[1])
    assert driver.statuses() == ["unsure", "completed", "blocked"]
    assert driver.scheduler.runs[1].status is ExecutionStatus.ATTENTION
    assert driver.scheduler.runs[1].reason == "1 call may or may not have been carried out"
    driver.tell(CompleteRequested(1, 1, np.array([0])))
    assert driver.scheduler.runs[1].status is ExecutionStatus.RUNNING
    assert driver.statuses() == ["completed", "completed", "running"]


def test_what_is_revived_by_the_same_request_has_not_ended() -> None:
    """A milestone that waits for an end must not pass between the moment its need is revived and the end of the turn."""
    driver = Driver()
    ended = Mark.ABSENT | Mark.ENDED
    graph = graph_of([0, 0, 0, 0], needs={2: [0], 3: [2, 1]}, marks={3: ended}, policies=(ONCE,))
    (batch,) = driver.begin(graph)
    driver.answer(batch, FAILED, members=[0])
    driver.answer(batch, OutcomeKind.UNSURE, members=[1])
    assert driver.statuses() == ["failed", "unsure", "skipped", "blocked"]
    driver.tell(CompleteRequested(1, 1, np.array([0, 1])))
    assert driver.statuses() == ["completed", "completed", "running", "blocked"]


def test_listeners_and_planners_are_told_of_marked_milestones() -> None:
    driver = Driver()
    told = Mark.ABSENT | Mark.ANNOUNCE | Mark.EXIT
    (batch,) = driver.begin(graph_of([0, 0], needs={1: [0]}, marks={1: told}))
    decision = driver.tell(*[])
    assert not decision.commands
    driver.answer(batch)
    (announced,) = commands_of(driver.decisions[-1], Announce)
    assert announced.positions.tolist() == [1]
    exits = [ask for ask in driver.asked if ask.subjects is not None]
    assert [ask.subjects.tolist() for ask in exits] == [[1]]


def test_conditional_entries_are_asked_for_and_pass_where_they_do_not_apply() -> None:
    driver = Driver()
    driver.begin(graph_of([0, 0, 0], needs={2: [0]}, marks={0: Mark.CONDITIONAL, 1: Mark.CONDITIONAL}))
    (asked,) = commands_of(driver.decisions[-1], Evaluate)
    driver.tell(Evaluated(99, asked.positions, "applies", np.array([0, 0])))
    driver.tell(Evaluated(1, asked.positions, "applies", np.array([0, 1])))
    assert driver.statuses() == ["passed", "running", "running"]


def test_keys_part_the_entries_of_a_lane() -> None:
    driver = Driver()
    keyed = Policy(LaneSpec("keyed", key="properties.region"), repeatable=True)
    driver.begin(graph_of([0, 0, 0], policies=(keyed,)))
    (asked,) = commands_of(driver.decisions[-1], Evaluate)
    assert asked.expression == "properties.region"
    driver.tell(Evaluated(1, asked.positions, "key", np.array([7, 8, 7])))
    assert {batch.key: len(batch) for batch in driver.batches} == {7: 2, 8: 1}


def test_an_answer_about_a_canceled_entry_comes_too_late() -> None:
    driver = Driver()
    driver.begin(graph_of([0, 0], marks={0: Mark.CONDITIONAL}))
    driver.tell(CancelRequested(1))
    driver.tell(Evaluated(1, np.array([0]), "applies", np.array([0])))
    assert driver.statuses()[0] == "canceled"


def test_counts_of_a_graph_that_is_not_held_are_empty() -> None:
    driver = Driver()
    assert driver.scheduler.counts(5).shape == (0, 11)
    assert not driver.scheduler.tally(5).any()
    driver.begin(graph_of([0, 0]))
    assert driver.scheduler.counts(1).sum() == driver.scheduler.tally(1).sum() == 2
