"""Updates and kept plans over real files and a real engine: what follows, what is refused, what is readable later (W60, W68)."""

from __future__ import annotations

from pathlib import Path

import pytest

import phaseline
from phaseline.app.app_context import SystemClock
from phaseline.app.watcher import NullWatcher
from phaseline.client.input_files import gather_inputs
from phaseline.embedded.follow import follow
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import Label
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.schedules import NEVER
from phaseline.use_cases.commands.apply_plan import apply_plan, delete_plan, list_plans, show_plan
from phaseline.use_cases.commands.keep_plan import plan_uninstall, plan_workflow
from phaseline.use_cases.commands.labels import change_labels
from phaseline.use_cases.commands.start_workflow import start as start_workflow
from phaseline.use_cases.commands.update import plan_update, update
from phaseline.use_cases.prepare.options import ExecutionOptions
from phaseline.use_cases.prepare.update_preparation import UpdateOrder, prepare_update
from phaseline.use_cases.prepare.workflow_start import WorkflowStart

HEAD = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
"""
ONE = (
    HEAD
    + """
description: first
inputs:
  port: {default: 8080}
  key: {default: abc, hidden: true}
plugins: {things: {executor: central_deployment_agent, install: false}}
labels: {tier: {values: [gold]}}
node_templates:
  db: {type: cloudify.nodes.Root, interfaces: {cloudify.interfaces.lifecycle: {create: things.things.run, stop: things.things.run}}}
  web:
    type: cloudify.nodes.WebServer
    properties: {port: {get_input: port}}
    interfaces: {cloudify.interfaces.lifecycle: {create: things.things.run, stop: things.things.run}}
    relationships: [{type: cloudify.relationships.depends_on, target: db}]
outputs: {port: {value: {get_input: port}}}
"""
)
TWO = (
    ONE.replace("first", "second")
    .replace("gold", "silver")
    .replace("  db:", "  cache:")
    .replace("target: db", "target: cache")
)
PLUGIN = """
from phaseline import operation

@operation
def run(item):
    pass

@operation
def mended(item):
    from pathlib import Path

    if not (Path(__file__).parent / "mended").exists():
        item.fail("not yet")

@operation
def only_five(item):
    if item.inputs["port"] != 5:
        item.fail("not with this port")
