"""``deployment_tasks.yaml``: tasks that need one another, on one instance and across instances (F42-F46)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.acceptance.source4_packages import Enabled, Played, granular_task, package, stage_task, stages_of

from phaseline.model.blueprint.blueprint import Value
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.execution.execution import History, Request, Verdict
from phaseline.model.execution.pre_post import PrePost
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import ExecutionStatus, Mark
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.stages.stage_tasks import after, before
from phaseline.plan.transforms.pipeline import Asked
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.scripted_executor import completes, fails

POST = "post_deployment"
APPLICATION = blueprint(node("db", instances=2), node("web", instances=3))


def nodes(**counts: int) -> Played:
    return Played(blueprint(*(node(name, instances=count) for name, count in counts.items())))


def granular(*tasks: str, name: str = "p"):
    return package(name, granular="".join(tasks))


def position(played: Played, call: str) -> int:
    return played.calls.index(call)


def graph_of(*packages, application=APPLICATION, is_after: bool = True) -> Graph:
    """The graph after the body, or before it, of an install."""
    instances = topology(application)
    history = History(np.full(len(instances), 5, np.uint8), execution="install-1")
    asked = Asked(instances, Request("install"), history, lambda _: Declaration())
    around = PrePost(stages=stages_of(packages))
    found = after(asked, around, Verdict(ExecutionStatus.COMPLETED)) if is_after else before(asked, around)
    assert found is not None
    return found


def needs_of(graph: Graph, phase: str, instance: str) -> set[str]:
    """Every vertex that one vertex waits for, through milestones that wait for all of theirs, or (in brackets) for any."""
    names = topology(APPLICATION).ids
    label = {}
    for step in graph.steps:
        for place in range(step.first, step.first + step.count):
            subject = int(graph.subject[place])
            label[place] = f"{step.phase.partition('/')[2]} {names[subject]}" if subject >= 0 else ""
    needs: dict[int, list[int]] = {}
    for place in range(len(graph)):
        for behind in graph.idx[graph.ptr[place] : graph.ptr[place + 1]].tolist():
            needs.setdefault(behind, []).append(place)

    def waits(place: int) -> set[str]:
        found: set[str] = set()
        for need in needs.get(place, []):
            if label[need]:
                found.add(label[need])
            elif graph.marks[need] & Mark.ANY:
                found.add(f"any of {', '.join(sorted(waits(need)))}")
            elif not graph.marks[need] & Mark.ENDED:
                found |= waits(need)
        return found

    (place,) = [at for at, name in label.items() if name == f"{phase} {instance}"]
    return waits(place)


# -- F42 ----------------------------------------------------------------------------------------------------------------


def test_f42_a_task_waits_for_the_one_that_it_requires_on_the_same_instance_alone() -> None:
    graph = graph_of(granular(granular_task("a", requires=["b"]), granular_task("b")))
    assert needs_of(graph, "a", "web_2") == {"b web_2"}
    played = nodes(web=2)
    assert played.run([granular(granular_task("a", requires=["b"]), granular_task("b"))]).status.value == "completed"
    assert played.calls == ["p/b web_1", "p/b web_2", "p/a web_1", "p/a web_2"]


def test_f42_required_for_is_the_same_from_the_other_side() -> None:
    graph = graph_of(granular(granular_task("a"), granular_task("b", required_for=["a"])))
    assert needs_of(graph, "a", "db_1") == {"b db_1"}


def test_f42_work_that_is_skipped_keeps_the_order_of_what_is_round_it() -> None:
    tasks = granular_task("a"), granular_task("b", kind="skipped", requires=["a"]), granular_task("c", requires=["b"])
    played = nodes(web=1)
    played.run([granular(*reversed(tasks))])
    assert played.calls == ["p/a web_1", "p/c web_1"]


def test_f42_a_condition_that_is_false_makes_a_task_pass_for_those_who_wait_for_it() -> None:
    tasks = granular_task("a"), granular_task("b", requires=["a"], condition="settings:p.wanted.value == true")
    one = granular(*tasks, granular_task("c", requires=["b"]))
    played = nodes(web=1)
    played.run([Enabled(one, {"wanted": False})])
    assert played.calls == ["p/a web_1", "p/c web_1"]
    played.run([Enabled(one, {"wanted": True})])
    assert played.calls == ["p/a web_1", "p/b web_1", "p/c web_1"]


def test_f42_a_point_between_stages_that_a_package_overrides_keeps_its_place() -> None:
    own = (
        granular_task("deploy_end", kind="stage", requires=["mine"]),
        granular_task("mine", kind="stage"),
    )
    played = nodes(web=1)
    late = granular_task("late", requires=["deploy_end"]), granular_task("early", required_for=["mine"])
    assert played.run([granular(*own, *late)]).status.value == "completed"
    assert played.calls == ["p/early web_1", "p/late web_1"]


def test_names_that_nobody_has_are_ignored() -> None:
    played = nodes(web=1)
    lost: list[Value] = [{"name": "nobody"}, {"name": "/no.*/"}]
    played.run([granular(granular_task("a", requires=["elsewhere"], cross_depends=lost))])
    assert played.calls == ["p/a web_1"]


# -- F43 ----------------------------------------------------------------------------------------------------------------

ALL_DB = {"b db_1", "b db_2"}
ALL = ALL_DB | {"b web_1", "b web_2", "b web_3"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"name": "b"}, ALL),
        ({"name": "b", "role": "*"}, ALL),
        ({"name": "b", "role": ["db"]}, ALL_DB),
        ({"name": "b", "role": ["db", "primary-web"]}, {*ALL_DB, "b web_1"}),
        ({"name": "b", "role": "/d/"}, ALL_DB),
        ({"name": "b", "role": "self"}, {"b web_2"}),
        ({"name": "b", "role": None}, set()),
        ({"name": "/b|never/", "role": ["db"]}, ALL_DB),
        ({"name": r"/\x{62}$/", "role": r"/\x{64}b$/"}, ALL_DB),  # as RE2 alone writes it
        ({"name": "b", "role": ["db"], "policy": "any"}, {"any of b db_1, b db_2"}),
        ({"name": "b", "role": ["primary-db"], "policy": "any"}, {"b db_1"}),
    ],
)
def test_f43_a_dependency_across_instances_means_these_vertices(said: dict[str, Value], expected: set[str]) -> None:
    tasks = granular_task("a", role=["web"], cross_depends=[said]), granular_task("b")
    assert needs_of(graph_of(granular(*tasks)), "a", "web_2") == expected


def test_f43_repetitions_within_repetitions_take_no_longer_than_others() -> None:
    names = "a" * 64, "a" * 63 + "b"
    tasks = (
        granular_task("last", role=[names[1]], cross_depends=[{"name": "/(a|a)*b$/", "role": "/((a+)+)+b$/"}]),
        *(granular_task(name) for name in names),
    )
    played = nodes(**dict.fromkeys(names, 1))
    played.run([granular(*tasks)])
    waited_for = played.calls.index(f"p/{names[1]} {names[1]}_1")
    assert waited_for < played.calls.index(f"p/last {names[1]}_1")


def test_f43_the_same_from_the_other_side() -> None:
    said: list[Value] = [{"name": "b", "role": ["db"]}]
    graph = graph_of(granular(granular_task("a", role=["web"], cross_depended_by=said), granular_task("b")))
    assert needs_of(graph, "b", "db_2") == {"a web_1", "a web_2", "a web_3"}
    assert needs_of(graph, "b", "web_1") == set()


def test_f43_any_of_several_tasks_is_any_instance_that_is_through_with_all_of_them() -> None:
    said: list[Value] = [{"name": "/b|c/", "role": ["db"], "policy": "any"}]
    played = nodes(db=2, web=1)
    played.said = {"db_1.p/b": (completes(takes_s=50),), "db_2.p/c": (completes(takes_s=9),)}
    played.run(
        [
            granular(
                granular_task("a", role=["web"], cross_depends=said),
                granular_task("b", role=["db"]),
                granular_task("c", role=["db"], requires=["b"]),
            )
        ]
    )
    (a,) = [call for call in played.script.calls if call.operation == "p/a"]
    assert a.at_s == pytest.approx(9)


@pytest.mark.parametrize(("role", "waits"), [("*", True), ("self", True), ("web", False)])
def test_f43_a_point_between_stages_is_on_no_instance_so_nobody_waits_for_that_of_a_role(
    role: str, waits: bool
) -> None:
    said: list[Value] = [{"name": "post_deployment_end", "role": role}]
    played = nodes(web=2)
    last = granular_task("b", role=["web"], required_for=["post_deployment_end"])
    played.run([granular(granular_task("a", role=["web"], cross_depends=said), last)])
    a, b = ["p/a web_1", "p/a web_2"], ["p/b web_1", "p/b web_2"]
    assert played.calls == ([*b, *a] if waits else [*a, *b])


def test_f43_a_task_may_wait_for_itself_on_the_primary_instance() -> None:
    said: list[Value] = [{"name": "a", "role": ["primary-web"]}]
    played = nodes(web=3)
    assert played.run([granular(granular_task("a", role=["web"], cross_depends=said))]).status.value == "completed"
    assert [call.instances[0] for call in played.script.calls] == ["web_1", "web_2", "web_3"]
    graph = graph_of(granular(granular_task("a", role=["web"], cross_depends=said)))
    assert needs_of(graph, "a", "web_1") == set()
    assert needs_of(graph, "a", "web_3") == {"a web_1"}


@pytest.mark.parametrize(
    ("tasks", "circle"),
    [
        ([granular_task("a", cross_depends=[{"name": "a"}])], "a -> a"),
        (
            [granular_task("a", cross_depends=[{"name": "b"}]), granular_task("b", cross_depends=[{"name": "a"}])],
            "a -> b -> a",
        ),
    ],
)
def test_f25_tasks_of_several_packages_that_wait_for_one_another_are_refused_with_their_names(
    tasks: list[str], circle: str
) -> None:
    packages = [granular(task, name=f"p{number}") for number, task in enumerate(tasks)]
    with pytest.raises(ProblemsError) as refused:
        graph_of(*packages)
    (problem,) = refused.value.problems
    assert problem.code == "PL-F015"
    assert circle in problem.message


def test_tasks_may_go_to_and_fro_between_instances() -> None:
    there: list[Value] = [{"name": "b", "role": ["db"]}]
    back: list[Value] = [{"name": "a", "role": ["web"]}]
    tasks = [
        granular_task("a", cross_depends=there, role=["web"]),
        granular_task("b", cross_depends=[{"name": "c", "role": ["web"]}], role=["db"]),
        granular_task("c", role="*", cross_depends=[]),
        granular_task("d", cross_depends=back, role=["db"]),
    ]
    played = nodes(db=1, web=1)
    assert played.run([granular(*tasks)]).status.value == "completed"
    assert (
        position(played, "p/c web_1")
        < position(played, "p/b db_1")
        < position(played, "p/a web_1")
        < position(played, "p/d db_1")
    )


# -- F44 ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "most"),
    [({"type": "one_by_one"}, 1), ({"type": "parallel", "amount": 2}, 2), ({"type": "parallel"}, 6)],
)
def test_f44_no_more_instances_run_a_task_at_once_than_its_strategy_allows(
    strategy: dict[str, Value], most: int
) -> None:
    played = nodes(web=6)
    played.said = {"p/a": (completes(takes_s=10),)}
    assert played.run([granular(granular_task("a", parameters={"strategy": strategy}))]).status.value == "completed"
    begun = [call.at_s for call in played.script.calls]
    assert max(begun.count(at) for at in begun) == most
    assert len(set(begun)) == 6 // most


@pytest.mark.parametrize(
    ("strategy", "most"),
    [({"type": "one_by_one"}, 1), ({"type": "parallel", "amount": 2}, 2), ({"type": "parallel"}, 4)],
)
def test_f44_the_instances_of_a_group_go_through_their_tasks_as_many_at_a_time_as_its_strategy_allows(
    strategy: dict[str, Value], most: int
) -> None:
    played = nodes(web=4, db=2)
    played.said = {"p/a": (completes(takes_s=10),), "p/b": (completes(takes_s=5),), "web_2.p/b": (fails(takes_s=5),)}
    group = granular_task("g", kind="group", role=["web"], fault_tolerance=1, parameters={"strategy": strategy})
    tasks = (
        granular_task("a"),
        granular_task("b", requires=["a"], required_for=["deploy_end"]),
        granular_task("c", requires=["post_deployment_start"]),
    )
    assert played.run([granular(group, *tasks)]).status.value == "completed"
    turns = [(call.at_s, call.instances[0]) for call in played.script.calls if call.operation in {"p/a", "p/b"}]
    for place in range(4):
        begun = 15 * (place // most)
        assert [at for at, who in turns if who == f"web_{place + 1}"] == [begun, begun + 10]
    assert [at for at, who in turns if who.startswith("db")] == [0, 0, 10, 10], (
        "who is not in the group waits for nobody"
    )
    behind = {call.at_s for call in played.script.calls if call.operation == "p/c"}
    assert behind == {15 * (4 // most)}, "behind a point between stages they begin again, and this takes no time"


def test_f44_what_failed_in_a_group_is_tried_again_in_its_turn() -> None:
    played = nodes(web=3)
    played.said = {"p/a": (fails("no", takes_s=5),)}
    group = granular_task(
        "g", kind="group", role=["web"], fault_tolerance=2, parameters={"strategy": {"type": "one_by_one"}}
    )
    row = played.run([granular(group, granular_task("a"))])
    assert row.status.value == "failed"
    played.retry(row, **{"p/a": completes(takes_s=5)})
    begun = sorted(call.at_s for call in played.script.calls)
    assert [later - at for at, later in pairwise(begun)] == [5, 5]


def test_f44_where_turns_would_go_round_in_a_circle_a_group_takes_them_task_by_task() -> None:
    """The ancestor's engine with such dependencies sees no circle: it bounds how many instances run each task."""
    strategy: dict[str, Value] = {"strategy": {"type": "one_by_one"}}
    group = granular_task("g", kind="group", role=["web"], parameters=strategy)
    tasks = granular_task("a", role=["web"]), granular_task("b", role=["web"], cross_depends=[{"name": "a"}])
    played = nodes(web=40)
    played.said = {"p/a": (completes(takes_s=10),), "p/b": (completes(takes_s=10),)}
    assert played.run([granular(group, *tasks)]).status.value == "completed"
    begun = [(call.at_s, call.operation) for call in played.script.calls]
    assert sorted(begun) == [(10 * place, "p/a" if place < 40 else "p/b") for place in range(80)]
    on_the_first: list[Value] = [{"name": "a", "role": ["primary-web"]}]
    graph_of(granular(group, tasks[0], granular_task("b", cross_depends=on_the_first)))


