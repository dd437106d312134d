"""Heal (W30-W37, W64, W65, W67, WD3-WD6, decisions 16 and 17), rule by rule; first the example of the source document."""

from __future__ import annotations

import numpy as np
import pytest
from tests.plan.naive import World

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import History, Request, Round
from phaseline.model.health.checks import CheckKind, CheckResult
from phaseline.plan.explain.cloudify_events import narrate
from phaseline.plan.requests.request_validation import check, warnings
from phaseline.plan.rounds.round_preview import foresee, preview_warnings
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import CONTAINED_IN, blueprint, host, node, relationship, topology
from phaseline.testing.rehearsal import fails, rehearse, retries

LIFE = {"create": "p.c", "configure": "p.f", "start": "p.s", "stop": "p.o", "delete": "p.d"}
HEALS = {"preheal": "p.1", "heal": "p.2", "postheal": "p.3"}
TIES = {"preconfigure": "p.1", "postconfigure": "p.2", "establish": "p.3", "unlink": "p.4"}


def example():
    """The blueprint of the source document; every relationship has operations, so that re-establishing can be seen."""
    both = {"check_status": "p.check", **LIFE}
    return (
        host("webserver_host", relationship("floating_ip", source=TIES), heal="p.2", **both),
        node("webserver", relationship("webserver_host", CONTAINED_IN, source=TIES), heal="p.2", **both),
        node(
            "module",
            relationship("webserver", CONTAINED_IN, source=TIES),
            relationship("database", source=TIES),
            **LIFE,
        ),
        node("database", heal="p.2", **both),
        node("floating_ip", **both),
    )


def fails_as_in_the_example(line):
    return line in {
        "validation.check_status webserver_host_1",
        "validation.check_status webserver_1",
        "validation.check_status database_1",
        "heal webserver_1",
        "heal database_1",
    }


def world_of(*nodes, **states):
    """All started, but for ``web_1="stopped"`` and so on."""
    world = World.fresh(topology(blueprint(*nodes)), State.STARTED)
    for id, state in states.items():
        world.states[world.topology.number_of[id]] = State[state.upper()]
    return world


def reinstalled(world):
    """The instances that were stopped, and created anew afterwards."""
    again = {id for id in world.topology.ids if f"create {id}" in world.lines}
    assert all(world.place(f"stop {id}") < world.place(f"create {id}") for id in again if f"stop {id}" in world.lines)
    return again


def asked(*nodes, rounds=(), canceled=False, attempt=0, **parameters):
    built = topology(blueprint(*nodes))
    history = History(np.full(len(built), State.STARTED, np.uint8), tuple(rounds), canceled, attempt)
    return PLANNERS["heal"](built, Request("heal", parameters), history, lambda _: Declaration())


# The example of the source document, node by node.


@pytest.fixture
def healed():
    world = world_of(*example())
    world.verdict = world.run("heal", fails=fails_as_in_the_example)
    return world


def test_w37_example_webserver_host_fails_its_check_so_it_is_healed(healed):
    assert "heal webserver_host_1" in healed.lines
    assert "webserver_host_1" not in reinstalled(healed)
    assert healed.verdict.status.value == "completed"


def test_w37_example_webserver_fails_its_check_and_its_heal_so_it_is_reinstalled(healed):
    assert healed.place("heal webserver_1") < healed.place("stop webserver_1")
    assert "webserver_1" in reinstalled(healed)


def test_w37_example_module_is_reinstalled_because_webserver_contains_it(healed):
    assert "heal module_1" not in healed.lines
    assert "module_1" in reinstalled(healed)


def test_w37_example_database_is_reinstalled_and_the_relationship_of_module_to_it_is_established_again(healed):
    assert reinstalled(healed) == {"webserver_1", "module_1", "database_1"}
    tie = [line for line in healed.calls if "module_1>database_1" in line]
    assert [line.split()[0] for line in tie] == ["unlink", "preconfigure", "postconfigure", "establish"]
    assert healed.place("start database_1") < healed.place("establish module_1>database_1:source")


def test_w37_example_floating_ip_is_neither_healed_nor_reinstalled_nor_tied_anew(healed):
    assert [line for line in healed.calls if "floating_ip_1" in line] == ["validation.check_status floating_ip_1"]
    assert set(map(healed.state, healed.topology.ids)) == {"started"}