"""


@pytest.fixture
def shop(tmp_path: Path):
    for name, text in {"one.yaml": ONE, "two.yaml": TWO, "plugins/things.py": PLUGIN}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with phaseline.open("memory:") as nouns:
        place = nouns.ctx
        nouns.executions.install(str(tmp_path / "one.yaml"), "shop")
        yield place, tmp_path, nouns


def order(folder: Path, file: str, *inputs: str, **parameters) -> UpdateOrder:
    return UpdateOrder("shop", str(folder / file), gather_inputs((), inputs), None, parameters)


def problems(call) -> list[str]:
    with pytest.raises(ProblemsError) as caught:
        call()
    return [f"{problem.code} {problem.message}" for problem in caught.value.problems]


def test_w60_attributes_of_the_deployment_follow_and_inputs_stay_where_none_are_given(shop):
    place, folder, nouns = shop
    assert follow(place, update(place, order(folder, "two.yaml", "port=9090"))).is_good
    seen = nouns.deployments.show("shop")
    assert (seen.description, dict(seen.inputs)) == ("second", {"port": 9090, "key": "(hidden)"})
    assert dict(nouns.deployments.outputs("shop")) == {"port": 9090}
    assert sorted(seen.nodes) == ["cache", "web"]
    assert seen.status == "good"
    row = place.store.deployment("shop")
    assert {key: list(values) for key, values in place.store.blueprint(row.number).labels.items()} == {
        "tier": ["gold", "silver"]
    }
    assert [tuple(label) for label in place.store.labels.of(row.number)] == [("tier", "gold"), ("tier", "silver")]
    assert follow(place, update(place, order(folder, "two.yaml"))).is_good
    assert nouns.deployments.inputs("shop")["port"] == 9090


def test_w60_a_plan_says_steps_old_and_new_values_and_why_something_is_reinstalled(shop):
    place, folder, _ = shop
    found = plan_update(place, order(folder, "two.yaml", "port=9090", "key=xyz"))
    steps = {(step.kind, step.what, step.path): (step.old, step.new) for step in found.summary.differences}
    assert steps["changed", "input", "inputs.port"] == (8080, 9090)
    assert steps["changed", "input", "inputs.key"] == ("(hidden)", "(hidden)")
    assert steps["changed", "property", "nodes.web.properties.port"] == (8080, 9090)
    assert steps["changed", "description", "description"] == ("first", "second")
    assert ("added", "node", "nodes.cache") in steps
    assert ("removed", "node", "nodes.db") in steps
    signs = {node.name: (node.sign, node.reason) for node in found.summary.nodes}
    assert signs["db"] == ("-", "")
    assert signs["cache"] == ("+", "")
    assert signs["web"] == ("-/+", "it has none of the operations update, update_config and update_apply")
    assert [one.workflow for one in found.summary.rounds] == [
        "uninstall",
        "install",
        "uninstall again",
        "install again",
    ]
    assert [one.expected_s is None for one in found.summary.rounds] == [True, False, True, False]
    assert found.text.count("as long as before") == 2
    assert "~ port: 8080 -> 9090" in found.text
    assert "xyz" not in found.text
    assert [problem.code for problem in found.warnings] == ["PL-P044"]
    assert place.store.stored_plans.all() == []


def test_w60_a_new_value_of_a_hidden_input_is_a_change_of_the_nodes_that_take_it(shop):
    place, folder, _ = shop
    (folder / "taking.yaml").write_text(ONE.replace("port: {get_input: port}", "port: {get_input: key}"))
    follow(place, update(place, order(folder, "taking.yaml")))
    found = plan_update(place, order(folder, "taking.yaml", "key=other"))
    assert [(node.name, node.sign) for node in found.summary.nodes] == [("web", "-/+")]
    assert "takes an input that changes" in found.text


def test_w60_an_update_that_changes_type_is_refused_before_anything_changes(shop):
    place, folder, nouns = shop
    own = "node_types: {my.Web: {derived_from: cloudify.nodes.WebServer}}\nnode_templates:"
    (folder / "typed.yaml").write_text(
        ONE.replace("cloudify.nodes.WebServer", "my.Web").replace("node_templates:", own)
    )
    told = problems(lambda: follow(place, update(place, order(folder, "typed.yaml"))))
    assert told[0].startswith("PL-P041 'web' cannot be updated in place: its type changes")
    assert nouns.deployments.show("shop").latest_execution == "install-1"
    shown = plan_update(place, order(folder, "typed.yaml"))
    assert [(node.name, node.sign) for node in shown.summary.nodes] == [("web", "-/+")]
    assert "PL-P041" in [problem.code for problem in shown.warnings]
    assert follow(place, update(place, order(folder, "typed.yaml", allow_replace=True))).is_good


def test_wd18_a_replacement_needs_to_be_allowed_and_a_reinstall_does_not(shop):
    """Source document 3 has changed nodes without update operations reinstalled; the first line of the update says it (ADR 0031)."""
    place, folder, nouns = shop
    own = "node_types: {my.Web: {derived_from: cloudify.nodes.WebServer}}\nnode_templates:"
    typed = TWO.replace("cloudify.nodes.WebServer", "my.Web").replace("node_templates:", own)
    (folder / "typed.yaml").write_text(typed)
    shown = plan_update(place, order(folder, "typed.yaml"))
    assert list(shown.summary.replaced) == ["web"]
    assert shown.summary.reinstalled == {}
    assert "PL-P041" in [problem.code for problem in shown.warnings]

    class Hearing(NullWatcher):
        heard = ""

        def noticed(self, text: str) -> None:
            self.heard += text + "\n"

    hearing = Hearing()
    assert follow(place, update(place, order(folder, "one.yaml", "port=9090")), watcher=hearing).is_good
    assert "nodes: 1 to reinstall; see it whole: phaseline plans show plan-1" in hearing.heard
    kept = show_plan(place, "plan-1")
    assert list(kept.plan["reinstalled"]) == ["web"]
    assert kept.plan["replaced"] == {}
    assert [(one["name"], one["sign"], one["action"], one["again"]) for one in kept.plan["nodes"]] == [
        ("web", "-/+", "reinstall", 1)
    ]
    assert nouns.deployments.update("shop", str(folder / "typed.yaml"), parameters={"allow_replace": True}).is_good


def test_w60_renaming_everything_is_said_by_the_plan(shop):
    place, folder, _ = shop
    (folder / "renamed.yaml").write_text(
        ONE.replace("  db:", "  d2:").replace("target: db", "target: d2").replace("  web:", "  w2:")
    )
    found = plan_update(place, order(folder, "renamed.yaml"))
    assert [problem.code for problem in found.warnings] == ["PL-P044", "PL-P045"]
    assert "'db' -> 'd2', 'web' -> 'w2'" in found.text


def test_w60_every_update_keeps_its_plan_which_is_found_by_its_execution(shop):
    place, folder, _ = shop
    done = follow(place, update(place, order(folder, "two.yaml")))
    kept = show_plan(place, done.id)
    assert (kept.view.status, kept.view.execution, kept.view.workflow) == ("applied", done.id, "update")
    assert kept.plan["differences"][0]["kind"] in {"added", "removed", "changed"}
    assert "round 1 of" in kept.text
    assert problems(lambda: follow(place, apply_plan(place, kept.view.id)))[0].startswith("PL-C071")


def test_w60_a_kept_plan_is_applied_as_it_was_read(shop):
    place, folder, nouns = shop
    kept = plan_update(place, order(folder, "two.yaml", "port=7"), save=True)
    (folder / "two.yaml").write_text("not: a blueprint any more")
    assert [view.status for view in list_plans(place, "shop")] == ["waiting"]
    assert follow(place, apply_plan(place, kept.id)).is_good
    assert nouns.deployments.inputs("shop")["port"] == 7
    assert [view.status for view in list_plans(place)] == ["applied"]


def test_plans_of_any_workflow_are_refused_with_what_has_moved(shop):
    place, folder, nouns = shop
    kept = plan_workflow(place, WorkflowStart("reinstall", "shop"), save=True)
    gone = plan_uninstall(place, "shop", save=True)
    assert follow(place, apply_plan(place, kept.id)).is_good
    assert [view.status for view in list_plans(place)] == ["waiting", "applied"]
    nouns.executions.uninstall("shop")
    (told,) = problems(lambda: follow(place, apply_plan(place, gone.id)))
    assert told.startswith(f"PL-C072 {gone.id} cannot be applied: db_")
    assert "was started and is deleted" in told
    nouns.executions.start("install", "shop")
    other = plan_uninstall(place, "shop", save=True)
    follow(place, update(place, order(folder, "two.yaml", "port=1")))
    told = " ".join(problems(lambda: follow(place, apply_plan(place, other.id))))
    assert "another blueprint" in told
    assert "inputs have changed" in told
    assert "instances then" in told
    assert delete_plan(place, other.id).id == other.id
    assert problems(lambda: show_plan(place, other.id))[0].startswith("PL-C070")


def test_w68_inputs_that_an_update_changes_hold_for_what_a_canceled_execution_has_left(shop):
    """The operation fails with the old port; the update brings another one, and the retried execution goes on with it."""
    place, folder, nouns = shop
    starts = "start: {implementation: things.things.only_five, inputs: {port: {get_input: port}}}"
    failing = ONE.replace("stop: things.things.run", f"stop: things.things.run, {starts}", 2)
    (folder / "late.yaml").write_text(failing)
    done = nouns.executions.install(str(folder / "late.yaml"), "late", task_retries=0)
    assert done.status == "failed"
    fresh = UpdateOrder("late", str(folder / "late.yaml"), {"port": 5}, None, {"skip_reinstall": True})
    assert follow(place, update(place, fresh)).is_good
    assert nouns.executions.retry(done.id).is_good
    assert nouns.deployments.show("late").status == "good"


def test_sc10_the_schedules_of_a_deployment_are_those_of_its_new_blueprint(shop):
    place, folder, _ = shop

    def brought(*schedules: str) -> dict[str, object]:
        said = ", ".join(schedules)
        (folder / "timed.yaml").write_text(f"{ONE}deployment_settings: {{default_schedules: {{{said}}}}}\n")
        assert follow(place, update(place, order(folder, "timed.yaml"))).is_good
        row = place.store.deployment("shop")
        found = place.store.blueprint(row.number).deployment_settings["default_schedules"]
        return {name: one["recurrence"] for name, one in found.items()}

    nightly = "{workflow: install, since: '2031-1-1 7:00', recurrence: %s}"
    assert brought(f"a: {nightly % '1d'}", f"b: {nightly % '2d'}") == {"a": "1d", "b": "2d"}
    assert brought(f"b: {nightly % '3d'}", f"c: {nightly % '4d'}") == {"b": "3d", "c": "4d"}
    assert [row.name for row in place.store.schedules.all()] == ["b", "c"]
    back = plan_update(place, order(folder, "one.yaml")).summary.differences
    assert [one.path for one in back if one.what == "schedule"] == [
        "deployment_settings.default_schedules.b",
        "deployment_settings.default_schedules.c",
    ]


def test_sc10_a_schedule_that_a_user_has_changed_is_kept_with_a_warning(shop):
    place, folder, _ = shop
    text = f"{ONE}deployment_settings: {{default_schedules: {{a: {{workflow: install, since: '2031-1-1 7:00'}}}}}}\n"
    (folder / "timed.yaml").write_text(text)
    assert follow(place, update(place, order(folder, "timed.yaml"))).is_good
    (row,) = place.store.schedules.all()
    changed = place.store.schedules.change(row, altered(row.spec, slip_min=5), NEVER, place.actor)
    for file in ("one.yaml", "timed.yaml"):
        found = plan_update(place, order(folder, file)).warnings
        assert [problem.code for problem in found if problem.code == "PL-C145"] == ["PL-C145"]
        assert follow(place, update(place, order(folder, file))).is_good
        assert [*place.store.schedules.all()] == [changed]


def test_w60_a_schedule_counted_from_now_on_is_counted_anew_only_where_it_is_written_otherwise(shop):
    """An update days after the deployment was made brings the schedule; the next one has it as it is."""
    place, folder, _ = shop

    class Later(SystemClock):
        days = 3

        def now(self) -> int:
            return super().now() + self.days * 86_400_000

    place.app.clock = clock = Later()

    def settings(since: str) -> object:
        (folder / "timed.yaml").write_text(
            f"{ONE}deployment_settings: {{default_schedules: {{a: {{workflow: install, since: '{since}'}}}}}}\n"
        )
        found = prepare_update(place, order(folder, "timed.yaml"))
        assert follow(place, update(place, order(folder, "timed.yaml"))).is_good
        return found.aim.blueprint.deployment_settings["default_schedules"]["a"]["since"]

    first = settings("+1 mo")
    clock.days = 9
    assert settings("+1 mo") == first
    assert settings("+2 mo") > first


def test_issue_6_an_execution_names_its_plan_and_counts_what_a_retry_made_anew_once(shop):
    place, folder, nouns = shop
    assert nouns.executions.show(follow(place, update(place, order(folder, "two.yaml"))).id).plan == "plan-1"
    (folder / "shy.yaml").write_text(ONE.replace("create: things.things.run", "create: things.things.mended"))
    mended = folder / "plugins" / "mended"
    mended.touch()
    assert nouns.executions.install(str(folder / "shy.yaml"), "shy").is_good
    mended.unlink()
    start = WorkflowStart("scale", "shy", {"scalable_entity_name": "web"})
    failed = follow(place, start_workflow(place, start, manner=ExecutionOptions(task_retries=0)))
    assert (failed.status, failed.counts["failed"], failed.plan) == ("failed", 1, "")
    mended.touch()
    retried = nouns.executions.retry(failed.id)
    assert retried.is_good
    assert retried.counts["completed"] == 1
    assert "failed" not in retried.counts
    assert nouns.executions.show(failed.id).failures == []


def test_w60_a_failed_update_is_retried_where_it_was_or_another_one_takes_over_what_it_left(shop):
    place, folder, nouns = shop
    (folder / "sick.yaml").write_text(TWO.replace("create: things.things.run", "create: things.things.mended", 1))
    one = follow(place, update(place, order(folder, "sick.yaml"), manner=ExecutionOptions(task_retries=0)))
    assert one.status == "failed"
    assert nouns.deployments.show("shop").description == "second"
    other = follow(place, update(place, order(folder, "two.yaml")))
    assert other.is_good
    assert {item.node: item.state for item in nouns.instances.list().items} == {"cache": "started", "web": "started"}
    (folder / "back.yaml").write_text(ONE.replace("create: things.things.run", "create: things.things.mended", 1))
    sick = follow(place, update(place, order(folder, "back.yaml"), manner=ExecutionOptions(task_retries=0)))
    assert sick.status == "failed"
    (folder / "plugins/mended").touch()
    assert nouns.executions.retry(sick.id).is_good
    assert nouns.deployments.show("shop").status == "good"
    assert place.store.topology(place.store.deployment("shop").number).started is None


OWN = """
from phaseline.planning import Asked, Become, Call, InstanceState, Relate, Verdict, Walk, altered, settled, verdict, weave, workflow
import numpy as np

