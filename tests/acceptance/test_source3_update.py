"""W60, W61: the update of source document 3, rehearsed: which calls are made in which order, and what is there in the end."""

from __future__ import annotations

import pytest

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.execution.pre_post import DeploymentCallKind, PinnedHookClass, PrePost
from phaseline.model.execution.stored_plans import PLAN
from phaseline.model.health.checks import CheckKind, CheckResult
from phaseline.testing import completes, fails, rehearse
from phaseline.testing.builders import blueprint, host, node, relationship, topology
from phaseline.testing.rehearsal import Stage
from phaseline.testing.scripted_executor import CallScript

LIFE = {"create": "x.create", "stop": "x.stop"}
TIED = {"establish": "net.tie", "unlink": "net.untie"}


def update(old, new, outcomes=None, crash_in=(), on_failure="continue", **parameters):
    return rehearse(
        old, "update", to=new, outcomes=outcomes, parameters=parameters, crash_in=crash_in, on_failure=on_failure
    )


def web(port=1, **operations):
    return node("web", properties={"port": port}, **{**LIFE, **operations})


def test_w60_an_update_to_the_same_blueprint_calls_nothing():
    found = update(blueprint(web()), blueprint(web()))
    assert (found.status, found.order) == ("completed", [])


def test_w60_who_goes_is_uninstalled_then_who_comes_is_installed():
    old = blueprint(node("db", **LIFE), node("web", to=["db"], **LIFE))
    new = blueprint(node("cache", **LIFE), node("web", to=["cache"], **LIFE))
    found = update(old, new)
    assert found.order == ["stop db_1", "create cache_1"]
    assert found.states == {"web_1": "started", "cache_1": "started"}


def test_w60_ties_between_those_who_stay_are_unlinked_and_established():
    old = blueprint(node("db"), node("cache"), node("web", relationship("db", source=TIED)))
    new = blueprint(node("db"), node("cache"), node("web", relationship("cache", source=TIED)))
    assert update(old, new).order == ["unlink web_1->db_1", "establish web_1->cache_1"]


def test_w60_skip_uninstall_and_skip_install_leave_both_alone():
    old, new = blueprint(node("db", **LIFE)), blueprint(node("cache", **LIFE))
    assert update(old, new, skip_uninstall=True).order == ["create cache_1"]
    found = update(old, new, skip_install=True)
    assert found.order == ["stop db_1"]
    assert found.states == {"cache_1": "uninitialized"}


def test_w61_changed_without_update_operations_is_reinstalled_with_what_it_contains():
    old = blueprint(web(), node("app", on="web", **LIFE))
    found = update(old, blueprint(web(port=2), node("app", on="web", **LIFE)))
    assert found.order == ["stop app_1", "stop web_1", "create web_1", "create app_1"]
    assert set(found.states.values()) == {"started"}


def test_w61_skip_reinstall_keeps_only_the_reinstall_list():
    old, new = blueprint(web(), node("db", **LIFE)), blueprint(web(port=2), node("db", **LIFE))
    assert update(old, new, skip_reinstall=True).order == []
    assert update(old, new, skip_reinstall=True, reinstall_list=["db_1"]).order == ["stop db_1", "create db_1"]


def test_w61_the_six_update_operations_run_in_their_order():
    names = ("preupdate", "update", "postupdate", "update_config", "update_apply", "update_postapply")
    operations = {name: f"x.{name}" for name in names}
    found = update(blueprint(web(**operations)), blueprint(web(port=2, **operations)))
    assert found.order == [f"{name} web_1" for name in names]


def test_w61_force_reinstall_updates_nobody():
    found = update(blueprint(web(update="x.u")), blueprint(web(port=2, update="x.u")), force_reinstall=True)
    assert found.order == ["stop web_1", "create web_1"]


def test_w61_who_fails_to_be_updated_is_reinstalled_and_holds_nobody_up():
    def app(port):
        return blueprint(web(port, update="x.u"), node("db", to=["web"], properties={"port": port}, update="x.u"))

    found = update(app(1), app(2), {"web.update": fails("no")})
    assert found.order == ["update web_1", "update db_1", "stop web_1", "create web_1"]
    assert found.status == "completed"


def checked(port=1, **more):
    return web(port, check_drift="x.drift", update="x.u", **more)


