"""Asking planners: their answers, their refusals, and what they are told of the rounds before."""

import numpy as np
import pytest
from tests.run.engines import Station

from phaseline.calls.deployments.planner_driver import Declare
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.execution import TOLERATED, History, Request, Verdict
from phaseline.model.graph.graph import Graph, LaneSpec, Policy, Step, SubjectKind
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, Mark, OutcomeKind
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import node

CREATE = "cloudify.interfaces.lifecycle.create"


def one_call(name: str, *, marks: int = 0) -> Graph:
    return Graph(
        name,
        (Step(CREATE, SubjectKind.INSTANCE, 0, 1),),
        (Policy(LaneSpec(CREATE, "each")),),
        np.zeros(1, np.int32),
        np.zeros(1, np.uint16),
        np.full(1, marks, np.uint8),
        np.zeros(2, np.int32),
        np.empty(0, np.int32),
    )


class Rounds:
    """A planner that gives these answers in turn and remembers what it was told."""

    def __init__(self, *answers: Graph | Verdict) -> None:
        self.answers = list(answers)
        self.told: list[History] = []

    def __call__(self, topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
        self.told.append(history)
        return self.answers[len(self.told) - 1]


def refusing(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    raise ProblemsError([Problem("PL-P001", "it cannot be done", "Do something else.")])


def station_of(**planners: object) -> Station:
    return Station(planners={**PLANNERS, **planners})


def test_what_a_planner_refuses_is_a_failed_execution_with_its_problems() -> None:
    station = station_of(install=refusing)
    row = station.install(node("vm"))
    assert station.status(row) is ExecutionStatus.FAILED
    assert "PL-P001" in station.row(row).reason
    assert "it cannot be done" in station.row(row).reason
    assert station.events(row)[-1].type == "workflow_failed"


def test_what_a_planner_refused_may_be_tried_again() -> None:
    rounds = Rounds(Verdict(ExecutionStatus.COMPLETED))
    station = station_of(install=refusing)
    row = station.install(node("vm"))
    station.planners = {"install": rounds}
    station.crash()
    station.engine.recover([station.row(row)])
    station.settle()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_a_workflow_that_nobody_knows_fails() -> None:
    station = Station()
    row = station.submit(station.deployment(node("vm")), "dance")
    assert station.status(row) is ExecutionStatus.FAILED
    assert station.row(row).reason == "unknown workflow 'dance'"


def test_a_mistake_of_ours_in_a_planner_is_not_swallowed() -> None:
    def broken(*_: object) -> Verdict:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        station_of(install=broken).install(node("vm"))


def test_a_planner_is_told_of_each_round_and_of_the_states_now() -> None:
    rounds = Rounds(one_call("pre"), one_call("body"), Verdict(ExecutionStatus.COMPLETED))
    station = station_of(install=rounds)
    row = station.install(node("vm", create="each.create"))
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED
    assert [[done.name for done in told.rounds] for told in rounds.told] == [[], ["pre"], ["pre", "body"]]
    assert rounds.told[2].rounds[1].counts == {"completed": 1}
    assert not rounds.told[2].canceled


def test_a_planner_is_told_that_a_user_canceled_and_may_close() -> None:
    rounds = Rounds(one_call("body"), one_call("post"), Verdict(ExecutionStatus.CANCELED))
    station = station_of(install=rounds)
    row = station.install(node("vm", create="each.create"))
    station.engine.cancel(row.number)
    station.settle()
    station.complete("create", "vm_1")
    assert rounds.told[1].canceled
    station.complete_all()
    assert station.status(row) is ExecutionStatus.CANCELED


def test_tolerated_failures_are_counted_apart() -> None:
    rounds = Rounds(one_call("body", marks=Mark.TOLERANT), Verdict(ExecutionStatus.COMPLETED))
    station = station_of(install=rounds)
    station.install(node("vm", create="each.create"))
    station.answer(station.find("create", "vm_1"), OutcomeKind.FAILED)
    (done,) = rounds.told[1].rounds
    assert done.counts == {"failed": 0, TOLERATED: 1}
    assert done.is_met


def test_a_planner_gets_its_own_copy_of_the_states() -> None:
    def spoiling(topology: Topology, request: Request, history: History, declare: Declare) -> Verdict:
        history.states[:] = 11
        return Verdict(ExecutionStatus.COMPLETED)

    station = station_of(install=spoiling)
    row = station.install(node("vm"))
    assert station.deployments.loaded(row.deployment).states.tolist() == [0]


def test_rounds_of_an_earlier_attempt_are_told_after_a_crash_too() -> None:
    rounds = Rounds(*[one_call("body")] * 2, one_call("post"), Verdict(ExecutionStatus.FAILED, "no"))
    station = station_of(install=rounds)
    row = station.install(node("vm", create="each.create"))
    station.complete_all()
    station.planners = {"install": (later := Rounds(Verdict(ExecutionStatus.COMPLETED)))}
    station.crash()
    station.engine.retry(station.row(row), replan=True)
    station.settle()
    assert [(done.name, done.attempt) for done in later.told[0].rounds] == [("body", 0), ("body", 0), ("post", 0)]
    assert later.told[0].attempt == 1
    assert station.all_entries(row) == [[EntryStatus.COMPLETED]] * 3
