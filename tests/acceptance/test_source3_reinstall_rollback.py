"""Reinstall (W25, decision 17) and rollback (W45), rule by rule."""

from __future__ import annotations

import numpy as np
import pytest
from tests.plan.naive import World

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import History, Request, Round
from phaseline.plan.explain.cloudify_events import narrate
from phaseline.plan.requests.request_validation import check
from phaseline.plan.rounds.round_preview import foresee, states_after
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import blueprint, host, node, relationship, topology

LIFE = {"create": "p.c", "configure": "p.f", "start": "p.s", "stop": "p.o", "delete": "p.d"}
TIES = {"preconfigure": "p.1", "postconfigure": "p.2", "establish": "p.3", "unlink": "p.4"}


def world_of(*nodes, **states):
    """All started, but for ``web_1="creating"`` and so on."""
    world = World.fresh(topology(blueprint(*nodes)), State.STARTED)
    for id, state in states.items():
        world.states[world.topology.number_of[id]] = State[state.upper()]
    return world


def asked(workflow, *nodes, rounds=(), canceled=False, attempt=0, **parameters):
    built = topology(blueprint(*nodes))
    history = History(np.full(len(built), State.STARTED, np.uint8), tuple(rounds), canceled, attempt)
    return PLANNERS[workflow](built, Request(workflow, parameters), history, lambda _: Declaration())


# W25: uninstall subgraphs of the chosen, refresh, install subgraphs of the chosen. All uninstalls before the first install.


def test_w25_all_are_uninstalled_before_the_first_is_installed():
    world = world_of(node("web", to=["db"], **LIFE), node("db", **LIFE), node("alone", **LIFE))
    verdict = world.run("reinstall")
    assert verdict.status.value == "completed"
    first_install = min(world.calls.index(f"create {id}") for id in ("web_1", "db_1", "alone_1"))
    last_uninstall = max(world.calls.index(f"delete {id}") for id in ("web_1", "db_1", "alone_1"))
    assert last_uninstall < first_install
    assert world.place("delete web_1") < world.place("stop db_1")
    assert world.place("start db_1") < world.place("create web_1")
    assert {world.state(id) for id in ("web_1", "db_1", "alone_1")} == {"started"}


def test_w25_the_second_half_begins_from_the_states_that_the_first_one_left():
    world = world_of(node("web", **LIFE))
    world.run("reinstall")
    expected = "=stopping stop =stopped =deleting delete =deleted =initializing =creating create =created"
    assert world.of("web_1")[:10] == expected.split()


def test_w25_only_the_chosen_are_touched():
    world = world_of(node("web", **LIFE), node("db", **LIFE))
    world.run("reinstall", node_ids=["db"])
    assert world.of("web_1") == []
    assert world.run("reinstall", type_names=["no.such"]).reason.startswith("no instance was chosen")


def test_w25_nothing_is_installed_when_the_uninstall_has_failed_unless_failures_are_ignored():
    nodes = node("web", **LIFE)
    world = world_of(nodes)
    verdict = world.run("reinstall", fails=lambda line: line == "stop web_1")
    assert (verdict.status.value, "create web_1" in world.lines) == ("failed", False)
    world = world_of(nodes)
    verdict = world.run("reinstall", fails=lambda line: line == "stop web_1", ignore_failure=True)
    assert (verdict.status.value, world.state("web_1")) == ("completed", "started")


def test_decision_17_intact_sources_tie_their_relationships_anew_with_all_three_operations():
    world = world_of(node("web", relationship("db", source=TIES), **LIFE), node("db", **LIFE))
    world.run("reinstall", node_ids=["db"])
    mine = [line.split()[0] for line in world.calls if "web_1" in line]
    assert mine == ["unlink", "preconfigure", "postconfigure", "establish"]
    assert world.place("unlink web_1>db_1:source") < world.place("stop db_1")
    assert world.place("=started db_1") < world.place("preconfigure web_1>db_1:source")
    assert world.state("web_1") == "started"


def test_decision_17_what_is_not_declared_costs_nothing():
    world = world_of(node("web", to=["db"], **LIFE), node("db", **LIFE))
    world.run("reinstall", node_ids=["db"])
    assert [line for line in world.lines if "web_1" in line] == []


def test_w25_a_reinstall_that_is_canceled_between_its_halves_ends_there():
    gone = Round("uninstall", 0, {"completed": 3})
    assert asked("reinstall", node("web", **LIFE), rounds=[gone], canceled=True).status.value == "canceled"
    assert asked("reinstall", node("web", **LIFE), canceled=True).status.value == "canceled"


def test_w25_a_retried_reinstall_goes_on_with_the_half_that_failed():
    gone, lost = Round("uninstall", 0, {"completed": 3}), Round("install", 0, {"failed": 1})
    assert asked("reinstall", node("web", **LIFE), rounds=[gone, lost]).status.value == "failed"
    again = [gone, lost, Round("install", 1, {"completed": 3})]
    assert asked("reinstall", node("web", **LIFE), rounds=again, attempt=1).status.value == "completed"


