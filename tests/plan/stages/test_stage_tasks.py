"""Graphs of tasks held against a plain reading of what their files say, and how they are told."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phaseline.model.blueprint.blueprint import Blueprint
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.execution import History, Request, Verdict
from phaseline.model.execution.pre_post import PrePost
from phaseline.model.graph.graph import Graph, SubjectKind
from phaseline.model.graph.status import ExecutionStatus, Mark
from phaseline.model.packages.package import EVERYBODY, NOBODY, CrossDependency, Roles
from phaseline.model.packages.stage_tasks import ExecutionTask, Stages, TaskOrigin, Ties
from phaseline.plan.stages.stage_tasks import after, before
from phaseline.plan.stages.task_listing import task_rows
from phaseline.plan.transforms.pipeline import Asked
from phaseline.testing.builders import blueprint, node, topology

ORIGIN = TaskOrigin("p", "1.0.0")
SITE = topology(blueprint(node("db", instances=2), node("web", instances=3)))
WHO = {"db": {0, 1}, "web": {2, 3, 4}, "*": {0, 1, 2, 3, 4}, "primary-web": {2}}
MASTER = Roles(scope="master")


def granular(id: str, roles: Roles = EVERYBODY, kind: str = "shell", **ties: object) -> ExecutionTask:
    return ExecutionTask(f"p/{id}", kind, ORIGIN, 0, roles, {"cmd": "x"}, id=id, ties=Ties(**ties))


def asked(site: Topology = SITE, workflow: str = "install") -> Asked:
    history = History(np.full(len(site), 5, np.uint8), execution="install-1")
    return Asked(site, Request(workflow), history, lambda _: Declaration(flavour="task"))


def laid(*tasks: ExecutionTask, site: Topology = SITE) -> Graph | None:
    return after(asked(site), PrePost(stages=Stages(tasks)), Verdict(ExecutionStatus.COMPLETED))


def roles_of(word: str) -> Roles:
    return EVERYBODY if word == "*" else Roles((word,))


# -- edges ----------------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(sorted(WHO))
DRAWN = st.lists(
    st.tuples(WORDS, st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5)), st.dictionaries(st.integers(0, 5), WORDS), st.dictionaries(st.integers(0, 5), WORDS)),
    min_size=1,
    max_size=6,
)  # fmt: skip
"""(role; numbers of tasks that it requires, that require it, that it needs on whoever has a role, that need it there)"""


def read(
    drawn: list[tuple[str, set[int], set[int], dict[int, str], dict[int, str]]],
) -> tuple[list[ExecutionTask], dict]:
    """The tasks, and by (task, instance) the vertices that it needs, as one reads it. Earlier tasks need no later ones."""
    tasks = []
    needs: dict[tuple[int, int], set[tuple[int, int]]] = {
        (number, who): set() for number, (word, *_) in enumerate(drawn) for who in WHO[word]
    }
    for number, (word, requires, required_for, depends, depended_by) in enumerate(drawn):
        earlier, later = range(number), range(number + 1, len(drawn))
        mine = WHO[word]
        for other in requires & set(earlier):
            for who in mine & WHO[drawn[other][0]]:
                needs[number, who].add((other, who))
        for other in required_for & set(later):
            for who in mine & WHO[drawn[other][0]]:
                needs[other, who].add((number, who))
        for other in depends.keys() & set(earlier):
            for who in mine:
                needs[number, who] |= {(other, one) for one in WHO[drawn[other][0]] & WHO[depends[other]]}
        for other in depended_by.keys() & set(later):
            for who in WHO[drawn[other][0]] & WHO[depended_by[other]]:
                needs[other, who] |= {(number, one) for one in mine}
        tasks.append(
            granular(
                f"t{number}", roles_of(word),
                requires=tuple(f"t{other}" for other in sorted(requires & set(earlier))),
                required_for=tuple(f"t{other}" for other in sorted(required_for & set(later))),
                depends=tuple(CrossDependency(f"t{other}", roles_of(depends[other])) for other in sorted(depends.keys() & set(earlier))),
                depended_by=tuple(CrossDependency(f"t{other}", roles_of(depended_by[other])) for other in sorted(depended_by.keys() & set(later))),
            )
        )  # fmt: skip
    return tasks, needs


def needs_of(graph: Graph) -> dict[tuple[int, int], set[tuple[int, int]]]:
    """The same as the graph has it: through milestones that wait for all, not through those that wait for an end."""
    names: dict[int, tuple[int, int]] = {}
    for step in graph.steps:
        if step.kind is SubjectKind.INSTANCE:
            for place in range(step.first, step.first + step.count):
                names[place] = (int(step.phase.removeprefix("p/t")), int(graph.subject[place]))
    before_of: dict[int, list[int]] = {place: [] for place in range(len(graph))}
    for place in range(len(graph)):
        for behind in graph.idx[graph.ptr[place] : graph.ptr[place + 1]].tolist():
            assert behind > place, "what is needed lies before"
            before_of[behind].append(place)

    def through(place: int) -> set[tuple[int, int]]:
        found: set[tuple[int, int]] = set()
        for need in before_of[place]:
            if need in names:
                found.add(names[need])
            elif not graph.marks[need] & Mark.ENDED:
                found |= through(need)
        return found

    return {name: through(place) for place, name in names.items()}


@given(DRAWN)
def test_a_graph_has_the_needs_that_the_files_say(drawn) -> None:
    tasks, needs = read(drawn)
    graph = laid(*tasks)
    assert graph is not None
    assert needs_of(graph) == needs


@settings(max_examples=30)
@given(DRAWN)
def test_the_tasks_of_an_instance_come_one_after_the_other(drawn) -> None:
    graph = laid(*read(drawn)[0])
    assert graph is not None
    reached = _reachable(graph)
    for who in range(len(SITE)):
        mine = [place for place in range(len(graph)) if graph.subject[place] == who]
        assert all(reached[before, behind] for before, behind in pairwise(mine))


def _reachable(graph: Graph) -> np.ndarray:
    found = np.zeros((len(graph), len(graph)), bool)
    for place in reversed(range(len(graph))):
        for behind in graph.idx[graph.ptr[place] : graph.ptr[place + 1]].tolist():
            found[place] |= found[behind]
            found[place, behind] = True
    return found


@settings(max_examples=30)
@given(DRAWN, st.randoms(use_true_random=False))
def test_a_graph_does_not_depend_on_the_order_in_which_tasks_are_told(drawn, random) -> None:
    tasks = read(drawn)[0]
    expected = laid(*tasks)
    random.shuffle(tasks)
    graph = laid(*tasks)
    assert expected is not None
    assert graph is not None
    assert needs_of(graph) == needs_of(expected)


# -- particular ones ------------------------------------------------------------------------------------------------------


def phases(graph: Graph | None) -> list[tuple[str, int]]:
    assert graph is not None
    return [(step.phase, step.count) for step in graph.steps if step.phase != "milestone"]


def test_a_reboot_notes_calls_the_operation_of_the_instance_and_waits() -> None:
    site = topology(blueprint(node("db", **{"cloudify.interfaces.power.reboot": "cloud.reboot"}), node("web")))
    task = ExecutionTask("p#1", "reboot", ORIGIN, 0, EVERYBODY, {"timeout": 60}, stage="post_deployment")
    graph = laid(task, site=site)
    assert phases(graph) == [("p#1 note", 2), ("cloudify.interfaces.power.reboot", 2), ("p#1 await", 2)]
    assert graph is not None
    assert graph.marks.tolist() == [0, 0, 0, Mark.ABSENT, 0, 0]
    stages = Stages((task,))
    implementations = [stages.operation(phase) for phase in ("p#1 note", "p#1 await")]
    assert [one and one.implementation.rpartition(".")[2] for one in implementations] == ["note_boot", "await_boot"]
    assert stages.operation("p#1") is None


def test_an_operation_that_nodes_have_in_different_interfaces_is_called_in_each() -> None:
    db, web = node("db", **{"house.backup.save": "cloud.save"}), node("web", **{"shop.pages.save": "cloud.save"})
    task = ExecutionTask("p#1", "operation", ORIGIN, 0, EVERYBODY, {"operation": "save"}, stage="post_deployment")
    graph = laid(task, site=topology(blueprint(db, web, node("bare"))))
    assert graph is not None
    called = [
        (step.phase, graph.subject[place])
        for step in graph.steps
        for place in range(step.first, step.first + step.count)
        if not graph.marks[place]
    ]
    names = topology(blueprint(db, web, node("bare"))).ids
    assert [(phase, names[who]) for phase, who in called] == [
        ("house.backup.save", "db_1"),
        ("shop.pages.save", "web_1"),
    ]
    nobody = granular("a", kind="operation")
    assert laid(nobody, task, site=topology(blueprint(node("bare")))) is not None


def test_nothing_is_laid_where_nobody_would_be_called() -> None:
    none: Blueprint = blueprint(node("db", instances=0))
    assert laid(granular("a"), site=topology(none)) is None
    assert laid(granular("a", kind="skipped")) is None
    assert laid(granular("a", Roles(("nobody",)))) is None
    assert before(asked(), PrePost(stages=Stages((granular("a"),)))) is None
    assert (
        before(asked(workflow="scale"), PrePost(stages=Stages((granular("a", required_for=("deploy_start",)),))))
        is None
    )
    assert after(asked(), PrePost(stages=Stages((granular("a"),))), Verdict(ExecutionStatus.FAILED)) is None


@pytest.mark.parametrize("policy", ["all", "any"])
def test_tasks_of_the_master_and_points_can_be_needed(policy: str) -> None:
    on_master = CrossDependency("a", MASTER, policy)
    point = granular("mine", NOBODY, "stage", depends=(CrossDependency("a", MASTER),))
    tasks = granular("a", MASTER), granular("b", depends=(on_master,)), point, granular("c", requires=("mine",))
    alone = granular("d", MASTER, requires=("a",), depends=(CrossDependency("b"), CrossDependency("a")))
    found = phases(laid(*tasks, alone))
    assert found[0] == ("p/a", 1)
    assert dict(found) == {"p/a": 1, "p/b": 5, "p/c": 5, "p/d": 1}
    assert [phase for phase, _ in found].index("p/d") > [phase for phase, _ in found].index("p/b")


def test_one_instance_of_others_may_wait_for_those_that_wait_for_it_not() -> None:
    """``a`` is needed by itself on the primary instance, from the other side."""
    graph = laid(granular("t0", Roles(("web",)), depended_by=(CrossDependency("t0", Roles(("primary-web",))),)))
    assert graph is not None
    assert needs_of(graph) == {(0, 2): {(0, 3), (0, 4)}, (0, 3): set(), (0, 4): set()}


def test_a_name_may_be_an_expression_that_fits_the_task_itself() -> None:
    graph = laid(
        granular("t0"),
        granular("t1", requires=("/t[01]/",), depends=(CrossDependency("t.", Roles(scope="self"), is_pattern=True),)),
    )
    assert graph is not None
    assert needs_of(graph) == {**{(0, who): set() for who in range(5)}, **{(1, who): {(0, who)} for who in range(5)}}


def test_what_is_told_before_anything_runs() -> None:
    first = ExecutionTask(
        "p#1",
        "shell",
        ORIGIN,
        0,
        Roles(("web",)),
        stage="post_deployment",
        written="post_deployment/5",
        priority=100,
        title="p-1.0.0",
    )
    tasks = (
        first,
        ExecutionTask(
            "p#2",
            "shell",
            ORIGIN,
            1,
            Roles(("nobody",)),
            stage="pre_deployment",
            written="pre_deployment",
            priority=100,
        ),
        ExecutionTask(
            "p#3",
            "shell",
            ORIGIN,
            2,
            MASTER,
            stage="pre_deployment",
            written="pre_deployment",
            priority=200,
            skipped="off",
        ),
        granular("a", requires=("b",)),
        granular("b", kind="skipped"),
        granular("g", kind="group"),
    )
    found = task_rows(Stages(tasks), SITE)
    assert [(row.task, row.stage, row.instances, row.skipped, row.needs) for row in found] == [
        ("p#2", "pre_deployment", 0, "no matching instance", ()),
        ("p#3", "pre_deployment", 0, "off", ()),
        ("p/b", "post_deployment", 0, "it has no work of its own", ()),
        ("p/a", "post_deployment", 5, "", ("b",)),
        ("p#1", "post_deployment", 3, "", ()),
    ]
    assert [row.instances for row in task_rows(Stages((first,)))] == [None]