def test_w61_with_check_drift_the_check_decides():
    old, new = blueprint(checked()), blueprint(checked(2))
    assert update(old, new).order == ["check_drift web_1"]
    assert update(old, new, {"check_drift": completes(result={"port": 1})}).order == [
        "check_drift web_1",
        "update web_1",
    ]
    assert update(old, new, {"check_drift": fails("?")}).order == ["check_drift web_1", "stop web_1", "create web_1"]
    assert update(old, new, skip_drift_check=True).order == ["update web_1"]


def test_w61_who_drifted_without_a_change_of_the_blueprint_is_updated_too():
    same = blueprint(checked())
    found = update(same, same, {"check_drift": completes(result="other")})
    assert found.order == ["check_drift web_1", "update web_1"]


def test_w61_those_to_be_updated_are_checked_and_healed_first():
    old = blueprint(web(update="x.u", check_status="x.status", heal="x.heal"))
    new = blueprint(web(2, update="x.u", check_status="x.status", heal="x.heal"))
    assert update(old, new).order == ["check_status web_1", "update web_1"]
    sick = {"check_status": fails("sick")}
    assert update(old, new, sick).order == ["check_status web_1", "heal web_1", "update web_1"]
    worse = {**sick, "heal": fails("worse")}
    assert update(old, new, worse).order == ["check_status web_1", "heal web_1", "stop web_1", "create web_1"]
    assert update(old, new, worse, skip_heal=True).order == ["update web_1"]


def test_w61_who_has_no_check_is_updated_unless_assume_healthy_is_false():
    old, new = blueprint(web(update="x.u")), blueprint(web(2, update="x.u"))
    assert update(old, new).order == ["update web_1"]
    assert update(old, new, assume_healthy=False).order == ["stop web_1", "create web_1"]


def test_w61_a_relationship_whose_operations_change_is_updated_by_its_own_operation():
    def tie(name):
        return relationship("db", source={"establish": name, "update": "net.update"})

    old = blueprint(node("db"), node("web", tie("net.a")))
    new = blueprint(node("db"), node("web", tie("net.b")))
    assert update(old, new).order == ["update web_1->db_1"]


def test_wd18_what_cannot_change_as_it_stands_is_refused_naming_the_nodes_before_anything_changes():
    old = blueprint(host("vm"), node("web", on="vm", **LIFE), node("db", **LIFE))
    new = blueprint(host("vm"), node("web", **LIFE))
    found = update(old, new)
    assert (found.status, found.order) == ("failed", [])
    assert "PL-P041" in found.reason
    assert "'web' cannot be updated in place: its container changes" in found.reason
    assert found.states == {"vm_1": "started", "web_1": "started", "db_1": "started"}
    again = update(old, new, allow_replace=True)
    assert again.order == ["stop web_1", "stop db_1", "create web_1'"]
    assert again.states == {"vm_1": "started", "web_1'": "started"}


def test_w60_a_failure_before_the_new_blueprint_changes_nothing_and_one_after_it_is_told():
    old, new = blueprint(node("db", **LIFE), web()), blueprint(node("cache", **LIFE), web())
    found = update(old, new, {"stop": fails("held")})
    assert (found.status, list(found.states)) == ("failed", ["db_1", "web_1"])
    found = update(old, new, {"cache.create": fails("no room")})
    assert (found.status, found.states) == ("failed", {"web_1": "started", "cache_1": "creating"})


def mixed(port=1, *others):
    """``web`` is changed by its update, ``vm`` by a reinstall with what it contains."""
    return blueprint(
        web(port, update="x.u"),
        node("vm", properties={"size": port}, **LIFE),
        node("app", on="vm", **LIFE),
        *others,
    )


BACK_CASES = {
    "who comes": {"new.create": fails("no room")},
    "a reinstall": {"app.create": [fails("no"), completes()]},
    "who goes": {"old.stop": [fails("held"), completes()]},
}


@pytest.mark.parametrize("case", BACK_CASES)
def test_h20_an_update_that_fails_is_brought_back_to_what_there_was(case):
    gone = (node("old", **LIFE), node("older", **LIFE))
    found = update(mixed(1, *gone), mixed(2, node("new", **LIFE)), BACK_CASES[case], on_failure="rollback")
    assert found.status == "failed"
    assert found.reason.endswith("; the deployment was brought back to what it was")
    names = {id.rstrip("'"): state for id, state in found.states.items()}
    assert names == dict.fromkeys(["web_1", "vm_1", "app_1", "old_1", "older_1"], "started")


