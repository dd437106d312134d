"""F44: groups of tasks whose instances take turns."""

from __future__ import annotations

import numpy as np
import pytest

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.execution.execution import RetryPolicy
from phaseline.model.graph.graph import SubjectKind
from phaseline.plan.graph.call_policies import Policies
from phaseline.plan.stages.rolling_strategy import take_turns
from phaseline.plan.stages.task_graph import TaskGraph

THREE = np.arange(3, dtype=np.int32)


def taken(kind: SubjectKind, at_once: int) -> TaskGraph:
    """A graph of one task on three members of a group, so many of whom run it at once."""
    graph = TaskGraph(Policies(lambda _: Declaration(), RetryPolicy()))
    row = [graph.add("task", kind, THREE, rank=0)]
    take_turns(graph, [row], [0], np.ones(3, bool), at_once)
    return graph


def test_f44_an_instance_waits_for_the_one_whose_turn_was_before() -> None:
    graph = taken(SubjectKind.INSTANCE, 1)
    edges = sorted((int(a), int(b)) for before, after in graph.edges for a, b in zip(before, after, strict=True))
    assert edges == [(0, 3), (1, 4), (3, 1), (4, 2)]


@pytest.mark.parametrize(("kind", "at_once"), [(SubjectKind.INSTANCE, 3), (SubjectKind.NONE, 1)])
def test_f44_nobody_waits_where_all_have_room_or_no_instance_is_called(kind: SubjectKind, at_once: int) -> None:
    assert taken(kind, at_once).edges == []
