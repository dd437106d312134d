"""On whom tasks of packages run: roles, and what is new in a scale, an update or a heal (F19, F28; spec 6 and 10)."""

from __future__ import annotations

import pytest
from tests.acceptance.source4_packages import ONCE, Played, granular_task, package, stage_task, stages_of

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Blueprint, Value
from phaseline.model.blueprint.groups import NodeGroup
from phaseline.model.execution.execution import Request
from phaseline.model.execution.pre_post import PrePost
from phaseline.model.packages.package import Roles
from phaseline.model.rows.rows import NewExecution
from phaseline.plan.stages.role_masks import RoleMasks
from phaseline.run.loop.engine import Engine
from phaseline.testing.builders import blueprint, node, scaled, topology
from phaseline.testing.rehearsal import DIRECTOR
from phaseline.testing.scripted_executor import fails

POST = "post_deployment"
SERVER = ("house.Server",)
LABELLED: dict[str, Value] = {"labels": {"role": ["controller", "storage"]}}


def application(**counts: int) -> Blueprint:
    """``db`` and ``web`` with a create operation each."""
    count = {"db": 1, "web": 2, **counts}
    return blueprint(*(node(name, create="cloud.make", instances=many) for name, many in count.items()))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["web"], ["web_1", "web_2"]),
        (["house.Server"], ["db_1", "db_2", "ctl_1"]),
        (["cloudify.nodes.Root"], ["db_1", "db_2", "web_1", "web_2", "ctl_1"]),
        (["controller"], ["ctl_1"]),
        (["front"], ["web_1", "web_2", "db_1", "db_2"]),
        (["primary-db"], ["db_1"]),
        (["primary-house.Server", "web"], ["db_1", "web_1", "web_2"]),
        (["primary-front"], ["db_1"]),
        (["nobody", "primary-nobody"], []),
    ],
)
def test_a_role_is_a_node_a_type_a_label_or_a_group(names: list[str], expected: list[str]) -> None:
    ctl = node("ctl", types=SERVER, properties=LABELLED)
    app = blueprint(node("db", types=SERVER, instances=2), node("web", instances=2), ctl)
    groups = {"front": NodeGroup("front", ("web", "back")), "back": NodeGroup("back", ("db",))}
    found = topology(altered(app, groups=groups))
    mask = RoleMasks(found).of(Roles(tuple(names)))
    assert sorted(found.ids[number] for number in mask.nonzero()[0]) == sorted(expected)


def test_the_name_of_a_node_counts_more_than_a_label_and_patterns_fit_from_the_beginning() -> None:
    found = topology(blueprint(node("controller"), node("web", properties=LABELLED)))
    masks = RoleMasks(found)
    assert masks.of(Roles(("controller",))).tolist() == [True, False]
    assert masks.of(Roles(patterns=("(primary-)?we",))).tolist() == [False, True]
    assert masks.of(Roles(patterns=("eb",))).tolist() == [False, False]
    assert masks.of(Roles(scope="all")).tolist() == [True, True]
    assert masks.of(Roles(scope="master")).tolist() == [False, False]


def test_f19_a_role_that_has_a_primary_leaves_it_out_and_the_primary_one_stays_while_it_lives() -> None:
    found = topology(blueprint(node("ctl", properties=LABELLED, instances=3)))
    masks = RoleMasks(found, frozenset({"controller"}))
    assert masks.of(Roles(("controller",))).tolist() == [False, True, True]
    assert masks.of(Roles(("primary-controller",))).tolist() == [True, False, False]
    assert masks.of(Roles(("storage",))).tolist() == [True, True, True]
    more = RoleMasks(scaled(found, ctl=5), frozenset({"controller"}))
    assert more.of(Roles(("primary-controller",))).nonzero()[0].tolist() == [0]


