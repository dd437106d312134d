"""What users ask about phases of nodes on paths (decision 15): call them now, call them once more while their state lasts."""

import pytest
from tests.run.yard import Yard, installed, phase

from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.model.phases.phase_data import PHASE_DATA
from phaseline.model.rows.rows import ExecutionRow, RequestKind
from phaseline.plan.requests.request_problems import problem_of

AGAIN, FAILED = OutcomeKind.AGAIN, OutcomeKind.FAILED
WAKE, RERUN = RequestKind.WAKE, RequestKind.RERUN


@pytest.fixture
def yard() -> Yard:
    return Yard(phase("A"), phase("B"), phase("Late", "Installation"))


def ask(yard: Yard, kind: RequestKind, row: ExecutionRow, name: str) -> str:
    """Ask about a phase of the server; the code of what was wrong with that."""
    graph, position = yard.spots("web_1")[name]
    yard.ask(kind, row, graph=graph, positions=[position])
    assert yard.answer_to is not None
    problem = problem_of(yard.answer_to)
    return problem.code if problem is not None else ""


def test_t9_a_phase_of_a_node_that_sleeps_is_woken(yard: Yard) -> None:
    row = installed(yard)
    yard.answer(yard.find("A", "web_1"), AGAIN, delay_ms=3_600_000)
    assert ask(yard, WAKE, row, "A") == ""
    assert [name for name, _ in yard.runs()[2:]] == ["A"]


def test_t19_a_completed_phase_of_a_node_is_run_again_with_nothing_while_the_state_is_not_left(yard: Yard) -> None:
    row = installed(yard)
    yard.answer(yard.find("A", "web_1"), properties={PHASE_DATA: {"A": {"Directory": "/tmp/1"}}})
    assert ask(yard, RERUN, row, "A") == ""
    assert [name for name, _ in yard.runs()[2:]] == ["A"]
    assert yard.data("web_1", "A") is None
    yard.complete("B", "web_1")
    assert yard.state("web_1") == "Allocation", "A holds it again"
    yard.complete("A", "web_1")
    assert yard.state("web_1") == "Installation"
    assert [event.type for event in yard.events(row)].count("phase_rerun") == 1


def test_t19_behind_its_state_a_phase_of_a_node_is_not_run_again(yard: Yard) -> None:
    row = installed(yard)
    yard.complete("A", "web_1")
    yard.complete("B", "web_1")
    assert ask(yard, RERUN, row, "A") == "PL-C014"
    assert [name for name, _ in yard.runs()[2:]] == ["Late"]


def test_t19_a_phase_of_a_node_is_run_again_though_its_execution_has_failed(yard: Yard) -> None:
    row = installed(yard)
    yard.complete("A", "web_1")
    yard.answer(yard.find("B", "web_1"), FAILED, message="no")
    assert yard.status(row) is ExecutionStatus.FAILED
    yard.crash()
    assert ask(yard, RERUN, row, "A") == ""
    assert yard.runs() == [("A", ["web_1"])], "by the new engine"
    yard.complete("A", "web_1")
    assert yard.status(row) is ExecutionStatus.FAILED, "B has failed all the same"