def test_f25_tasks_that_are_never_on_one_instance_wait_for_one_another_in_no_circle() -> None:
    tasks = (
        granular_task("a", role=["web"], requires=["b"]),
        granular_task("b", role=["primary-db"], requires=["a"]),
    )
    played = nodes(web=2, db=1)
    assert played.run([granular(*tasks)]).status.value == "completed"
    assert sorted(played.calls) == ["p/a web_1", "p/a web_2", "p/b db_1"]
    with pytest.raises(AssertionError, match="in a circle"):
        granular(tasks[0], granular_task("b", role=["web", "db"], requires=["a"]))


def test_an_instance_runs_one_task_at_a_time_whatever_becomes_of_it() -> None:
    played = nodes(web=2)
    played.said = {"p/a": (completes(takes_s=5),), "p/b": (completes(takes_s=5),), "p/c": (completes(takes_s=5),)}
    may_fail = granular_task("b", fail_on_error=False)
    played.said["web_1.p/b"] = (fails(takes_s=5),)
    assert played.run([granular(granular_task("a"), may_fail, granular_task("c"))]).status.value == "completed"
    for instance in ("web_1", "web_2"):
        assert [call.at_s for call in played.script.calls if call.instances == (instance,)] == [0, 5, 10]


# -- F45 ----------------------------------------------------------------------------------------------------------------


