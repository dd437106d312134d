"""What may run when: needs, milestones, absent and tolerant entries."""

from __future__ import annotations

from tests.engine.driving import FAILED, Driver, positions

from phaseline.model.graph.graph import Graph, LaneSpec, Policy, Step, SubjectKind
from phaseline.model.graph.status import Mark
from phaseline.testing.graphs import graph_of

FIRST = Policy(LaneSpec("first"), repeatable=True)
SECOND = Policy(LaneSpec("second"), repeatable=True)


def test_an_entry_waits_for_all_it_needs() -> None:
    driver = Driver()
    (both,) = driver.begin(graph_of([0, 0, 1], needs={2: [0, 1]}, policies=(FIRST, SECOND)))
    assert driver.answer(both, members=[0]) == []
    (last,) = driver.answer(both, members=[1])
    assert positions(last) == [2]


def test_a_stage_whose_step_has_no_subjects_keeps_the_order() -> None:
    """Three stages with a milestone between neighbours; the middle one has nobody."""
    driver = Driver()
    marks = {1: Mark.ABSENT | Mark.ENDED, 2: Mark.ABSENT | Mark.ENDED}
    (one,) = driver.begin(graph_of([0, 0, 0, 1], needs={1: [0], 2: [1], 3: [2]}, marks=marks, policies=(FIRST, SECOND)))
    assert driver.statuses() == ["running", "blocked", "blocked", "blocked"]
    (last,) = driver.answer(one)
    assert positions(last) == [3]


def test_a_step_without_entries_is_no_obstacle() -> None:
    made = graph_of([0, 1], needs={1: [0]}, policies=(FIRST, SECOND))
    empty = Step("nobody", SubjectKind.INSTANCE, 1, 0)
    steps = (made.steps[0], empty, made.steps[1])
    driver = Driver()
    driver.begin(Graph("graph", steps, made.policies, made.subject, made.policy, made.marks, made.ptr, made.idx))
    driver.run()
    assert driver.scheduler.counts(1).shape[0] == 3
    assert driver.statuses() == ["completed", "completed"]


def test_ten_thousand_steps_of_one_entry_run_one_after_another() -> None:
    policies = tuple(Policy(LaneSpec(f"step {number}"), repeatable=True) for number in range(10_000))
    driver = Driver(is_checked=False)
    driver.begin(graph_of(range(10_000), needs={entry: [entry - 1] for entry in range(1, 10_000)}, policies=policies))
    assert [positions(batch) for batch in driver.run()] == [[entry] for entry in range(10_000)]


def test_any_passes_with_the_first_and_ended_with_the_last_however_it_ended() -> None:
    driver = Driver()
    marks = {2: Mark.ABSENT | Mark.ANY, 3: Mark.ABSENT | Mark.ENDED}
    (both,) = driver.begin(
        graph_of(
            [0, 0, 0, 0, 1, 1], needs={2: [0, 1], 3: [0, 1], 4: [2], 5: [3]}, marks=marks, policies=(FIRST, SECOND)
        )
    )
    (early,) = driver.answer(both, members=[0])
    assert positions(early) == [4]
    driver.answer(early)
    (late,) = driver.answer(both, FAILED, members=[1])
    assert positions(late) == [5]


def test_a_tolerant_entry_that_failed_counts_as_done() -> None:
    driver = Driver()
    (one,) = driver.begin(graph_of([0, 1], needs={1: [0]}, marks={0: Mark.TOLERANT}, policies=(FIRST, SECOND)))
    (two,) = driver.answer(one, FAILED)
    assert positions(two) == [1]
    driver.answer(two)
    assert driver.statuses() == ["failed", "completed"]


def test_failure_skips_what_needs_it_and_nothing_else() -> None:
    driver = Driver()
    (both,) = driver.begin(graph_of([0, 0, 1, 1, 1], needs={2: [0], 3: [1], 4: [2]}, policies=(FIRST, SECOND)))
    driver.answer(both, FAILED, members=[0])
    driver.answer(both, members=[1])
    driver.run()
    assert driver.statuses() == ["failed", "completed", "skipped", "completed", "skipped"]


def test_what_is_tried_again_behind_the_end_of_another_waits_for_that_end_once_more() -> None:
    from phaseline.model.execution.events import RetryRequested

    driver = Driver()
    graph = graph_of([0, 0, 1], needs={1: [0], 2: [1]}, marks={1: Mark.ABSENT | Mark.ENDED}, policies=(FIRST, SECOND))
    (one,) = driver.begin(graph)
    (two,) = driver.answer(one, FAILED)
    driver.answer(two, FAILED)
    driver.tell(RetryRequested(1))
    assert driver.statuses() == ["running", "blocked", "blocked"]
    driver.answer(driver.batches[-1])
    assert driver.statuses() == ["completed", "passed", "running"]


def test_passed_is_never_taken_back() -> None:
    """A milestone that let others through stays passed when what it waited for is retried."""
    from phaseline.model.execution.events import RetryRequested

    driver = Driver()
    (one,) = driver.begin(
        graph_of([0, 0, 1], needs={1: [0], 2: [1]}, marks={1: Mark.ABSENT | Mark.ENDED}, policies=(FIRST, SECOND))
    )
    driver.answer(one, FAILED)
    driver.tell(RetryRequested(1))
    assert driver.statuses() == ["running", "passed", "running"]


def test_the_same_events_give_the_same_commands() -> None:
    def story() -> list[object]:
        driver = Driver()
        driver.begin(
            graph_of([0] * 50 + [1] * 50, needs={50 + n: [n, 49 - n] for n in range(50)}, policies=(FIRST, SECOND))
        )
        driver.answer(driver.batches[0], FAILED, members=[3, 9])
        driver.answer(driver.batches[0], members=[one for one in range(50) if one not in {3, 9}])
        return [(batch.id, batch.lane.phase, positions(batch)) for batch in driver.run()]

    assert story() == story()


def test_ten_thousand_graphs_of_one_entry_share_a_batch() -> None:
    from phaseline.model.execution.events import Planned, Submitted

    driver = Driver(is_checked=False)
    driver.tell(*(Submitted(number, 1) for number in range(1, 10_001)))
    driver.tell(*(Planned(number, graph_of([0], policies=(FIRST,)), number) for number in range(1, 10_001)))
    assert [len(batch) for batch in driver.batches] == [10_000]
    assert len(driver.batches[0].segments) == 10_000


def test_p92_what_has_priority_begins_first_and_nothing_starves() -> None:
    low, high = (
        Policy(LaneSpec(name, max_batch=1, priority=much), repeatable=True)
        for name, much in (("low", 0.0), ("high", 5.0))
    )
    driver = Driver(slots={"bulk": 1})
    driver.begin(graph_of([0, 0, *[1] * 12], policies=(low, high)))
    names = [batch.lane.phase for batch in driver.run()]
    assert names == [*["high"] * 8, "low", *["high"] * 4, "low"]
