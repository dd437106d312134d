"""Many entries in one turn: statuses are kept as columns then, and the outcomes of one batch may differ."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from tests.engine.driving import AGAIN, DONE, FAILED, Driver, positions

from phaseline.engine.propagate_scalar import FEW, FEW_EDGES
from phaseline.model.execution.events import (
    Batch,
    CancelRequested,
    Finished,
    Lost,
    Noted,
    Planned,
    SlotsChanged,
    Submitted,
)
from phaseline.model.graph.graph import Graph, LaneSpec, Policy
from phaseline.model.graph.status import Mark, OutcomeKind
from phaseline.testing.graphs import graph_of

MANY = 2 * FEW
"""More than are moved one by one."""
WIDE = FEW_EDGES + 1
"""More dependents of one entry than are told one by one."""
FIRST = Policy(LaneSpec("first"), repeatable=True)
SECOND = Policy(LaneSpec("second"), repeatable=True)


def answers(batch: Batch, kinds: Iterable[OutcomeKind], delay: int = -1) -> Finished:
    """Each member has an outcome of its own."""
    said = np.array(list(kinds), np.uint8)
    return Finished(batch.id, np.arange(len(said), dtype=np.int32), said, np.full(len(said), delay, np.int64))


def pairs(*, marks: int = 0) -> Graph:
    """As many chains of two; the first of each is marked so."""
    needs = {MANY + one: [one] for one in range(MANY)}
    marked = dict.fromkeys(range(MANY), marks)
    return graph_of([0] * MANY + [1] * MANY, needs=needs, policies=(FIRST, SECOND), marks=marked)


@pytest.mark.parametrize(("marks", "after"), [(0, "skipped"), (Mark.TOLERANT, "running")])
@pytest.mark.parametrize("is_checked", [True, False], ids=["checked", "unchecked"])
def test_many_fail_at_once_and_those_behind_them_follow_their_tolerance(
    marks: int, after: str, *, is_checked: bool
) -> None:
    """Whether stories are kept, as in every test, or not, as in production."""
    driver = Driver(is_checked=is_checked)
    (batch,) = driver.begin(pairs(marks=marks))
    driver.answer(batch, FAILED)
    assert driver.statuses() == ["failed"] * MANY + [after] * MANY


def test_outcomes_of_one_batch_may_differ() -> None:
    driver = Driver()
    (batch,) = driver.begin(pairs())
    driver.tell(answers(batch, [DONE, FAILED] * (MANY // 2)))
    assert driver.statuses() == ["completed", "failed"] * (MANY // 2) + ["running", "skipped"] * (MANY // 2)
    assert [positions(one) for one in driver.batches[1:]] == [list(range(MANY, 2 * MANY, 2))]


def test_of_many_that_fail_those_that_may_let_go_who_waits_for_them_alone() -> None:
    """One more waits for all of them, and one for two of which one is tolerated and called last."""
    needs = {MANY + one: [one] for one in range(MANY)} | {2 * MANY: list(range(MANY)), 2 * MANY + 1: [0, 2 * MANY + 2]}
    marks = dict.fromkeys(range(0, MANY, 2), Mark.TOLERANT)
    last = Policy(LaneSpec("last"), repeatable=True)
    graph = graph_of([0] * MANY + [1] * MANY + [1, 1, 2], needs=needs, policies=(FIRST, SECOND, last), marks=marks)
    driver = Driver()
    first, other = driver.begin(graph)
    driver.answer(first, FAILED)
    assert driver.statuses()[MANY:] == ["running", "skipped"] * (MANY // 2) + ["skipped", "blocked", "running"]
    driver.answer(other)
    assert driver.statuses()[2 * MANY + 1] == "waiting", "until the call of those before it has returned"


def test_those_that_ask_for_another_call_sleep_while_the_others_go_on() -> None:
    driver = Driver()
    (batch,) = driver.begin(pairs())
    driver.tell(answers(batch, [DONE, AGAIN] * (MANY // 2), delay=10))
    assert driver.statuses()[:MANY] == ["completed", "sleeping"] * (MANY // 2)
    assert [positions(one) for one in driver.sleep(10)] == [list(range(1, MANY, 2))]


def test_many_whose_batch_is_lost_wait_again() -> None:
    driver = Driver()
    (batch,) = driver.begin(pairs())
    driver.tell(SlotsChanged("bulk", 0), Lost(batch.id))
    assert driver.statuses() == ["waiting"] * MANY + ["blocked"] * MANY


def test_a_cancel_meets_many_in_whatever_they_are() -> None:
    """Some wait, some are called and some are behind them."""
    wins = Policy(LaneSpec("first", max_batch=FEW + 1), repeatable=True, cancel_wins=True)
    driver = Driver()
    needs = {MANY + one: [one] for one in range(MANY)}
    (batch,) = driver.begin(graph_of([0] * MANY + [1] * MANY, needs=needs, policies=(wins, SECOND)))
    driver.tell(CancelRequested(1))
    assert driver.statuses() == ["canceling"] * (FEW + 1) + ["canceled"] * (2 * MANY - FEW - 1)
    driver.tell(answers(batch, [DONE, FAILED] + [DONE] * (FEW - 1)))
    assert set(driver.statuses()) == {"canceled"}


def test_one_that_many_wait_for_lets_them_go_and_one_that_fails_takes_them_with_it() -> None:
    needs = {1 + one: [0] for one in range(WIDE)}
    for kind, after in ((DONE, "running"), (FAILED, "skipped")):
        driver = Driver()
        (batch,) = driver.begin(graph_of([0] + [1] * WIDE, needs=needs, policies=(FIRST, SECOND)))
        driver.answer(batch, kind)
        assert driver.statuses()[1:] == [after] * WIDE


def test_a_few_that_many_wait_for_wait_for_one_themselves() -> None:
    """The few are found one by one, and tell as columns what they have become."""
    needs = {1: [0], 2: [0]} | {3 + one: [1, 2] for one in range(WIDE)}
    driver = Driver()
    (batch,) = driver.begin(graph_of([0, 1, 1] + [0] * WIDE, needs=needs, policies=(FIRST, SECOND)))
    (both,) = driver.answer(batch)
    assert positions(both) == [1, 2]
    driver.answer(both)
    assert driver.statuses()[3:] == ["running"] * WIDE


def test_a_few_that_are_done_may_let_many_go() -> None:
    needs = {2 + one: [one % 2] for one in range(MANY)}
    driver = Driver()
    (batch,) = driver.begin(graph_of([0, 0] + [1] * MANY, needs=needs, policies=(FIRST, SECOND)))
    driver.answer(batch)
    assert driver.statuses()[2:] == ["running"] * MANY


def test_milestones_that_wait_for_the_end_of_many_come_last() -> None:
    """Behind a milestone that passes in any case stands what is called in the end."""
    needs: dict[int, list[int]] = {2 * MANY: list(range(MANY)), 2 * MANY + 1: [2 * MANY]}
    needs |= {MANY + one: [one] for one in range(MANY)}
    marks = {2 * MANY: Mark.ABSENT | Mark.ENDED}
    graph = graph_of([0] * MANY + [1] * MANY + [0, 1], needs=needs, policies=(FIRST, SECOND), marks=marks)
    driver = Driver()
    (batch,) = driver.begin(graph)
    driver.tell(answers(batch, [FAILED, DONE] * (MANY // 2)))
    assert driver.statuses()[2 * MANY :] == ["passed", "running"]


def test_states_are_entered_by_those_whose_operation_has_some() -> None:
    entering = Policy(LaneSpec("first"), enter=(3, 4), leave=(5,))
    driver = Driver()
    driver.begin(graph_of([0, 1] * MANY, policies=(entering, SECOND)))
    states = [entered for decision in driver.decisions for entered in decision.changes.states]
    assert [(one.states, one.subjects.tolist()) for one in states] == [((3, 4), list(range(0, 2 * MANY, 2)))]


def test_states_are_left_by_those_that_were_absent() -> None:
    entering = Policy(LaneSpec("first"), enter=(3, 4), leave=(5,))
    marks = dict.fromkeys(range(2 * MANY), Mark.ABSENT)
    driver = Driver()
    driver.begin(graph_of([0, 1] * MANY, policies=(entering, SECOND), marks=marks))
    states = [entered for decision in driver.decisions for entered in decision.changes.states]
    assert [one.states for one in states] == [(3, 4), (5,)]
    assert {tuple(one.subjects.tolist()) for one in states} == {tuple(range(0, 2 * MANY, 2))}


def test_executions_that_wait_for_one_lane_are_served_in_equal_shares() -> None:
    narrow = Policy(LaneSpec("first", max_batch=2), repeatable=True, leave=(5,))
    driver = Driver()
    driver.tell(SlotsChanged("bulk", 0))
    for execution in (1, 2, 3):
        assert not driver.begin(graph_of([0, 0], policies=(narrow,)), execution)
    driver.tell(SlotsChanged("bulk", 16))
    (batch,) = driver.batches
    assert [segment.execution for segment in batch.segments] == [1, 2]
    (other,) = driver.answer(batch)
    assert [segment.execution for segment in other.segments] == [3, 1]
    driver.answer(other)
    left = [(one.deployment, one.states) for one in driver.decisions[-1].changes.states]
    assert left == [(1, (5,)), (3, (5,))], "whatever the order in which they were called"


def test_a_crowd_of_executions_that_does_not_fit_is_served_in_turn() -> None:
    narrow = Policy(LaneSpec("first", max_batch=3), repeatable=True)
    driver = Driver()
    driver.tell(*(Submitted(number, number) for number in range(1, 6)))
    driver.tell(*(Planned(number, graph_of([0], policies=(narrow,)), number) for number in range(1, 6)))
    (batch,) = driver.batches
    assert [segment.execution for segment in batch.segments] == [1, 2, 3]
    assert [[segment.execution for segment in each.segments] for each in driver.answer(batch)] == [[4, 5]]


def test_what_a_batch_notes_counts_for_members_that_are_awaited() -> None:
    driver = Driver()
    (batch,) = driver.begin(graph_of([0, 0], policies=(FIRST,)))
    driver.answer(batch, members=[0])
    (accepted,) = driver.tell(Noted(batch.id, np.array([0, 1], np.int32))).accepted
    assert (accepted.members.tolist(), accepted.rejected.tolist()) == ([1], [0])