def test_w37_example_in_the_engine_has_the_same_end():
    outcomes = {
        "webserver_host.check_status": fails("down"),
        "webserver.check_status": fails("down"),
        "database.check_status": fails("down"),
        "webserver.heal": fails("no"),
        "database.heal": fails("no"),
    }
    played = rehearse(blueprint(*example()), "heal", outcomes=outcomes)
    assert (played.status, set(played.states.values())) == ("completed", {"started"})
    created = {call.instances[0] for call in played.calls if call.operation == "create"}
    assert created == {"webserver_1", "module_1", "database_1"}
    tied = [call for call in played.order if "webserver_host_1->floating_ip_1" in call]
    assert tied == []


@pytest.mark.parametrize("crash", range(1, 30, 3))
def test_w8_the_example_comes_to_the_same_end_whenever_the_engine_dies(crash):
    table = {
        "webserver_host.check_status": [fails("down")] * 9,
        "webserver.check_status": [fails("down")] * 9,
        "database.check_status": [fails("down")] * 9,
        "webserver.heal": [fails("no")] * 9,
        "database.heal": [fails("no")] * 9,
    }
    played = rehearse(blueprint(*example()), "heal", outcomes=table, crash_in=[crash])
    assert (played.status, set(played.states.values()), played.crashes) == ("completed", {"started"}, 1)
    finished = [call for call in played.calls if "died" not in call.outcomes]
    created = sorted(call.instances[0] for call in finished if call.operation == "create")
    assert created == ["database_1", "module_1", "webserver_1"]


# W30: whom it is about.


def chosen_by(world, id):
    world.run("heal", node_instance_id=id, force_reinstall=True)
    return reinstalled(world)


def test_w30_an_instance_stands_for_its_host_with_everything_on_it():
    nodes = host("vm", **LIFE), node("app", on="vm", **LIFE), node("lib", on="app", **LIFE), node("db", **LIFE)
    assert chosen_by(world_of(*nodes), "lib_1") == {"vm_1", "app_1", "lib_1"}
    assert chosen_by(world_of(*nodes), "vm_1") == {"vm_1", "app_1", "lib_1"}


def test_wd5_without_a_host_it_stands_for_itself_and_what_it_contains():
    nodes = node("app", **LIFE), node("lib", on="app", **LIFE), node("db", **LIFE)
    assert chosen_by(world_of(*nodes), "app_1") == {"app_1", "lib_1"}
    assert chosen_by(world_of(*nodes), "lib_1") == {"lib_1"}


def test_w30_without_an_instance_it_is_about_all():
    world = world_of(node("web", check_status="p.s", **LIFE), node("db", check_status="p.s", **LIFE))
    world.run("heal", node_instance_id="")
    assert sorted(world.calls) == ["validation.check_status db_1", "validation.check_status web_1"]


def test_w30_an_instance_that_there_is_not_is_refused_with_a_guess():
    built = topology(blueprint(node("web"), node("database")))
    (problem,) = check(built, Request("heal", {"node_instance_id": "databse_1"}))
    assert (problem.code, problem.mend) == ("PL-P001", "did you mean 'database_1'?")
    (problem,) = check(built, Request("heal", {"node_instance_id": "web"}))
    assert problem.mend == "did you mean 'web_1'?"
    (problem,) = check(built, Request("heal", {"node_instance_id": "nothing like it"}))
    assert problem.mend == "see: phaseline instances list -d NAME"


# W31: force_reinstall.


def test_w31_a_forced_reinstall_neither_checks_nor_heals_and_ignores_failures_of_its_first_half():
    world = world_of(node("web", check_status="p.s", heal="p.h", **LIFE))
    verdict = world.run("heal", force_reinstall=True, fails=lambda line: line == "stop web_1")
    assert verdict.status.value == "completed"
    assert [line.split()[0] for line in world.calls] == ["stop", "delete", "create", "configure", "start"]
    world = world_of(node("web", **LIFE))
    verdict = world.run("heal", force_reinstall=True, ignore_failure=False, fails=lambda line: line == "stop web_1")
    assert (verdict.status.value, "create web_1" in world.lines) == ("failed", False)


# W32, W33: checks, and who is healthy.