def test_w25_a_plan_shows_both_halves():
    built = topology(blueprint(node("web", **LIFE)))
    history = History(np.full(len(built), State.STARTED, np.uint8))
    found = foresee(PLANNERS["reinstall"], built, Request("reinstall"), history, lambda _: Declaration())
    graphs = [graph for _, graph in found.graphs]
    assert ([graph.name for graph in graphs], found.verdict.status.value) == (["uninstall", "install"], "completed")
    assert states_after(graphs[0], history.states).tolist() == [State.DELETED]
    assert history.states.tolist() == [State.STARTED]


# W45: starting -> the stop half of uninstall, then configured; creating, configuring -> unlink, delete, postdelete, uninitialized.


def test_w45_a_half_started_instance_is_stopped_and_is_configured_again():
    everything = {"validate_deletion": "p.v", "monitoring_stop": "p.m", "prestop": "p.p", **LIFE}
    world = world_of(host("vm", **everything), vm_1="starting")
    world.run("rollback")
    expected = "=stopping validation.delete monitoring.stop prestop stop =configured"
    assert world.of("vm_1") == expected.split()


@pytest.mark.parametrize("state", ["creating", "configuring"])
def test_w45_a_half_created_instance_is_unlinked_deleted_and_nothing_again(state):
    tie = relationship("db", source=TIES)
    world = world_of(node("web", tie, postdelete="p.a", **LIFE), node("db", **LIFE), web_1=state)
    world.run("rollback")
    assert [line for line in world.lines if "web_1" in line] == [
        "unlink web_1>db_1:source",
        "delete web_1",
        "postdelete web_1",
        "=uninitialized web_1",
    ]


@pytest.mark.parametrize("state", ["uninitialized", "created", "configured", "started", "stopped", "deleted"])
def test_w45_all_others_are_left_as_they_are(state):
    world = world_of(node("web", **LIFE), web_1=state)
    verdict = world.run("rollback")
    assert (verdict.status.value, world.lines, world.state("web_1")) == ("completed", [], state)
    assert verdict.reason == "no chosen instance is half made, so there was nothing to take back"


def test_w45_the_filters_choose_among_the_half_made():
    world = world_of(node("web", **LIFE), node("db", **LIFE), web_1="starting", db_1="starting")
    world.run("rollback", node_ids=["web"])
    assert (world.state("web_1"), world.state("db_1")) == ("configured", "starting")


def test_w45_dependents_first_as_in_uninstall():
    world = world_of(node("web", to=["db"], **LIFE), node("db", **LIFE), web_1="starting", db_1="creating")
    world.run("rollback")
    assert world.place("stop web_1") < world.place("delete db_1")


def test_w45_failures_are_ignored():
    world = world_of(node("web", to=["db"], **LIFE), node("db", **LIFE), web_1="starting", db_1="starting")
    verdict = world.run("rollback", fails=lambda line: line == "stop web_1")
    assert (world.state("web_1"), world.state("db_1")) == ("configured", "configured")
    assert (verdict.status.value, verdict.reason) == ("completed", "1 failure was ignored")


def test_w45_full_rollback_then_uninstalls_the_whole_deployment():
    nodes = node("web", to=["db"], **LIFE), node("db", **LIFE)
    world = world_of(*nodes, web_1="starting")
    verdict = world.run("rollback", full_rollback=True, node_ids=["web"])
    assert verdict.status.value == "completed"
    assert (world.state("web_1"), world.state("db_1")) == ("deleted", "deleted")
    assert world.place("=configured web_1") < world.place("stop db_1")
    world = world_of(*nodes)
    world.run("rollback", full_rollback=True)
    assert world.state("db_1") == "deleted"


def test_w45_a_rollback_that_is_canceled_or_of_which_something_is_unsure_uninstalls_nothing():
    back = Round("rollback", 0, {"completed": 1})
    assert asked("rollback", node("web"), rounds=[back], canceled=True, full_rollback=True).status.value == "canceled"
    assert asked("rollback", node("web"), canceled=True, full_rollback=True).status.value == "canceled"
    doubt = Round("rollback", 0, {"unsure": 1})
    assert asked("rollback", node("web"), rounds=[doubt], full_rollback=True).status.value == "attention"


def test_w45_its_parameters_are_checked():
    built = topology(blueprint(node("web")))
    (problem,) = check(built, Request("rollback", {"full_rollbak": True}))
    assert problem.mend.startswith("did you mean 'full_rollback'?")


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (
            "starting",
            [
                "= stopping",
                "E: Stopping node instance",
                "E: Validating node instance after deletion: nothing to do",
                "E: Stopped node instance",
                "= configured",
                "E: Rollbacked node instance",
            ],
        ),
        (
            "creating",
            ["E: Deleting node instance", "= uninitialized", "E: Rollbacked node instance"],
        ),
        ("started", []),
    ],
)
def test_w45_the_story_of_a_rollback(state, told):
    world = world_of(node("web", **LIFE), node("other", **LIFE), web_1=state, other_1="starting")
    world.run("rollback")
    statuses = np.array([world.status[place] for place in range(len(world.last))], np.uint8)
    lines = narrate(world.topology, world.last, statuses, world.topology.number_of["web_1"])
    assert [str(line) for line in lines] == told
