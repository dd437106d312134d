"""Check_status and check_drift (W46), and what is remembered of them (W32, W33), rule by rule."""

from __future__ import annotations

import numpy as np
import pytest
from tests.plan.naive import World

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import History, Request, Round
from phaseline.model.health.checks import CheckKind, CheckResult, CheckResults, HeldBodies, NewCheckResults
from phaseline.model.health.system_properties import system_properties
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import blueprint, node, relationship, topology
from phaseline.testing.rehearsal import Stage, completes, fails, rehearse, retries, sleeps
from phaseline.testing.scripted_executor import CallScript

BOTH = {"source": {"check_drift": "p.s"}, "to": {"check_drift": "p.t"}}


def world_of(*nodes):
    return World.fresh(topology(blueprint(*nodes)), State.STARTED)


def status_of(world, id):
    return CheckResult(world.book.checks.of(CheckKind.STATUS, world.topology.number_of[id])).name


# check_status


def test_w46_check_status_calls_each_once_and_fails_with_the_first_check_that_fails():
    app = blueprint(node("web", to=["db"], check_status="p.s"), node("db", check_status="p.s"), node("lb"))
    played = rehearse(app, "check_status", outcomes={"db.check_status": retries("no answer")})
    assert (played.status, played.reason) == ("failed", "1 operation failed")
    assert played.order == ["check_status db_1", "check_status web_1"]


def test_w46_the_results_of_check_status_are_those_of_heal():
    world = world_of(node("web", check_status="p.s"), node("db", check_status="p.s"), node("lb"))
    world.run("check_status", fails=lambda line: line.endswith("db_1"))
    assert [status_of(world, id) for id in ("web_1", "db_1", "lb_1")] == ["GOOD", "FAILED", "UNKNOWN"]


def test_w46_in_dependency_order_only_where_it_is_asked_for():
    nodes = node("web", to=["db"], check_status="p.s"), node("db", check_status="p.s")
    world = world_of(*nodes)
    world.run("check_status", run_by_dependency_order=True, fails=lambda line: line.endswith("db_1"))
    assert world.calls == ["validation.check_status db_1"]
    world = world_of(*nodes)
    world.run("check_status", fails=lambda line: line.endswith("db_1"))
    assert len(world.calls) == 2


def test_w46_the_filters_choose_and_nobody_is_no_failure():
    world = world_of(node("web", check_status="p.s"), node("db", check_status="p.s"), node("lb"))
    world.run("check_status", node_ids=["web"])
    assert world.calls == ["validation.check_status web_1"]
    verdict = world.run("check_status", node_ids=["lb"])
    assert verdict.reason.startswith("no chosen instance that is there has an operation 'check_status'")


def test_w46_nothing_is_called_on_what_is_not_there():
    world = world_of(node("web", check_status="p.s", instances=3))
    world.states[:] = [State.UNINITIALIZED, State.DELETED, State.CREATING]
    world.run("check_status")
    assert world.calls == ["validation.check_status web_3"]


@pytest.mark.parametrize("workflow", ["check_status", "check_drift"])
def test_w7_a_check_that_is_canceled_before_it_began(workflow):
    built = topology(blueprint(node("web", check_status="p.s", check_drift="p.d")))
    history = History(np.full(1, State.STARTED, np.uint8), canceled=True)
    assert PLANNERS[workflow](built, Request(workflow), history, lambda _: Declaration()).status.value == "canceled"
    settled = History(history.states, (Round(workflow, 0, {"unsure": 1}),))
    assert PLANNERS[workflow](built, Request(workflow), settled, lambda _: Declaration()).status.value == "attention"


# check_drift


def test_w46_drift_is_checked_on_the_instance_and_then_on_both_sides_of_its_relationships():
    world = world_of(node("web", relationship("db", **BOTH), check_drift="p.d"), node("db", check_drift="p.d"))
    world.drifted = frozenset({"check_drift web_1>db_1:target", "check_drift db_1"})
    verdict = world.run("check_drift")
    assert (verdict.status.value, world.place("check_drift db_1") < world.place("check_drift web_1")) == (
        "completed",
        True,
    )
    assert world.place("check_drift web_1") < world.place("check_drift web_1>db_1:source")
    checks = world.book.checks
    numbers = world.topology.number_of
    assert checks.of(CheckKind.DRIFT, numbers["db_1"]) == CheckResult.DRIFTED
    assert checks.of(CheckKind.DRIFT, numbers["web_1"]) == CheckResult.GOOD
    assert checks.of(CheckKind.SOURCE_DRIFT, 0) == CheckResult.GOOD
    assert checks.of(CheckKind.TARGET_DRIFT, 0) == CheckResult.DRIFTED


def test_w46_a_check_that_raises_fails_the_workflow_and_says_nothing_about_drift():
    world = world_of(node("web", check_drift="p.d"), node("db", relationship("web", source={"check_drift": "p.s"})))
    verdict = world.run("check_drift", fails=lambda line: line == "check_drift web_1", run_by_dependency_order=False)
    assert verdict.status.value == "failed"
    assert world.book.checks.of(CheckKind.DRIFT, world.topology.number_of["web_1"]) == CheckResult.FAILED
    assert world.book.checks.of(CheckKind.SOURCE_DRIFT, 0) == CheckResult.GOOD


def test_w46_nobody_with_such_a_check_is_no_failure():
    assert world_of(node("web")).run("check_drift").status.value == "completed"


# what is remembered