def test_w32_checks_are_made_once_each_whatever_fails_and_depend_on_nobody():
    app = blueprint(node("web", to=["db"], check_status="p.s", heal="p.h"), node("db", check_status="p.s", heal="p.h"))
    played = rehearse(app, "heal", outcomes={"db.check_status": retries("not now")})
    assert (played.status, played.order[:2]) == ("completed", ["check_status db_1", "check_status web_1"])
    assert played.order[2:] == ["heal db_1"]


def test_w32_without_a_check_the_stored_status_counts():
    world = world_of(node("web", check_status="p.s", heal="p.h"), node("db", check_status="p.s", heal="p.h"))
    world.run("check_status", fails=lambda line: line == "validation.check_status web_1")
    world.lines.clear()
    world.run("heal", check_status=False)
    assert world.calls == ["heal web_1"]
    world.lines.clear()
    world.run("heal", check_status=False)
    assert world.calls == []


def test_w33_who_was_never_checked_or_cannot_be_is_not_healthy():
    world = world_of(node("web", check_status="p.s", heal="p.h", **LIFE), node("db", heal="p.h"), node("lb", **LIFE))
    world.run("heal", check_status=False)
    assert {line for line in world.calls if line.startswith("heal")} == {"heal web_1", "heal db_1"}
    assert reinstalled(world) == {"lb_1"}
    world.lines.clear()
    world.run("heal")
    assert {line for line in world.calls if line.startswith("heal")} == {"heal db_1"}


def test_w33_that_it_is_started_is_no_result_of_a_check():
    world = world_of(node("web", check_status="p.s", heal="p.h", **LIFE))
    world.run("check_status")
    world.run("reinstall")
    world.lines.clear()
    world.run("heal", check_status=False)
    assert world.calls == ["heal web_1"]


def test_wd3_who_was_never_checked_may_be_assumed_to_be_healthy():
    world = world_of(node("web", **LIFE), node("db", check_status="p.s", heal="p.h"))
    verdict = world.run("heal", assume_healthy=True, check_status=False)
    assert (world.calls, verdict.reason) == ([], "every instance is healthy, so there was nothing to heal")
    world.run("heal", assume_healthy=True, fails=lambda line: line == "validation.check_status db_1")
    assert [line for line in world.calls if "web_1" in line] == []
    assert "heal db_1" in world.calls


def test_wd3_a_warning_names_the_nodes_without_a_check():
    built = topology(
        blueprint(node("web", **LIFE), node("db", heal="p.h", instances=3), node("lb", check_status="p.s"))
    )
    first, second = warnings(built, Request("heal"))
    assert first.message.startswith(
        "'web' have no check_status, so their 1 instances count as not healthy and are reinst"
    )
    assert second.message.startswith(
        "'db' have no check_status, so their 3 instances count as not healthy and are healed"
    )
    assert warnings(built, Request("heal", {"assume_healthy": True})) == ()
    assert warnings(built, Request("heal", {"force_reinstall": True})) == ()
    assert warnings(built, Request("heal", {"node_instance_id": "lb_1"})) == ()


def test_w32_nothing_is_called_on_what_is_not_there_and_it_is_not_healthy():
    world = world_of(node("web", check_status="p.s", heal="p.h", **LIFE), web_1="deleted")
    world.run("heal")
    assert [line.split()[0] for line in world.calls] == ["create", "configure", "start"]


# W34: the lists.


def test_w34_who_is_reinstalled_with_its_container_is_not_healed_before():
    both = {"check_status": "p.s", **LIFE}
    world = world_of(host("vm", **both), node("app", on="vm", heal="p.h", **both))
    world.run("heal", fails=lambda line: line.startswith("validation.check_status"))
    assert "heal app_1" not in world.calls
    assert reinstalled(world) == {"vm_1", "app_1"}


def test_wd4_what_an_instance_contains_is_reinstalled_with_it_when_its_heal_fails():
    both = {"check_status": "p.s", **LIFE}
    world = world_of(host("vm", heal="p.h", **both), node("app", on="vm", **both))
    world.run("heal", fails=lambda line: line in {"validation.check_status vm_1", "heal vm_1"})
    assert reinstalled(world) == {"vm_1", "app_1"}


# W35, W65, decision 16: allow_reinstall.


