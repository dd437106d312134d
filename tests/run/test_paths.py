"""Resources go from state to state: who enters, who leaves, who waits for whom (phases.md sections 4 and 6)."""

from tests.run.yard import Yard, phase

from phaseline.model.status import ExecutionStatus, OutcomeKind

FAILED, AGAIN = OutcomeKind.FAILED, OutcomeKind.AGAIN


def test_p15_resources_that_reach_a_state_together_come_in_one_run() -> None:
    yard = Yard(phase("Create"))
    names = [f"n{number}" for number in range(200)]
    row = yard.start(*names)
    assert yard.runs() == [("Create", names)]
    yard.complete_all()
    assert {yard.state(name) for name in names} == {"Started"}
    assert yard.status(row) is ExecutionStatus.COMPLETED