def play(app, workflow, table, **parameters):
    """The stage after a workflow: results are what its store holds."""
    stage = Stage(topology(app), {}, lambda _: Declaration(repeatable=True))
    stage.play(Request("install"), CallScript({}, frozenset(), 0))
    script = CallScript({key: tuple(said) for key, said in table.items()}, frozenset(parameters.pop("crash_in", ())), 0)
    row = stage.play(Request(workflow, parameters), script)
    return stage, row


def seen(stage, id):
    built = stage.store.topology(stage.deployment)
    number = built.number_of[id]
    state = int(stage.store.states(stage.deployment)[number])
    named = {row.number: row.id for row in stage.store.executions(stage.deployment)}
    return system_properties(stage.store.checks(stage.deployment), built, number, state, named.__getitem__)


def test_w32_what_a_check_returned_and_what_it_raised_are_remembered_with_time_and_task():
    app = blueprint(node("web", check_status="p.s"), node("db", check_status="p.s"))
    stage, _ = play(
        app,
        "check_status",
        {"web.check_status": [completes(result={"pid": 7})], "db.check_status": [fails("no answer")]},
    )
    web, db = seen(stage, "web_1")["status"], seen(stage, "db_1")["status"]
    assert (web["ok"], web["result"], web["task"]) == (True, {"pid": 7}, "check_status-2")
    assert (db["ok"], db["result"], db["timestamp"][:4]) == (False, "no answer", "2023")
    assert "previous_status" not in seen(stage, "db_1")


def test_w32_a_check_that_asks_to_be_called_again_has_found_nothing_yet():
    app = blueprint(node("web", check_status="p.s"))
    stage, _ = play(app, "check_status", {"web.check_status": [sleeps(30), completes(result=1)]})
    assert seen(stage, "web_1")["status"]["result"] == 1
    assert "previous_status" not in seen(stage, "web_1")


def test_w32_after_a_crash_the_check_is_made_again_and_remembered_once():
    app = blueprint(node("web", check_status="p.s", instances=3))
    stage, row = play(app, "check_status", {"web_2.check_status": [fails("down"), fails("down")]}, crash_in=[2])
    assert (row.status.value, stage.crashes) == ("failed", 1)
    assert [seen(stage, f"web_{number}")["status"]["ok"] for number in (1, 2, 3)] == [True, False, True]
    assert "previous_status" not in seen(stage, "web_1")


def test_w46_drifts_of_relationships_stand_at_both_ends():
    app = blueprint(node("web", relationship("db", **BOTH)), node("db", check_drift="p.d"))
    full = "cloudify.interfaces.relationship_lifecycle.check_drift"
    table = {f"web_1.{full}": [completes(result="port")], f"db_1.{full}": [fails("gone")]}
    stage, row = play(app, "check_drift", table)
    assert row.status.value == "failed"
    web, db = seen(stage, "web_1"), seen(stage, "db_1")
    assert web["source_relationships_configuration_drift"]["db_1"]["result"] == "port"
    told = db["target_relationships_configuration_drift"]["web_1"]
    assert (told["ok"], told["result"]) == (False, "gone")
    assert (db["configuration_drift"]["ok"], db["configuration_drift"]["result"]) == (True, None)


def test_w26_the_operation_executed_by_name_is_a_check_as_well():
    app = blueprint(node("web", check_status="p.s"))
    stage, _ = play(app, "execute_operation", {}, operation="cloudify.interfaces.validation.check_status")
    assert seen(stage, "web_1")["status"]["task"] == "execute_operation-2"


def test_w33_who_is_started_and_was_not_checked_is_implicitly_well():
    stage, _ = play(blueprint(node("web", start="p.s")), "check_status", {})
    assert seen(stage, "web_1") == {"status": {"ok": True, "timestamp": None, "task": None, "result": None}}


@pytest.mark.parametrize("count", [1, 999, 1_000, 1_001, 5_000])
def test_a_book_of_any_size_says_what_was_recorded_last(count):
    book = CheckResults(HeldBodies())
    everyone = np.arange(count, dtype=np.int32)
    for time, result in ((1, CheckResult.FAILED), (2, CheckResult.GOOD)):
        results = np.full(count, result, np.uint8)
        book.record(NewCheckResults(1, CheckKind.STATUS, everyone, results, time, time, {count - 1: f"said {time}"}))
    assert set(book.checks.column(CheckKind.STATUS, count).tolist()) == {CheckResult.GOOD}
    assert set(book.checks.column(CheckKind.PREVIOUS_STATUS, count).tolist()) == {CheckResult.FAILED}
    assert dict(book.bodies) == {
        (CheckKind.STATUS, count - 1): "said 2",
        (CheckKind.PREVIOUS_STATUS, count - 1): "said 1",
    }
    assert book.checks.column(CheckKind.STATUS, count + 7)[count:].tolist() == [0] * 7


def test_w32_who_vouches_for_a_check_of_which_nobody_knows_says_that_it_has_found_nothing():
    app = blueprint(node("web", check_status="p.s", stop="p.o", create="p.c"))
    stage = Stage(topology(app), {}, lambda _: Declaration())
    stage.play(Request("install"), CallScript({}, frozenset(), 0))
    script = CallScript({}, frozenset([1]), 0)
    row = stage.play(Request("heal"), script)
    assert (row.status.value, seen(stage, "web_1")["status"]["task"]) == ("attention", None)
    engine, plugins = stage._begin(script)
    engine.recover()
    (graph,) = stage.store.graphs(row.number)
    engine.complete(row, graph.id, np.array([0], np.int32), reason="looked", actor="ann")
    plugins.deliver()
    engine.turn()
    assert stage.store.execution(row.id).reason == "every instance is healthy, so there was nothing to heal"
    told = seen(stage, "web_1")["status"]
    assert (told["ok"], told["task"]) == (True, row.id)
