"""Every change is in the table, the diagram is made from the table, and a wrong change tells its story."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.engine.driving import AGAIN, Driver

from phaseline.engine.status_transitions import TRANSITIONS, transition_diagram
from phaseline.engine.stories import InvalidTransition, Stories
from phaseline.model.execution.events import Tick
from phaseline.model.graph.status import EntryStatus
from phaseline.testing.graphs import graph_of

PAGE = Path(__file__).resolve().parents[2] / "docs/engine.md"


def test_a_change_that_no_fact_makes_is_refused_with_the_entrys_story() -> None:
    driver = Driver()
    driver.begin(graph_of([0]))
    driver.answer(driver.batches[0])
    with pytest.raises(InvalidTransition) as refused:
        driver.scheduler.arena.change(np.array([0]), EntryStatus.RUNNING)
    assert refused.value.before is EntryStatus.COMPLETED
    assert str(refused.value) == (
        "entry 0 cannot become running when completed "
        "(1000 ms: blocked -> waiting; 1000 ms: waiting -> running; 1000 ms: running -> completed)"
    )


@pytest.mark.parametrize("count", [3, 100])
def test_of_many_the_first_one_that_may_not_change_is_named(count: int) -> None:
    driver = Driver()
    driver.begin(graph_of([0] * count))
    with pytest.raises(InvalidTransition) as refused:
        driver.scheduler.arena.change(np.arange(count), EntryStatus.BLOCKED)
    assert (refused.value.entry, refused.value.before) == (0, EntryStatus.RUNNING)


def test_an_entry_that_nothing_befell_has_no_story() -> None:
    refused = InvalidTransition(3, EntryStatus.BLOCKED, EntryStatus.FAILED, ())
    assert str(refused) == "entry 3 cannot become failed when blocked (nothing befell it yet)"


def test_stories_follow_their_entries_when_holes_are_closed() -> None:
    driver = Driver()
    driver.begin(graph_of([0]))
    driver.answer(driver.batches[0], AGAIN, delay=5)
    stories = driver.scheduler.arena.stories
    assert stories is not None
    stories.move(np.array([4]))
    assert stories.of(4)[-1] == "1000 ms: running -> sleeping"


def test_an_unchecked_scheduler_keeps_no_stories() -> None:
    driver = Driver(is_checked=False)
    driver.tell(Tick())
    assert driver.scheduler.arena.stories is None


def test_something_that_is_no_event_is_refused() -> None:
    with pytest.raises(TypeError):
        Driver().scheduler.handle(["hello"], 0)


def test_ended_entries_change_only_by_a_person_or_by_their_needs() -> None:
    facts = {fact for (status, fact), _ in TRANSITIONS.items() if status >= EntryStatus.COMPLETED}
    assert facts == {"retry", "complete", "revive", "release", "pass", "reopen"}
    for status in (EntryStatus.COMPLETED, EntryStatus.PASSED):
        assert [fact for (known, fact) in TRANSITIONS if known is status] == ["reopen"]


def test_the_diagram_in_the_docs_is_made_from_the_table() -> None:
    (shown,) = re.findall(r"```mermaid\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert shown == transition_diagram()


def test_those_that_are_gone_stay_gone_when_nothing_is_left() -> None:
    stories = Stories()
    both, waiting = np.array([0, 1]), np.full(2, EntryStatus.WAITING, np.uint8)
    stories.see(both, waiting, np.full(2, EntryStatus.RUNNING, np.uint8))
    stories.see_one(1, EntryStatus.RUNNING, EntryStatus.COMPLETED)
    stories.move(np.array([-1, 0, -1]))
    assert stories.of(0) == ("0 ms: waiting -> running", "0 ms: running -> completed")
    stories.move(np.array([-1, -1]))
    stories.move(np.array([-1]))
    assert stories.of(0) == ()
