"""Graphs that everybody has left: they are held no longer, and graphs of equal size take their places."""

from __future__ import annotations

from tests.engine.driving import FAILED, Driver

from phaseline.engine.arena import LARGE
from phaseline.model.execution.events import Left, Planned, RetryRequested
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import Mark
from phaseline.testing.graphs import graph_of

EACH = LARGE


def stay(count: int = EACH) -> Graph:
    """So many subjects with a phase each, and an exit behind it."""
    exits = range(count, 2 * count)
    subjects = [*range(count), *range(count)]
    marks = dict.fromkeys(exits, Mark.ABSENT | Mark.EXIT)
    return graph_of([0] * 2 * count, needs={at: [at - count] for at in exits}, marks=marks, subjects=subjects)


def one_stay_behind_another() -> Driver:
    """Everybody has passed the exit of graph 1 and is in graph 2."""
    driver = Driver()
    (batch,) = driver.begin(stay())
    driver.answer(batch)
    driver.tell(Planned(1, stay(), 2))
    return driver


def test_a_graph_takes_the_place_of_one_that_everybody_has_left() -> None:
    driver = one_stay_behind_another()
    driver.tell(Left(1, 1))
    assert driver.scheduler.runs[1].graphs == [2]
    driver.tell(Planned(1, stay(), 3))
    slot = driver.scheduler.arena.slots[3]
    assert (slot.number, slot.base, len(driver.scheduler.arena)) == (0, 0, 4 * EACH)
    driver.run()
    assert driver.statuses(3) == driver.statuses(2) == ["completed"] * EACH + ["passed"] * EACH


def test_a_graph_of_another_size_lies_behind_all_others() -> None:
    driver = one_stay_behind_another()
    driver.tell(Left(1, 1))
    driver.tell(Planned(1, stay(EACH + 1), 3))
    assert driver.scheduler.arena.slots[3].base == 4 * EACH


def test_no_hole_is_filled_that_was_closed_meanwhile() -> None:
    driver = one_stay_behind_another()
    driver.scheduler._compact_from = 0  # otherwise ten thousand entries would be needed
    driver.answer(driver.batches[-1])
    driver.tell(Planned(1, stay(8), 3), Left(1, 1), Left(1, 2))
    driver.tell(Planned(1, stay(), 4))
    assert [slot.base for slot in driver.scheduler.arena.slots.values()] == [0, 16]
    driver.run()
    assert driver.statuses(4) == ["completed"] * EACH + ["passed"] * EACH


def test_a_graph_in_which_something_is_not_done_is_held_though_it_is_said_to_be_left() -> None:
    driver = Driver()
    (batch,) = driver.begin(stay(2))
    driver.answer(batch, members=[0])
    driver.answer(batch, FAILED, members=[1])
    driver.tell(Left(1, 1))
    assert driver.scheduler.runs[1].graphs == [1]
    driver.tell(RetryRequested(1, 1, keeps=True))
    driver.run()
    assert driver.statuses() == ["completed", "completed", "passed", "passed"]


def test_what_is_unknown_is_not_left() -> None:
    driver = one_stay_behind_another()
    driver.tell(Left(1, 7), Left(9, 1))
    assert driver.scheduler.runs[1].graphs == [1, 2]
