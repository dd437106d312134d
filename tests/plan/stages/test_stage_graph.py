"""Stages one after the other: what waits for what."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from phaseline.model.execution.pre_post import DeploymentCallKind
from phaseline.model.graph.graph import Graph, LaneSpec, Policy, SubjectKind
from phaseline.model.graph.status import Mark
from phaseline.plan.stages.stage_graph import StageCall, build_stage_graph, on_deployment

ONE, OTHER = Policy(LaneSpec("one")), Policy(LaneSpec("other"))


def waits_for(graph: Graph) -> list[list[int]]:
    """The needs of each entry."""
    needs: list[list[int]] = [[] for _ in range(len(graph))]
    for entry in range(len(graph)):
        for dependent in graph.idx[graph.ptr[entry] : graph.ptr[entry + 1]].tolist():
            needs[dependent].append(entry)
    return needs


def test_a_milestone_stands_between_neighbours() -> None:
    graph = build_stage_graph(
        "stage pre_deployment",
        [StageCall("one", ONE, np.arange(3)), on_deployment("other", OTHER, DeploymentCallKind.FAILED)],
    )
    assert [(step.phase, step.kind, step.count) for step in graph.steps] == [
        ("one", SubjectKind.INSTANCE, 3),
        ("milestone", SubjectKind.NONE, 1),
        ("other", SubjectKind.DEPLOYMENT, 1),
    ]
    assert waits_for(graph) == [[], [], [], [0, 1, 2], [3]]
    assert graph.subject.tolist() == [0, 1, 2, -1, DeploymentCallKind.FAILED]


def test_what_comes_after_however_waits_only_for_the_end() -> None:
    first = on_deployment("one", ONE, DeploymentCallKind.COMPLETED, tolerant=True, however=True)
    graph = build_stage_graph("post hooks", [first, on_deployment("other", OTHER, DeploymentCallKind.COMPLETED)])
    assert graph.marks.tolist() == [Mark.TOLERANT, Mark.ABSENT | Mark.ENDED, 0]


@pytest.mark.parametrize("stages", [[], [StageCall("one", ONE, np.arange(0))]])
def test_without_anybody_there_is_nothing_to_do(stages: list[StageCall]) -> None:
    assert len(build_stage_graph("pre hooks", stages)) == 0


@given(sizes=some.lists(some.integers(0, 5), max_size=6))
def test_every_entry_of_a_stage_waits_for_all_of_the_former_one_that_calls_anybody(sizes: list[int]) -> None:
    graph = build_stage_graph(
        "stages", [StageCall(str(place), ONE, np.arange(size)) for place, size in enumerate(sizes)]
    )
    needs = waits_for(graph)
    calling = [step for step in graph.steps if step.kind is SubjectKind.INSTANCE]
    assert [step.count for step in calling] == [size for size in sizes if size]
    for former, step in zip([None, *calling], calling, strict=False):
        for entry in range(step.first, step.first + step.count):
            before = [] if former is None else list(range(former.first, former.first + former.count))
            assert [need for milestone in needs[entry] for need in needs[milestone]] == before
