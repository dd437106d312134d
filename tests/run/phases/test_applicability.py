"""Where the subjects that have changed stand in the graph of a state."""

import numpy as np

from phaseline.engine.arena_layout import GraphSlot
from phaseline.model.graph.graph import Step, SubjectKind
from phaseline.run.phases.applicability import positions_of


def slot() -> GraphSlot:
    return GraphSlot(7, 1, 1, "Allocation", (), number=0, base=2, end=6, first_page=0, policy_base=0, policies=())


def found(*subjects: int) -> list[int]:
    step = Step("phase:Acme.Create", SubjectKind.INSTANCE, 1, 3)
    column = np.array([90, 91, 92, 1, 5, 9], np.int32)
    return positions_of(slot(), step, column, np.array(subjects, np.int64)).tolist()


def test_a_subject_of_another_graph_does_not_stand_for_its_neighbour() -> None:
    assert found(3, 5) == [2]
    assert found(0, 1, 2, 6, 9, 12) == [1, 3]
    assert found(2, 12) == []
    assert found() == []


def test_a_step_without_entries_has_nobody() -> None:
    step = Step("phase:Acme.Create", SubjectKind.INSTANCE, 1, 0)
    assert positions_of(slot(), step, np.arange(6, dtype=np.int32), np.array([1, 2])).tolist() == []
