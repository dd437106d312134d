"""What turned out otherwise: a phase that applies after all, one that does no more, one that is run again (ADR 0011)."""

import numpy as np
import pytest
from tests.engine.driving import AGAIN, FAILED, Driver, commands_of, finished

from phaseline.model.execution.events import (
    Ask,
    CancelRequested,
    Evaluate,
    Evaluated,
    Planned,
    RerunRequested,
    Restored,
    RetryRequested,
)
from phaseline.model.execution.execution import Verdict
from phaseline.model.graph.graph import LaneSpec, Policy
from phaseline.model.graph.status import ExecutionStatus, Mark
from phaseline.testing.graphs import graph_of

EXIT = Mark.ABSENT | Mark.EXIT
IF = Mark.CONDITIONAL
PLAIN = Policy(LaneSpec("plain"), repeatable=True)
OTHER = Policy(LaneSpec("other"), repeatable=True)


def says(graph: int, *told: tuple[int, int]) -> Evaluated:
    """Whether entries apply: (position, value), ..."""
    positions, values = zip(*told, strict=True)
    return Evaluated(graph, np.array(positions, np.int32), "applies", np.array(values, np.int32))


def exits(driver: Driver) -> list[list[int]]:
    """Subjects that were told to have passed exits, question by question."""
    return [ask.subjects.tolist() for ask in driver.asked if ask.subjects is not None]


def test_a_phase_that_begins_to_apply_runs_before_the_state_is_left() -> None:
    """0: phase A; 1: phase B, conditional, which A makes applicable; 2: the exit."""
    driver = Driver()
    driver.begin(graph_of([0, 1, 0], needs={2: [0, 1]}, marks={1: IF, 2: EXIT}, policies=(PLAIN, OTHER)))
    driver.tell(says(1, (1, 0)))
    assert driver.statuses() == ["running", "passed", "blocked"]
    driver.tell(says(1, (1, 1)))
    assert driver.statuses() == ["running", "waiting", "blocked"]
    driver.tell(says(1, (1, 1)))
    assert driver.statuses() == ["running", "running", "blocked"]
    driver.run()
    assert exits(driver) == [[2]]


@pytest.mark.parametrize("fellows", [0, 40])
def test_who_was_absent_until_the_condition_came_true_is_called_again_by_a_retry(fellows: int) -> None:
    """Alone and among many: both forms of the propagation."""
    count = 1 + fellows
    driver = Driver()
    driver.begin(graph_of([0] * count, marks=dict.fromkeys(range(count), Mark.ABSENT | IF), policies=(PLAIN,)))
    driver.tell(says(1, *((position, 1) for position in range(count))))
    driver.answer(driver.batches[0], FAILED)
    assert set(driver.statuses()) == {"failed"}
    driver.tell(RetryRequested(1))
    assert set(driver.statuses()) == {"running"}


def test_who_is_let_through_and_taken_back_by_one_answer_is_not_called() -> None:
    """1 applies no more, which lets 2 through; 0 applies after all, which 2 waits for, too."""
    driver = Driver()
    graph = graph_of([0, 1, 0], needs={1: [0], 2: [0, 1]}, marks={0: IF, 1: IF}, policies=(PLAIN, OTHER))
    driver.begin(graph)
    driver.tell(says(1, (0, 0)))
    assert driver.statuses() == ["passed", "waiting", "blocked"], "the shell is asked about 1"
    driver.tell(says(1, (1, 0), (0, 1)))
    assert driver.statuses() == ["waiting", "blocked", "blocked"]
    driver.tell(says(1, (0, 1)))
    driver.run()
    assert driver.statuses()[0] == "completed"


