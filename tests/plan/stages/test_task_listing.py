"""What is told of tasks before they run is what the graph then holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.plan.stages.test_stage_tasks import DRAWN, SITE, granular, laid, read

from phaseline.model.graph.graph import Graph, SubjectKind
from phaseline.model.packages.package import EVERYBODY, NOBODY, CrossDependency, Roles
from phaseline.model.packages.stage_tasks import Stages
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.stages.task_listing import task_rows


def called(graph: Graph | None) -> list[tuple[str, int]]:
    """(task, on how many instances) in the order in which the graph first has them."""
    found: dict[str, int] = {}
    for step in graph.steps if graph is not None else ():
        if step.kind is SubjectKind.INSTANCE:
            found[step.phase] = found.get(step.phase, 0) + step.count
    return list(found.items())


def told(stages: Stages) -> list[tuple[str, int | None]]:
    rows = task_rows(stages, SITE)
    return [(row.task, row.instances) for row in rows if row.stage == "post_deployment" and row.instances]


@given(DRAWN)
def test_f36_rows_are_the_tasks_of_the_graph_in_its_order(drawn) -> None:
    tasks, _ = read(drawn)
    assert told(Stages(tuple(tasks))) == called(laid(*tasks))


def test_f36_a_task_that_only_a_group_names_is_told_with_the_instances_of_the_group() -> None:
    tasks = (
        granular("late", NOBODY, requires=("early",)),
        granular("early", NOBODY),
        granular("web", Roles(("web",)), kind="group", tasks=("early", "late")),
    )
    assert told(Stages(tasks)) == [("p/early", 3), ("p/late", 3)] == called(laid(*tasks))


def test_without_a_deployment_granular_tasks_are_told_in_the_order_of_their_needs() -> None:
    tasks = (granular("c", requires=("b",)), granular("b", requires=("a",)), granular("a"))
    assert [row.task for row in task_rows(Stages(tasks))] == ["p/a", "p/b", "p/c"]


def test_tasks_that_wait_for_one_another_on_different_instances_are_told() -> None:
    db, web = Roles(("db",)), Roles(("web",))
    tasks = (
        granular("a", db, depends=(CrossDependency("b", web),)),
        granular("b", EVERYBODY, depends=(CrossDependency("a", Roles(("none",))),)),
    )
    assert told(Stages(tasks)) == called(laid(*tasks))
    assert [row.task for row in task_rows(Stages(tasks))] == ["p/b", "p/a"]


def test_f25_what_the_graph_refuses_is_refused_when_it_is_told() -> None:
    tasks = (granular("a", depends=(CrossDependency("b"),)), granular("b", depends=(CrossDependency("a"),)))
    with pytest.raises(ProblemsError, match="PL-F015"):
        task_rows(Stages(tasks), SITE)