def test_f19_in_the_first_format_a_role_means_its_primary_instance_as_well() -> None:
    roles = "controller: {name: Controller, description: c, has_primary: true}\n"
    brings = package("roles", granular=granular_task("x", kind="skipped"), node_roles=roles)
    old = altered(package("old", tasks=stage_task(POST, role="[controller]")), format="1.0.0")
    tasks = {task.origin.plugin: task for task in stages_of([old, brings])}
    assert stages_of([old, brings]).split == {"controller"}
    assert tasks["old"].roles.names == ("controller", "primary-controller")


def test_a_task_for_the_master_runs_once_on_no_instance_and_only_where_that_is_allowed() -> None:
    one = package("a", tasks=stage_task(POST, role="master"))
    (off,) = stages_of([one])
    assert off.skipped.startswith("tasks of the role master are off")
    played = Played(application())
    assert played.run([one]).status.value == "completed"
    assert played.tasks == []
    assert played.run([one], allows_master=True).status.value == "completed"
    assert [call.instances for call in played.script.calls if call.operation == "a#1"] == [("rehearsal",)]


@pytest.fixture
def installed() -> Played:
    played = Played(application())
    played.run([])
    return played


EVERYWHERE = package(
    "a", tasks=stage_task("pre_deployment") + stage_task(POST) + stage_task(POST, reexecute_on=["deploy_changes"])
)


def called(played: Played) -> list[str]:
    """The calls, with ids that tests can spell."""
    spelled = {
        id: f"{played.now.nodes[played.now.node[number]].name}_{played.now.index[number]}"
        for number, id in enumerate(played.now.ids)
    }
    return [f"{call.operation} {spelled[call.instances[0]]}" for call in played.script.calls]


def test_a_scale_out_runs_tasks_on_what_is_new_and_on_all_those_that_run_again(installed: Played) -> None:
    row = installed.run([EVERYWHERE], "scale", scalable_entity_name="web", delta=1)
    assert row.status.value == "completed"
    assert called(installed) == [
        "a#1 web_3", "create web_3", "a#2 web_3",
        "a#3 db_1", "a#3 web_1", "a#3 web_2", "a#3 web_3",
    ]  # fmt: skip
    assert installed.graphs(row) == [
        "begin web",
        "stage pre_deployment",
        "install web",
        "stage post_deployment",
        "finish web",
    ]


def test_two_scales_of_which_each_alone_is_within_the_limits_of_a_role_are_not_both_done(installed: Played) -> None:
    role = "web: {name: Web, description: x, limits: {max: 3}}\n"
    limited = package("lma", node_roles=role, number=3, tasks="[]")
    assert installed.run([limited], "scale", scalable_entity_name="web", delta=1).status.value == "completed"
    row = installed.run([limited], "scale", scalable_entity_name="web", delta=1)  # as one that waited for the other
    assert (row.status.value, called(installed), installed.graphs(row)) == ("failed", [], [])
    assert "4 instances have the role 'web' of lma-1.0.0, at most 3 may" in row.reason


def test_a_scale_in_runs_only_tasks_that_run_again(installed: Played) -> None:
    row = installed.run([EVERYWHERE], "scale", scalable_entity_name="web", delta=-1)
    assert row.status.value == "completed"
    assert {call.split()[0] for call in called(installed)} - {"stop", "delete"} == {"a#3"}


def test_a_failed_task_keeps_a_scale_under_way_and_a_retry_ends_it(installed: Played) -> None:
    installed.said = {"a#2": (fails("no"),)}
    row = installed.run([EVERYWHERE], "scale", scalable_entity_name="web", delta=1)
    assert (row.status.value, row.reason) == ("failed", "no")
    assert installed.retry(row).status.value == "completed"
    assert [call.split()[0] for call in called(installed)] == ["a#2", "a#3", "a#3", "a#3", "a#3"]
    assert installed.now.started is None