def test_an_exit_that_is_taken_back_in_the_turn_in_which_it_passed_is_told_to_nobody() -> None:
    driver = Driver()
    (batch,) = driver.begin(
        graph_of([0, 1, 0], needs={2: [0, 1]}, marks={1: IF, 2: EXIT}, policies=(PLAIN, OTHER), subjects=[5, 5, 5])
    )
    driver.tell(says(1, (1, 0)))
    driver.tell(finished(batch), says(1, (1, 1)))
    assert driver.statuses() == ["completed", "waiting", "blocked"]
    assert exits(driver) == []
    driver.tell(says(1, (1, 1)))
    driver.run()
    assert exits(driver) == [[5]]


def test_an_exit_of_a_graph_that_is_left_behind_in_the_turn_in_which_it_passed_is_told_to_nobody() -> None:
    """The last answer and an order to plan afresh come together: what follows is the planner's answer to the latter."""
    driver = Driver()
    (batch,) = driver.begin(graph_of([0, 0], needs={1: [0]}, marks={1: EXIT}, policies=(PLAIN,), subjects=[5, 5]))
    before = len(driver.asked)
    driver.tell(finished(batch), RetryRequested(1, replan=True))
    assert [ask.subjects for ask in driver.asked[before:]] == [None], "one question: how it goes on at all"
    assert list(driver.scheduler.arena.slots) == []


def test_a_waiting_phase_that_applies_no_more_is_taken_out_of_its_lane() -> None:
    """T14. The only slot is taken, so that entry 1 waits in its lane."""
    driver = Driver(slots={"bulk": 1})
    driver.begin(graph_of([0, 1, 0], needs={2: [1]}, marks={1: IF}, policies=(PLAIN, OTHER)))
    driver.tell(says(1, (1, 1)))
    assert driver.statuses() == ["running", "waiting", "blocked"]
    driver.tell(says(1, (1, 0)))
    assert driver.statuses()[1] == "passed"
    driver.tell(says(1, (1, 1)))
    assert driver.statuses()[1:] == ["waiting", "blocked"]


def test_what_was_begun_is_finished_whatever_its_condition_says_later() -> None:
    """PD28; the same holds in the process that goes on after a crash."""
    driver = Driver()
    graph = graph_of([0], marks={0: IF}, policies=(PLAIN,))
    driver.begin(graph)
    (batch,) = _admitted(driver)
    driver.answer(batch, AGAIN, delay=10)
    driver.sleep(10)
    driver.tell(says(1, (0, 0)))
    assert driver.statuses() == ["running"]

    after = Driver()
    begun = np.array([0], np.int32)
    after.tell(
        Restored(1, 1, ExecutionStatus.RUNNING, 0, None, 1, graph, 0, np.zeros(1, np.uint8), begun=begun),
        says(1, (0, 0)),
    )
    assert after.statuses() == ["running"]
    assert not commands_of(after.decisions[-1], Evaluate)


def _admitted(driver: Driver) -> list:
    driver.tell(says(1, (0, 1)))
    return driver.batches


def test_a_condition_that_cannot_be_asked_fails_its_entry() -> None:
    driver = Driver()
    driver.begin(graph_of([0, 0], needs={1: [0]}, marks={0: IF}, policies=(PLAIN,)))
    driver.tell(says(1, (0, 2)))
    assert driver.statuses() == ["failed", "skipped"]


def test_a_rerun_sends_back_what_waits_behind_it_and_leaves_alone_what_is_called() -> None:
    """T19. 0 → 1 (sleeps), 0 → 2 (is being called), 0 → 3 (done), 3 → 4 the exit."""
    driver = Driver()
    lanes = (PLAIN, OTHER, Policy(LaneSpec("third"), repeatable=True))
    (first,) = driver.begin(
        graph_of(
            [0, 1, 2, 2, 0],
            needs={1: [0], 2: [0], 3: [0], 4: [1, 2, 3]},
            marks={4: EXIT},
            policies=lanes,
            subjects=[7] * 5,
        )
    )
    driver.answer(first)
    by_phase = {batch.lane.phase: batch for batch in driver.batches}
    driver.answer(by_phase["other"], AGAIN, delay=1_000)
    driver.answer(by_phase["third"], members=[1])
    assert driver.statuses() == ["completed", "sleeping", "running", "completed", "blocked"]
    driver.tell(RerunRequested(1, 1, np.array([0])))
    assert driver.statuses() == ["running", "blocked", "running", "completed", "blocked"]
    again = driver.batches[-1]
    assert again.segments[0].generations.tolist() == [1]
    driver.answer(again)
    assert driver.statuses() == ["completed", "running", "running", "completed", "blocked"]
    driver.answer(driver.batches[-1])
    driver.answer(by_phase["third"], members=[0])
    assert driver.statuses() == ["completed"] * 4 + ["passed"]
    assert exits(driver) == [[7]]