def tolerant(tolerance: Value, *, count: int = 4) -> tuple[Played, object]:
    said = {} if tolerance is None else {"fault_tolerance": tolerance}
    group = granular_task("workers", kind="group", role=["web"], **said)
    work = granular_task(
        "a", role=["web"], required_for=["deploy_end"], parameters={"strategy": {"type": "parallel", "amount": 2}}
    )
    return nodes(web=count, db=1), granular(group, work, granular_task("z", role=["db"], requires=["deploy_end"]))


def test_f45_a_failure_that_is_tolerated_lets_the_others_go_on() -> None:
    played, one = tolerant(1)
    played.said = {"web_2.p/a": (fails("no disk"),)}
    row = played.run([one])
    assert (row.status.value, row.reason) == ("completed", "")
    assert played.calls[-1] == "p/z db_1"


def test_f45_one_failure_more_stops_what_has_not_begun_and_lets_run_what_has() -> None:
    played, one = tolerant(1)
    played.said = {
        "web_1.p/a": (fails(takes_s=5),),
        "web_2.p/a": (fails(takes_s=9),),
        "web_3.p/a": (completes(takes_s=90),),
    }
    row = played.run([one])
    assert row.status.value == "failed"
    assert played.calls == ["p/a web_1", "p/a web_2", "p/a web_3"]
    graph = played.stage.store.graphs(row.number)[-1]
    statuses = played.stage.store.statuses(graph.id).tolist()
    assert (statuses.count(8), statuses.count(6), statuses.count(10) > 0) == (2, 1, True)