def test_w65_without_a_reinstall_it_fails_after_healing_and_names_at_most_five():
    nodes = node("db", check_status="p.s", heal="p.h"), node("web", check_status="p.s", instances=7, **LIFE)
    world = world_of(*nodes)
    verdict = world.run("heal", allow_reinstall=False, fails=lambda line: line.startswith("validation.check_status"))
    assert verdict.status.value == "failed"
    named = "web_1, web_2, web_3, web_4, web_5 (and 2 more)"
    assert verdict.reason == f"allow_reinstall is false, and {named} must be reinstalled"
    assert "heal db_1" in world.calls
    assert reinstalled(world) == set()


def test_w35_to_force_a_reinstall_and_to_forbid_it_is_refused():
    built = topology(blueprint(node("web")))
    (problem,) = check(built, Request("heal", {"allow_reinstall": False, "force_reinstall": True}))
    assert problem.code == "PL-P031"
    (problem,) = check(built, Request("heal", {"allow_reinstall": "no"}))
    assert problem.message == "the parameter 'allow_reinstall' cannot be 'no'"


# W36: healing.


def test_w36_in_the_order_of_dependencies_preheal_heal_postheal():
    both = {"check_status": "p.s", **HEALS}
    world = world_of(node("web", to=["lb"], **both), node("lb", to=["db"]), node("db", **both))
    verdict = world.run("heal", fails=lambda line: line.startswith("validation"), assume_healthy=True)
    order = [line for line in world.calls if "heal" in line]
    assert order == [f"{name} {id}" for id in ("db_1", "web_1") for name in ("preheal", "heal", "postheal")]
    assert verdict.status.value == "completed"


@pytest.mark.parametrize("broken", ["preheal", "heal", "postheal"])
def test_w36_whichever_of_them_fails_the_instance_is_reinstalled_and_its_dependents_are_still_healed(broken):
    both = {"check_status": "p.s", **HEALS, **LIFE}
    world = world_of(node("web", to=["db"], **both), node("db", **both))
    sick = {"validation.check_status db_1", "validation.check_status web_1", f"{broken} db_1"}
    verdict = world.run("heal", fails=lambda line: line in sick)
    called = [line.split()[0] for line in world.calls if line.endswith("heal db_1")]
    assert called == ["preheal", "heal", "postheal"][: len(called)]
    assert called[-1] == broken
    assert "postheal web_1" in world.calls
    assert (verdict.status.value, reinstalled(world)) == ("completed", {"db_1"})


def test_w36_the_result_says_that_it_was_healed_and_what_was_known_before():
    world = world_of(node("web", check_status="p.s", heal="p.h"))
    world.run("heal", fails=lambda line: line.startswith("validation"))
    assert world.book.checks.of(CheckKind.STATUS, 0) == CheckResult.HEALED
    assert world.book.checks.of(CheckKind.PREVIOUS_STATUS, 0) == CheckResult.FAILED


# W37, decision 17: reinstalling.


def test_decision_17_an_intact_source_unlinks_and_then_runs_all_three_operations():
    both = {"check_status": "p.s", **LIFE}
    world = world_of(node("web", relationship("db", source=TIES), **both), node("db", **both))
    world.run("heal", fails=lambda line: line == "validation.check_status db_1")
    mine = [line.split()[0] for line in world.calls if "web_1>" in line]
    assert mine == ["unlink", "preconfigure", "postconfigure", "establish"]
    assert reinstalled(world) == {"db_1"}


# Rounds: where it goes on.


def test_w8_what_is_not_known_of_a_check_or_a_heal_is_not_decided():
    nodes = (node("web", check_status="p.s"),)
    assert asked(*nodes, rounds=[Round("check_status", 0, {"unsure": 1})]).status.value == "attention"
    stopped = asked(*nodes, rounds=[Round("heal", 0, {"failed": 1, "canceled": 2})])
    assert stopped.status.value == "failed"


@pytest.mark.parametrize("before", [(), ("check_status",), ("check_status", "heal"), ("uninstall",), ("install",)])
def test_w7_a_heal_that_is_canceled_ends_where_it_is(before):
    rounds = [Round(name, 0, {"completed": 1}) for name in before]
    assert asked(node("web", check_status="p.s"), rounds=rounds, canceled=True).status.value == "canceled"


