"""Source document 3, built-in workflows: Start, Stop and Restart, sentence by sentence; W26, WD7, WD19; pull (7.6)."""

from __future__ import annotations

import numpy as np
import pytest
from tests.plan.naive import World

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import History, Request, Round
from phaseline.plan.explain.cloudify_events import narrate
from phaseline.plan.graph.operation_arguments import given_inputs
from phaseline.plan.requests.request_validation import check, warnings
from phaseline.plan.rounds.round_preview import foresee
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import blueprint, host, node, topology

BOTH = {"start": "p.start", "stop": "p.stop"}
WORKFLOWS = ("start", "stop", "restart", "pull")


def ran(workflow, *nodes, state=State.STARTED, fails=lambda _: False, **parameters):
    world = World.fresh(topology(blueprint(*nodes)), state)
    verdict = world.run(workflow, fails=fails, **parameters)
    return world, verdict


def stack():
    """A database, a server that depends on it, both with everything."""
    return node("web", to=["db"], **BOTH), node("db", **BOTH)


# "Calling the start workflow is equivalent to calling execute_operation while passing …lifecycle.start as the operation name."


@pytest.mark.parametrize(("workflow", "operation"), [("start", "start"), ("stop", "stop"), ("pull", "pull")])
def test_w26_start_stop_and_pull_are_execute_operation_of_one_operation(workflow, operation):
    nodes = node("web", to=["db"], pull="p.pull", **BOTH), node("db", pull="p.pull", **BOTH)
    one, _ = ran(workflow, *nodes)
    name = f"cloudify.interfaces.lifecycle.{operation}"
    other, _ = ran("execute_operation", *nodes, operation=name, run_by_dependency_order=True)
    assert one.lines == other.lines == [f"{operation} db_1", f"{operation} web_1"]


def test_w26_stop_does_not_set_stopped_and_start_does_not_set_started():
    world, _ = ran("stop", *stack())
    assert world.state("web_1") == "started"
    world, _ = ran("start", *stack(), state=State.STOPPED)
    assert world.state("web_1") == "stopped"


# "operation_parms: Passed as-is to the operation_kwargs parameter of execute_operation."


@pytest.mark.parametrize("workflow", ["start", "stop", "pull"])
def test_w26_operation_parms_are_inputs_of_every_call(workflow):
    assert given_inputs(workflow, "any.operation", {"operation_parms": {"level": 3}}) == {"level": 3}
    assert given_inputs(workflow, "any.operation", {"operation_kwargs": {"level": 3}}) == {}


def test_w26_parms_that_repeat_an_input_of_the_blueprint_win_without_being_asked():
    twice = node(
        "web", **{"cloudify.interfaces.lifecycle.start": {"implementation": "p.start", "inputs": {"level": 1}}}
    )
    built = topology(blueprint(twice))
    assert check(built, Request("start", {"operation_parms": {"level": 3}})) == ()


# "run_by_dependency_order: Similar semantics … Defaults to True."


def test_w26_those_one_depends_on_come_first_unless_it_is_switched_off():
    world, _ = ran("start", *stack())
    assert world.lines == ["start db_1", "start web_1"]
    world, _ = ran("start", *stack(), fails=lambda line: line == "start db_1", run_by_dependency_order=False)
    assert sorted(world.lines) == ["start db_1", "start web_1"]
    world, _ = ran("start", *stack(), fails=lambda line: line == "start db_1")
    assert world.lines == ["start db_1"]


def test_w26_the_order_holds_across_instances_that_are_not_chosen():
    chain = node("web", to=["mid"], **BOTH), node("mid", to=["db"], **BOTH), node("db", **BOTH)
    world, _ = ran("start", *chain, fails=lambda line: line == "start db_1", node_ids=["web", "db"])
    assert world.lines == ["start db_1"]


# "type_names, node_ids, node_instance_ids: Passed as-is …"


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_w26_the_three_filters_are_those_of_execute_operation(workflow):
    nodes = node("web", pull="p.pull", instances=2, **BOTH), node("db", pull="p.pull", **BOTH)
    world, _ = ran(workflow, *nodes, node_ids=["web"], node_instance_ids=["web_2", "db_1"])
    assert {line.split()[1] for line in world.lines} == {"web_2"}


# WD7: "start, stop, restart and pull always skip, because old types do not declare pull …"


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_wd7_nodes_that_do_not_declare_the_operation_are_left_out(workflow):
    bare = node("bare", types=("shop.Bare",))
    world, verdict = ran(workflow, bare)
    assert (world.lines, verdict.status.value) == ([], "completed")
    assert check(world.topology, Request(workflow)) == ()


# "The restart workflow simply calls the stop workflow, followed by start. … performs all stop operations first, and then …"


def test_w26_restart_is_all_stops_then_all_starts():
    world, verdict = ran("restart", *stack(), node("alone", **BOTH))
    stops, starts = world.lines[:3], world.lines[3:]
    assert {line.split()[0] for line in stops} == {"stop"}
    assert {line.split()[0] for line in starts} == {"start"}
    assert verdict.status.value == "completed"