@pytest.mark.parametrize(("tolerance", "borne"), [("50%", 2), (-3, 1), (0, 0), (3, 3), (-4, 0), (None, 4)])
def test_f45_how_many_of_four_may_fail(tolerance: Value, borne: int) -> None:
    for failing in {borne, borne + 1} - {5}:
        played, one = tolerant(tolerance)
        played.said = {f"web_{number}.p/a": (fails(),) for number in range(1, failing + 1)}
        assert (played.run([one]).status.value == "completed") == (failing <= borne)


def test_f45_of_instances_in_no_group_none_may_fail() -> None:
    played = nodes(web=2)
    played.said = {"web_1.p/a": (fails("no"),)}
    row = played.run([granular(granular_task("a"), granular_task("b", requires=["a"]))])
    assert row.status.value == "failed"
    assert "p/b web_2" not in played.calls


def test_f45_a_retry_goes_on_with_what_failed_and_what_was_stopped() -> None:
    played, one = tolerant(0)
    played.said = {"web_1.p/a": (fails(),)}
    row = played.run([one])
    assert played.retry(row).status.value == "completed"
    assert "p/a web_1" in played.calls
    assert played.calls[-1] == "p/z db_1"


# -- F46 ----------------------------------------------------------------------------------------------------------------


def test_f46_tasks_of_both_files_run_together_stage_tasks_in_their_order_between_the_points() -> None:
    granular_ones = [
        granular_task("first", required_for=["pre_deployment_end"]),
        granular_task("deploying", requires=["deploy_start"], required_for=["deploy_end"]),
        granular_task(
            "last", requires=["post_deployment_start"], required_for=["post_deployment_end"], version="1.0.0"
        ),
    ]
    both = package(
        "p",
        granular="".join(granular_ones),
        tasks="".join(
            stage_task(f"{stage}_deployment/{number}")
            for stage, number in (("post", 2), ("pre", 5), ("post", 1), ("pre", 3))
        ),
    )
    played = Played(blueprint(node("web", create="cloud.make")))
    row = played.run([both])
    assert row.status.value == "completed"
    assert [call.partition(" ")[0] for call in played.calls] == [
        "p/first",
        "p#4",
        "p#2",
        "create",
        "p/deploying",
        "p/last",
        "p#3",
        "p#1",
    ]


def test_f46_a_stage_task_that_fails_stops_what_comes_behind_it() -> None:
    both = package("p", granular=granular_task("a", requires=["deploy_start"]), tasks=stage_task("pre_deployment"))
    played = nodes(web=1)
    played.said = {"p#1": (fails("no"),)}
    row = played.run([both])
    assert (row.status.value, row.reason) == ("failed", "no")
    assert played.calls == ["p#1 web_1"]


def test_the_old_form_with_a_stage_and_with_groups_of_tasks() -> None:
    tasks = [
        granular_task("front", kind="group", role=["web"], tasks=["a"], required_for=["deploy_end"]),
        granular_task("a", role=["db"], version="1.0.0"),
        granular_task("b", version="1.0.0", stage="post_deployment"),
        granular_task("c", version="1.0.0", stage="pre_deployment"),
    ]
    played = nodes(db=1, web=1)
    row = played.run([granular(*tasks)])
    assert row.status.value == "completed"
    assert [call.split()[0] for call in played.calls] == ["p/c", "p/c", "p/a", "p/a", "p/b", "p/b"]