def test_w8_a_retried_heal_goes_on_with_the_half_that_failed():
    checked, gone = Round("check_status", 0, {"completed": 1}), Round("uninstall", 1, {"completed": 3})
    again = asked(node("web", check_status="p.s", **LIFE), rounds=[checked, gone], attempt=1)
    assert again.name == "install"
    lost = Round("uninstall", 0, {"failed": 1})
    assert asked(node("web", **LIFE), rounds=[checked, lost]).status.value == "failed"


def test_w8_with_nobody_chosen_there_is_nothing_to_do():
    assert asked().reason == "no instance was chosen, so there was nothing to do"


# W12, W67: what is told.


def told(world, graph, id, **more):
    number = world.topology.number_of[id]
    statuses = np.array([world.status[position] for position in range(len(graph))], np.uint8)
    return [str(line) for line in narrate(world.topology, graph, statuses, number, workflow="heal", **more)]


def healing(fails, **parameters):
    """The world and the graph of a heal of one instance, as far as it got."""
    world = world_of(node("web", check_status="p.s", **HEALS, **LIFE), web_1="started")
    world.run("check_status", fails=lambda _: True)
    history = History(world.states, checks=world.book.checks)
    graph = PLANNERS["heal"](world.topology, Request("heal", {"check_status": False}), history, lambda _: Declaration())
    world.status = world.carry_out(graph, fails)
    return world, graph


def test_w36_the_sentences_of_a_heal():
    world, graph = healing(lambda _: False)
    assert told(world, graph, "web_1") == ["E: Healing node instance", "E: Node instance healed"]
    assert told(world, graph, "web_1", parameters={"diagnose_value": "Not provided"}) == [
        "E: Healing node instance",
        "E: Node instance healed",
    ]


def test_w36_a_heal_that_failed_is_told_as_far_as_it_came():
    world, graph = healing(lambda line: line == "heal web_1")
    assert told(world, graph, "web_1") == ["E: Healing node instance"]


def test_w67_the_diagnosis_stands_in_the_events():
    world, graph = healing(lambda _: False)
    assert told(world, graph, "web_1", parameters={"diagnose_value": "disk full"})[0] == (
        "E: Healing node instance (Diagnosis: disk full)"
    )


# A true plan.


def plan_of(world, **parameters):
    history = History(world.states, checks=world.book.checks)
    request = Request("heal", parameters)
    found = foresee(PLANNERS["heal"], world.topology, request, history, lambda _: Declaration())
    return [graph.name for _, graph in found.graphs], found, preview_warnings("heal", found)


def test_the_plan_takes_who_was_never_checked_as_well_and_says_that_it_depends():
    names, found, (doubt,) = plan_of(world_of(*example()[:2], *example()[3:]))
    assert (names, found.verdict.status.value) == (["check_status"], "completed")
    assert (doubt.code, doubt.message) == ("PL-P033", "what 4 checks find cannot be foreseen")


def test_the_plan_shows_what_follows_from_the_stored_results():
    world = world_of(*example())
    world.run("check_status", fails=fails_as_in_the_example)
    names, found, _ = plan_of(world)
    assert names == ["check_status", "heal", "uninstall", "install"]
    healed = {world.topology.ids[subject] for subject in found.graphs[1][1].subject.tolist()}
    assert {"webserver_host_1", "database_1"} <= healed


def test_decision_16_the_plan_warns_that_it_will_fail_where_no_reinstall_is_allowed():
    names, _, found = plan_of(world_of(node("web", **LIFE)), allow_reinstall=False)
    assert names == []
    assert [doubt.code for doubt in found] == ["PL-P034"]
    assert "web_1 must be reinstalled" in found[0].message


@pytest.mark.parametrize("where", ["preheal", "heal"])
def test_issue_6_with_on_failure_stop_a_heal_that_fails_still_reaches_the_reinstall(where):
    """What fails of a heal is an answer; a failure of the reinstall stops it."""
    app = blueprint(node("a", **LIFE, **HEALS, check_status="p.c"), node("b", **LIFE, **HEALS, check_status="p.c"))
    said = {"check_status": fails("sick"), f"a.{where}": fails("no")}
    found = rehearse(app, "heal", outcomes=said, on_failure="stop")
    assert found.status == "completed"
    assert found.order[-1] == "start a_1"
    assert "postheal b_1" in found.order
    stopped = rehearse(app, "heal", outcomes={**said, "heal": fails("no"), "a.create": fails("no")}, on_failure="stop")
    assert (stopped.status, stopped.order[-1]) == ("failed", "create b_1")