def test_an_update_runs_tasks_on_what_comes_and_what_changes(installed: Played) -> None:
    to = blueprint(
        node("db", create="cloud.make"),
        node("web", create="cloud.make", instances=2, properties={"port": 81}),
        node("cache", create="cloud.make"),
    )
    row = installed.run([EVERYWHERE], "update", plan=installed.stage.aim_at(to, ONCE))
    assert row.status.value == "completed"
    told = called(installed)
    assert told[:3] == ["a#1 web_1", "a#1 web_2", "a#1 cache_1"]
    assert "create cache_1" in told
    assert told[-7:-4] == ["a#2 web_1", "a#2 web_2", "a#2 cache_1"]
    assert sorted(told[-4:]) == ["a#3 cache_1", "a#3 db_1", "a#3 web_1", "a#3 web_2"]


def test_a_heal_of_one_instance_runs_tasks_on_it_alone(installed: Played) -> None:
    one = installed.now.ids[1]
    row = installed.run([package("a", "pre_deployment", POST)], "heal", node_instance_id=one)
    assert row.status.value == "completed"
    assert {call.split()[1] for call in called(installed) if "#" in call} == {"web_1"}


def test_a_heal_of_everything_runs_tasks_only_on_those_that_it_heals() -> None:
    checked = node("web", create="cloud.make", check_status="cloud.check", instances=2)
    found = Played(blueprint(node("db", create="cloud.make", check_status="cloud.check"), checked, node("etc")))
    assert found.run([]).status.value == "completed"
    found.said = {}
    row = found.run([package("a", "pre_deployment", POST)], "heal", assume_healthy=True)
    assert (row.status.value, found.tasks) == ("completed", [])

    found.said = {"check_status": (fails("down"),)}
    row = found.run([package("a", "pre_deployment", POST)], "heal", assume_healthy=True)
    assert row.status.value == "completed"
    done = called(found)
    assert {call.split()[1] for call in done if "#" in call} == {"web_1", "web_2", "db_1"}
    order = [call.split()[0] for call in done]
    assert order.index("a#1") > max(at for at, name in enumerate(order) if "check" in name), "checks say who is healed"


def test_no_task_runs_for_an_uninstall(installed: Played) -> None:
    assert installed.run([EVERYWHERE], "uninstall").status.value == "completed"
    assert installed.tasks == []


def test_tasks_that_fail_before_the_body_leave_it_alone() -> None:
    played = Played(application())
    played.said = {"a#1": (fails("not yet"),)}
    row = played.run([EVERYWHERE])
    assert (row.status.value, row.reason) == ("failed", "not yet; not yet; not yet")
    assert {call.split()[0] for call in called(played)} == {"a#1"}
    assert played.retry(row).status.value == "completed"
    assert [call for call in called(played) if "a#1" in call] == ["a#1 db_1", "a#1 web_1", "a#1 web_2"]


def test_after_a_cancel_no_further_task_runs() -> None:
    played = Played(application())

    def cancel_in_the_first_task(engine: Engine) -> None:
        engine.submit(row)
        engine.executor.deliver()
        engine.turn()
        engine.cancel(row.number)

    around = PrePost(stages=stages_of([EVERYWHERE]))
    request = Request("install", retries=ONCE)
    row = played.stage.store.create_execution(NewExecution(played.stage.deployment, request, DIRECTOR, 0, around))
    ended = played.stage.carry_on(row, played.script, cancel_in_the_first_task)
    assert ended.status.value == "canceled"
    assert called(played) == ["a#1 db_1", "a#1 web_1", "a#1 web_2"]


def test_an_operation_of_the_instances_is_called_where_it_is_mapped() -> None:
    app = blueprint(node("db"), node("web", instances=2, **{"house.backup.save": "cloud.save"}))
    native = "- role: '*'\n  stage: post_deployment\n  type: operation\n  parameters: {operation: house.backup.save, timeout: 60}\n"
    played = Played(app)
    assert played.run([package("a", tasks=native, number=10)]).status.value == "completed"
    assert [call.split()[1] for call in played.calls if call.startswith("save")] == ["web_1", "web_2"]