def test_h20_who_was_not_touched_yet_is_left_alone_on_the_way_back():
    found = update(mixed(1), mixed(2, node("new", **LIFE)), {"new.create": fails("no room")}, on_failure="rollback")
    assert found.order == ["create new_1", "stop new_1"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"new.create": (fails("no room"),)}, ["before", "failed", "before", "completed"]),
        ({"new.create": (fails("no room"),), "new.stop": (fails("held"),)}, ["before", "failed", "before", "failed"]),
    ],
)
def test_h20_hooks_are_told_of_the_failure_and_then_of_the_way_back_as_an_action_of_its_own(said, told):
    hook = PinnedHookClass("A", "house.hooks:A", "UPDATE")
    stage = Stage(topology(mixed(1)), {}, lambda _: Declaration(repeatable=True))
    stage.play(Request("install"), CallScript({}, frozenset(), 0))
    number = stage.aim_at(mixed(2, node("new", **LIFE)), RetryPolicy(0))
    request = Request("update", {PLAN: number}, RetryPolicy(0), take_back=True)
    row = stage.play(request, CallScript(said, frozenset(), 0), PrePost((hook,), (hook,)))
    graphs = [stage.store.graph(known.id) for known in stage.store.graphs(row.number)]
    asked = [(step.phase, graph.subject[step.first]) for graph in graphs for step in graph.steps]
    assert row.status.value == "failed"
    assert [DeploymentCallKind(int(why)).word for phase, why in asked if phase.startswith("hooks.")] == told


@pytest.mark.parametrize("call", range(1, 15))
def test_h20_bringing_back_survives_a_crash_in_any_call(call):
    old, new = mixed(1, node("old", **LIFE)), mixed(2, node("new", **LIFE))
    said = {"app.create": [fails("no"), completes()]}
    found = update(old, new, said, on_failure="rollback", crash_in=[call])
    names = {id.rstrip("'"): state for id, state in found.states.items()}
    is_back = found.status == "failed"
    assert found.crashes == 1
    assert is_back or call == 7, "the failure itself is lost with the engine that it was told to"
    assert names == dict.fromkeys(["web_1", "vm_1", "app_1", "old_1" if is_back else "new_1"], "started")


def test_w61_the_drift_is_gone_when_the_last_of_the_operations_went_well():
    """The engine dies in the second of two, which may not be repeated: nobody can say yet that nothing has drifted."""

    def app(port):
        return blueprint(web(port, check_drift="x.drift", update="x.u", update_config="x.c"))

    def played(crash_in):
        stage = Stage(topology(app(1)), {}, lambda _: Declaration(repeatable=False))
        stage.play(Request("install"), CallScript({}, frozenset(), 0))
        said = CallScript({"check_drift": (completes(result="port"),)}, frozenset(crash_in), 0)
        row = stage.play(Request("update", {PLAN: stage.aim_at(app(2), RetryPolicy(0))}), said)
        return row.status.value, stage.store.checks(stage.deployment).checks.of(CheckKind.DRIFT, 0)

    assert played([]) == ("completed", CheckResult.GOOD)
    assert played([3]) == ("attention", CheckResult.DRIFTED)


@pytest.mark.parametrize("call", range(1, 9))
def test_w8_an_update_whose_engine_dies_in_any_call_ends_as_if_it_had_not(call):
    tied = relationship("db", source=TIED)
    old = blueprint(node("db", **LIFE), node("old", **LIFE), checked(), node("w2", tied, properties={"a": 1}, **LIFE))
    new = blueprint(node("db", **LIFE), node("new", **LIFE), checked(2), node("w2", tied, properties={"a": 2}, **LIFE))
    said = {"check_drift": completes(result="port")}
    plain, broken = update(old, new, said), update(old, new, said, crash_in=[call])
    assert broken.crashes == 1
    assert (broken.status, broken.states) == (plain.status, plain.states)
    assert [name for name in plain.order if name not in broken.order] == []
    assert len(broken.order) == len(plain.order) + 1