LIFE = "cloudify.interfaces.lifecycle."
told = []

@workflow()
def mine(topology, request, history, declare):
    asked = Asked(topology, request, history, declare)
    told.append(dict(request.parameters))

    def these(which):
        chosen = np.zeros(len(topology), bool)
        chosen[[topology.number_of[id] for id in request.parameters[which]]] = True
        return chosen

    if settled(history, "away") is None:
        untie = Relate("cloudify.interfaces.relationship_lifecycle.unlink")
        walk = Walk((Call(LIFE + "stop"), Become(InstanceState.STOPPED)), downwards=True, intact=(untie,))
        return weave(asked, "away", these("removed_instance_ids"), walk)
    done = settled(history, "here")
    if done is None:
        return weave(asked, "here", these("added_instance_ids"), Walk((Call(LIFE + "create"), Become(InstanceState.STARTED))))
    return verdict(history, done)
"""


def test_w60_with_workflow_id_that_workflow_takes_the_place_of_the_rounds_and_is_told_whom_it_concerns(shop):
    place, folder, nouns = shop
    (folder / "plugins" / "flows.py").write_text(OWN)
    mine = TWO + "workflows: {mine: things.flows.mine}\n"
    tied = "interfaces: {cloudify.interfaces.relationship_lifecycle: {unlink: things.things.run}}"
    types = (
        f"relationships: {{tie: {{derived_from: cloudify.relationships.depends_on, source_{tied}}}}}\nnode_templates:"
    )
    for name, text in {"tied.yaml": ONE, "mine.yaml": mine}.items():
        text = text.replace("type: cloudify.relationships.depends_on, target", "type: tie, target")
        (folder / name).write_text(text.replace("node_templates:", types))
    assert follow(place, update(place, order(folder, "tied.yaml"))).is_good
    old = {view.node: view.id for view in nouns.instances.list(deployment="shop").items}
    wanted = order(folder, "mine.yaml", workflow_id="mine")
    assert [one.workflow for one in plan_update(place, wanted).summary.rounds] == ["away", "here"]
    done = follow(place, update(place, wanted))
    assert done.is_good, done
    new = {view.node: (view.id, view.state) for view in nouns.instances.list(deployment="shop").items}
    assert {node: state for node, (_, state) in new.items()} == {"web": "started", "cache": "started"}
    calls = [line.text for line in nouns.executions.events(done.id).lines if line.text.startswith("Task started")]
    assert len(calls) == 3, "the old one is stopped, untied and the new one made"
    told = [line.text for line in nouns.executions.events(done.id).lines]
    assert "Starting operation cloudify.interfaces.lifecycle.create" in told
    row = place.store.deployment("shop")
    topology = place.store.topology(row.number)
    assert topology.started is None
    assert [link.is_cut for link in topology.links if topology.nodes[link.target].name == "db"] == [True, True]
    assert follow(place, update(place, order(folder, "one.yaml"))).is_good
    assert old["web"] == new["web"][0]


def test_w24_a_recursive_uninstall_takes_those_away_first_that_belong_to_it(shop):
    place, folder, nouns = shop
    for name, parent in (("child", "shop"), ("grandchild", "child"), ("stranger", "child")):
        assert nouns.executions.install(str(folder / "one.yaml"), name).is_good
        change_labels(place, name, add=[f"csys-obj-parent={parent}"])
    change_labels(place, "stranger", remove=["csys-obj-parent"])
    (top,) = (row for row in place.store.deployments() if row.name == "shop")
    place.store.labels.add(
        top.number, [Label("csys-obj-parent", "grandchild")]
    )  # a circle of an older store: each once
    warned = plan_workflow(place, WorkflowStart("uninstall", "shop", {"recursive": True}))
    assert "PL-P048 'grandchild', 'child' are uninstalled first" in str(
        list(map(str, warned.warnings or warned.summary.warnings))
    )
    assert nouns.executions.uninstall("shop", recursive=True).is_good
    rows = [row.deployment_name for row in place.store.executions() if row.request.workflow == "uninstall"]
    assert rows == ["grandchild", "child", "shop"]
    assert nouns.deployments.show("stranger").states == {"started": 2}


def test_w24_what_belongs_to_it_and_cannot_be_uninstalled_keeps_it(shop):
    place, folder, nouns = shop
    (folder / "shy.yaml").write_text(ONE.replace("stop: things.things.run", "stop: things.things.mended"))
    assert nouns.executions.install(str(folder / "shy.yaml"), "child").is_good
    change_labels(place, "child", add=["csys-obj-parent=shop"])
    done = nouns.executions.uninstall("shop", recursive=True, task_retries=0)
    assert (done.deployment, done.status) == ("child", "failed")
    assert nouns.deployments.show("shop").states == {"started": 2}
    assert nouns.executions.uninstall("shop", recursive=True, ignore_failure=True).deployment == "shop"


def test_w61_who_is_updated_is_told_of_before_and_after_it(shop):
    place, folder, nouns = shop
    (folder / "up.yaml").write_text(ONE.replace("stop: things.things.run", "update: things.things.run"))
    assert follow(place, update(place, order(folder, "up.yaml"))).is_good
    done = follow(place, update(place, order(folder, "up.yaml", "port=5")))
    told = [line.text for line in nouns.executions.events(done.id).lines if line.instance]
    assert (told[0], told[-1]) == ("Updating node instance", "Node instance updated")


def test_w60_with_auto_correct_types_texts_are_what_the_type_of_an_input_asks_for(shop):
    place, folder, nouns = shop
    (folder / "typed.yaml").write_text(ONE.replace("port: {default: 8080}", "port: {type: integer, default: 8080}"))
    assert problems(
        lambda: follow(place, update(place, UpdateOrder("shop", str(folder / "typed.yaml"), {"port": "77"})))
    )
    wanted = UpdateOrder("shop", str(folder / "typed.yaml"), {"port": "77"}, parameters={"auto_correct_types": True})
    assert follow(place, update(place, wanted)).is_good
    assert nouns.deployments.inputs("shop")["port"] == 77
    found = problems(lambda: follow(place, update(place, order(folder, "typed.yaml", reevaluate_active_statuses=True))))
    assert found[0].startswith("PL-P004")


def test_h20_a_failed_update_under_on_failure_rollback_is_back_where_it_was_and_can_be_tried_anew(shop):
    place, folder, nouns = shop
    sick = TWO.replace("create: things.things.run", "create: things.things.mended", 1)
    (folder / "sick.yaml").write_text(sick.replace("default: 8080", "default: 9"))
    assert follow(place, start_workflow(place, WorkflowStart("scale", "shop", {"scalable_entity_name": "web"}))).is_good
    manner = ExecutionOptions(task_retries=0, on_failure="rollback")
    done = follow(place, update(place, order(folder, "sick.yaml", "port=7"), manner=manner))
    assert (done.status, done.reason.endswith("brought back to what it was")) == ("failed", True)
    seen = nouns.deployments.show("shop")
    assert (seen.description, seen.inputs["port"], dict(seen.nodes)) == ("first", 8080, {"db": 1, "web": 2})
    assert seen.states == {"started": 3}
    (folder / "plugins" / "mended").touch()
    assert nouns.executions.retry(done.id).is_good
    seen = nouns.deployments.show("shop")
    assert (seen.description, seen.inputs["port"], dict(seen.nodes)) == ("second", 7, {"cache": 1, "web": 2})


def test_workflow_id_of_no_workflow_is_refused_as_all_bad_input_is(shop):
    place, folder, _ = shop
    assert problems(lambda: follow(place, update(place, order(folder, "two.yaml", reinstall_list=["db_x"]))))[
        0
    ].startswith("PL-P001")
    assert problems(lambda: follow(place, update(place, order(folder, "two.yaml", workflow_id="mine"))))[0].startswith(
        "PL-P009"
    )
    assert problems(lambda: follow(place, update(place, order(folder, "two.yaml", skip_instal=True))))[0].startswith(
        "PL-P004"
    )
    assert problems(lambda: follow(place, update(place, order(folder, "two.yaml", "prot=1"))))
    assert problems(lambda: follow(place, apply_plan(place, "plan-77")))[0].startswith("PL-C070")