def test_w26_restart_starts_nothing_when_a_stop_has_failed():
    world, verdict = ran("restart", *stack(), fails=lambda line: line == "stop web_1")
    assert world.lines == ["stop db_1", "stop web_1"]
    assert (verdict.status.value, verdict.reason) == ("failed", "1 operation failed")


def test_w26_restart_starts_what_has_no_stop():
    world, _ = ran("restart", node("web", start="p.start"))
    assert world.lines == ["start web_1"]


def test_w26_stop_parms_and_start_parms_reach_their_operations():
    given = {"stop_parms": {"hard": True}, "start_parms": {"slow": True}}
    assert given_inputs("restart", "cloudify.interfaces.lifecycle.stop", given) == {"hard": True}
    assert given_inputs("restart", "cloudify.interfaces.lifecycle.start", given) == {"slow": True}


def asked(workflow, rounds, *, canceled=False, attempt=0):
    built = topology(blueprint(*stack()))
    history = History(np.full(len(built), State.STARTED, np.uint8), tuple(rounds), canceled, attempt)
    return PLANNERS[workflow](built, Request(workflow), history, lambda _: Declaration())


def test_w26_a_restart_that_was_retried_after_its_stops_goes_on_with_its_starts():
    lost, won = {"completed": 1, "failed": 1}, {"completed": 2}
    assert asked("restart", [Round("stop", 0, won), Round("start", 0, lost)]).status.value == "failed"
    again = [Round("stop", 0, won), Round("start", 0, lost), Round("start", 1, won)]
    assert asked("restart", again, attempt=1).status.value == "completed"
    assert asked("restart", [Round("stop", 0, lost), Round("stop", 1, won)], attempt=1).name == "start"


def test_w26_a_restart_that_is_canceled_between_its_rounds_starts_nothing():
    assert asked("restart", [Round("stop", 0, {"completed": 2})], canceled=True).status.value == "canceled"
    assert asked("restart", [], canceled=True).status.value == "canceled"


# WD19: stop in dependency order follows the source (targets first); the plan warns; reverse_order turns it.


def test_wd19_a_stop_goes_in_dependency_order_and_turned_with_reverse_order():
    contained = node("app", on="vm", **BOTH), host("vm", **BOTH)
    assert ran("stop", *contained)[0].lines == ["stop vm_1", "stop app_1"]
    assert ran("stop", *contained, reverse_order=True)[0].lines == ["stop app_1", "stop vm_1"]
    lines = ran("restart", *contained, reverse_order=True)[0].lines
    assert lines == ["stop app_1", "stop vm_1", "start vm_1", "start app_1"]


@pytest.mark.parametrize("workflow", ["stop", "restart"])
def test_wd19_a_container_that_would_stop_before_its_content_is_told(workflow):
    built = topology(blueprint(node("app", on="vm", **BOTH), host("vm", **BOTH)))
    (warning,) = warnings(built, Request(workflow))
    assert (warning.code, warning.severity) == ("PL-P030", "warning")
    assert warning.message == "containers are stopped before what they contain: 'vm' before 'app'"
    assert warning.mend == "to stop the content first: -p reverse_order=true"
    for parameters in ({"reverse_order": True}, {"run_by_dependency_order": False}, {"node_ids": ["app"]}):
        assert warnings(built, Request(workflow, parameters)) == ()


def test_wd19_nobody_is_warned_of_what_is_only_connected_or_has_no_stop():
    assert warnings(topology(blueprint(*stack())), Request("stop")) == ()
    quiet = topology(blueprint(node("app", on="vm", **BOTH), host("vm")))
    assert warnings(quiet, Request("stop")) == ()
    assert warnings(topology(blueprint(*stack())), Request("install")) == ()


def test_wd19_many_containers_are_counted():
    vms = [host(f"vm{n}", **BOTH) for n in range(7)]
    apps = [node(f"app{n}", on=f"vm{n}", **BOTH) for n in range(7)]
    (warning,) = warnings(topology(blueprint(*vms, *apps)), Request("stop"))
    assert warning.message.endswith("and 2 more")


# A true plan: all rounds, before any of them runs.


def test_a_plan_of_restart_has_both_rounds():
    built = topology(blueprint(*stack()))
    history = History(np.full(len(built), State.STARTED, np.uint8))
    found = foresee(PLANNERS["restart"], built, Request("restart"), history, lambda _: Declaration())
    assert [graph.name for _, graph in found.graphs] == ["stop", "start"]
    assert found.verdict.status.value == "completed"


def test_w26_the_story_of_a_restart_names_each_operation_with_what_it_was_given():
    world, _ = ran("restart", *stack())
    number = world.topology.number_of["web_1"]
    statuses = np.array([world.status[place] for place in range(len(world.last))], np.uint8)
    told = narrate(
        world.topology, world.last, statuses, number, workflow="restart", parameters={"start_parms": {"slow": True}}
    )
    assert [str(line) for line in told] == [
        "E: Starting operation cloudify.interfaces.lifecycle.start (Operation parameters: {'slow': True})",
        "E: Finished operation cloudify.interfaces.lifecycle.start",
    ]