def test_nothing_is_run_again_for_a_subject_that_has_gone_on() -> None:
    driver = Driver()
    driver.begin(
        graph_of([0, 0, 1, 0], needs={1: [0], 3: [2]}, marks={1: EXIT, 3: EXIT}, policies=(PLAIN, OTHER), subjects=[1, 1, 2, 2])
    )  # fmt: skip
    by_phase = {batch.lane.phase: batch for batch in driver.batches}
    driver.answer(by_phase["plain"])
    driver.tell(RerunRequested(1, 1, np.array([0])))
    assert driver.statuses() == ["completed", "passed", "running", "blocked"]
    driver.tell(RerunRequested(1, 9, np.array([0])), RerunRequested(9, 1, np.array([0])))


def test_the_answer_to_a_question_asked_before_a_reopening_is_dropped() -> None:
    driver = Driver()
    (batch,) = driver.begin(graph_of([0, 1], marks={1: IF}, policies=(PLAIN, OTHER)))
    driver.tell(says(1, (1, 0)))
    driver.answer(batch)
    asked = len(driver.asked)
    driver.tell(says(1, (1, 1)), Planned(1, Verdict(ExecutionStatus.COMPLETED)))
    assert driver.statuses() == ["completed", "waiting"]
    driver.tell(says(1, (1, 1)))
    driver.run()
    assert driver.statuses() == ["completed", "completed"]
    assert isinstance(driver.asked[asked], Ask)
    driver.tell(Planned(1, Verdict(ExecutionStatus.COMPLETED)))
    assert not driver.scheduler.runs


def test_what_was_called_when_its_target_changed_is_canceled_whatever_it_answers() -> None:
    driver = Driver()
    phase = Policy(LaneSpec("phase"), repeatable=True, cancel_wins=True)
    (batch,) = driver.begin(graph_of([0, 0, 0], policies=(phase,), subjects=[1, 2, 3]))
    driver.tell(CancelRequested(1, "wait", np.array([1, 2])))
    driver.answer(batch, FAILED, members=[1])
    driver.answer(batch, members=[0, 2])
    assert driver.statuses() == ["canceled", "canceled", "completed"]


def test_a_gate_is_asked_before_it_passes_and_taken_back_by_a_phase_that_begins_to_apply() -> None:
    """ADR 0014. 0: phase A; 1: phase B, conditional; 2: the gate of both; 3: what follows in the same graph."""
    driver = Driver()
    gate = Mark.ABSENT | Mark.CONDITIONAL
    (batch,) = driver.begin(
        graph_of([0, 1, 0, 0], needs={2: [0, 1], 3: [2]}, marks={1: IF, 2: gate}, policies=(PLAIN, OTHER))
    )
    driver.tell(says(1, (1, 0)))
    driver.tell(finished(batch))
    assert driver.statuses() == ["completed", "passed", "waiting", "blocked"]
    driver.tell(says(1, (1, 1)))
    assert driver.statuses() == ["completed", "waiting", "blocked", "blocked"]
    driver.tell(says(1, (2, 0)))  # an answer to the question that was taken back
    assert driver.statuses()[2:] == ["blocked", "blocked"]
    driver.tell(says(1, (1, 0)))
    assert driver.statuses() == ["completed", "passed", "waiting", "blocked"]
    driver.tell(says(1, (2, 0)))
    assert driver.statuses() == ["completed", "passed", "passed", "running"]
