"""When phases were called, and the chain of calls that decided when a graph was done."""

import numpy as np

from phaseline.model.execution.execution import History, Request
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import Mark
from phaseline.plan.explain.critical_path import Times, critical_path, spent
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.graphs import graph_of
from phaseline.testing.simulation.applications import declare

CHAIN = topology(
    blueprint(
        node("a", create="each.create"),
        node("between", to=["a"]),
        node("b", to=["between"], create="each.create"),
        node("c", create="each.create", start="each.start"),
    )
)


def graph() -> Graph:
    found = PLANNERS["install"](CHAIN, Request("install"), History(np.zeros(len(CHAIN), np.uint8)), declare)
    assert isinstance(found, Graph)
    return found


def position(made: Graph, node_name: str, operation: str) -> int:
    for step in made.steps:
        for place in range(step.first, step.first + step.count):
            if step.phase.endswith(operation) and CHAIN.ids[made.subject[place]] == f"{node_name}_1":
                return place
    raise LookupError(node_name)


def times(made: Graph, *called: tuple[str, str, int, int]) -> Times:
    found = Times(np.zeros(len(made), np.int64), np.zeros(len(made), np.int64))
    for name, operation, began, ended in called:
        place = position(made, name, operation)
        found.began[place], found.ended[place] = began, ended
    return found


def test_the_path_leads_through_what_is_never_called() -> None:
    made = graph()
    known = times(
        made, ("a", "create", 10, 40), ("b", "create", 45, 90), ("c", "create", 10, 60), ("c", "start", 60, 80)
    )
    assert critical_path(made, known) == [position(made, "a", "create"), position(made, "b", "create")]


def test_whoever_ends_last_decides() -> None:
    made = graph()
    known = times(
        made, ("a", "create", 10, 40), ("b", "create", 45, 50), ("c", "create", 10, 60), ("c", "start", 60, 80)
    )
    assert critical_path(made, known) == [position(made, "c", "create"), position(made, "c", "start")]


def test_nothing_called_has_no_path() -> None:
    made = graph()
    assert critical_path(made, times(made)) == []
    assert spent(made, times(made)) == []


def test_time_in_which_several_calls_of_a_phase_ran_counts_once_and_gaps_not_at_all() -> None:
    made = graph()
    known = times(made, ("a", "create", 10, 40), ("b", "create", 60, 90), ("c", "create", 20, 30))
    (create,) = spent(made, known)
    assert (create.began_at, create.ended_at, create.called, create.busy_ms) == (10, 90, 3, 60)


def test_of_two_calls_that_an_entry_waited_for_the_later_one_decides() -> None:
    """They are met a second time through an entry that is never called."""
    made = graph_of([0, 0, 0, 0, 0], needs={3: [0, 1], 4: [0, 1, 2, 3]}, marks={3: Mark.ABSENT})
    known = Times(np.array([1, 1, 1, 0, 60], np.int64), np.array([50, 20, 30, 0, 90], np.int64))
    assert critical_path(made, known) == [0, 4]
