"""Many executions in one turn: each is asked about once, whichever was asked about before."""

from tests.engine.driving import DONE, Driver, finished

from phaseline.model.execution.events import Planned, Submitted
from phaseline.testing.graphs import graph_of

MANY = range(2, 42)


def test_of_many_that_end_in_one_turn_each_is_asked_about_and_one_that_was_is_not_again() -> None:
    driver = Driver(slots={"bulk": 64, "threads": 64, "workers": 64})
    (first,) = driver.begin(graph_of([0]))
    driver.tell(*(Submitted(execution, execution) for execution in MANY))
    driver.tell(*(Planned(execution, graph_of([0]), execution) for execution in MANY))
    driver.answer(first)
    assert driver.asked[-1].graph == 1
    before = len(driver.asked)
    while driver.batches[1:] and any("running" in driver.statuses(one) for one in MANY):
        driver.tell(*(finished(batch, DONE) for batch in driver.batches[1:]))
    assert sorted(ask.graph for ask in driver.asked[before:]) == list(MANY)
