"""Source document 3, built-in workflows: "The Uninstall Workflow", sentence by sentence; W23, W24, W6."""

from __future__ import annotations

import pytest
from tests.plan.naive import World

from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.graph.status import Mark
from phaseline.testing.builders import blueprint, host, node, relationship, topology

EVERY_OPERATION = {
    "validate_deletion": "p.validate",
    "monitoring_stop": "p.unwatch",
    "prestop": "p.prestop",
    "agent_monitoring_stop": "p.stop_monitor",
    "agent_monitoring_uninstall": "p.uninstall_monitor",
    "stop": "p.stop",
    "delete": "p.delete",
    "postdelete": "p.postdelete",
}


def started(*nodes):
    return World.fresh(topology(blueprint(*nodes)), State.STARTED)


def uninstalled(*nodes, **given):
    world = started(*nodes)
    world.run("uninstall", **given)
    return world


# "Wait for dependent node instances to be deleted"


def test_w23_1_an_instance_begins_after_the_instances_that_depend_on_it_are_deleted():
    world = uninstalled(node("db", stop="p.s"), node("web", to=["db"], stop="p.s", delete="p.d"))
    assert world.place("=deleted web_1") < world.place("=stopping db_1") < world.place("stop db_1")


def test_w23_1_it_waits_for_all_dependents_of_an_all_to_all_relationship():
    world = uninstalled(node("db", stop="p.s", instances=2), node("web", to=["db"], delete="p.d", instances=3))
    gone = [world.place(f"=deleted web_{index}") for index in (1, 2, 3)]
    assert max(gone) < min(world.place("stop db_1"), world.place("stop db_2"))


def test_w23_1_a_container_waits_for_what_it_contains_only():
    world = started(host("h", stop="p.s", instances=2), node("web", on="h", delete="p.d"))
    world.run("uninstall", fails=lambda line: line == "delete web_1")
    assert "stop h_1" not in world.calls
    assert world.state("h_2") == "deleted"


def test_w23_1_operations_to_depend_on_play_no_part_on_the_way_down():
    nodes = [node("db", create="p.c", stop="p.s"), node("web", relationship("db", after="create"), delete="p.d")]
    world = uninstalled(*nodes)
    assert world.place("=deleted web_1") < world.place("stop db_1")


# Steps 2-9 and their order


def test_w23_2_to_12_all_operations_of_a_host_run_in_the_order_of_the_document():
    tie = relationship("db", source={"unlink": "p.u"}, to={"unlink": "p.v"})
    world = uninstalled(node("db"), host("h", tie, **EVERY_OPERATION))
    assert world.of("h_1") == [
        "=stopping",
        "validation.delete",
        "monitoring.stop",
        "prestop",
        "monitoring_agent.stop",
        "monitoring_agent.uninstall",
        "stop",
        "=stopped",
        "unlink",
        "unlink",
        "=deleting",
        "delete",
        "postdelete",
        "=deleted",
    ]


def test_w23_6_only_hosts_run_the_operations_of_the_host_step():
    assert not {"monitoring_agent.stop", "monitoring_agent.uninstall"}.intersection(
        uninstalled(node("plain", **EVERY_OPERATION)).of("plain_1")
    )


def test_w23_with_nothing_implemented_the_states_are_gone_through_all_the_same():
    assert uninstalled(node("a")).of("a_1") == ["=stopping", "=stopped", "=deleted"]


def test_w23_without_delete_there_is_no_deleting():
    assert uninstalled(node("a", stop="p.s")).of("a_1") == ["=stopping", "stop", "=stopped", "=deleted"]


def test_w23_without_a_stop_part_stopped_comes_before_unlinking():
    tie = relationship("db", source={"unlink": "p.u"})
    world = uninstalled(node("db"), node("web", tie, delete="p.d"))
    assert world.of("web_1") == ["=stopping", "=stopped", "unlink", "=deleting", "delete", "=deleted"]


def test_w6_unlink_uses_the_reverse_order_of_the_template():
    ties = [relationship(name, source={"unlink": "p.u"}) for name in ("b", "c", "a")]
    world = uninstalled(node("a"), node("b"), node("c"), node("web", *ties))
    assert world.calls == ["unlink web_1>a_1:source", "unlink web_1>c_1:source", "unlink web_1>b_1:source"]


# Skips by present state

STOP_PART = ["validation.delete", "monitoring.stop", "prestop", "stop"]
DELETE_PART = ["delete", "postdelete"]
STATES = {
    State.UNINITIALIZED: ["=stopped", "=deleted"],
    State.INITIALIZING: ["=stopping", *STOP_PART, "=stopped", "unlink", "=deleting", *DELETE_PART, "=deleted"],
    State.CREATED: ["=stopping", *STOP_PART, "=stopped", "unlink", "=deleting", *DELETE_PART, "=deleted"],
    State.CONFIGURING: ["=stopping", *STOP_PART, "=stopped", "unlink", "=deleting", *DELETE_PART, "=deleted"],
    State.CONFIGURED: ["=stopped", "unlink", "=deleting", *DELETE_PART, "=deleted"],
    State.STOPPING: ["=stopping", *STOP_PART, "=stopped", "unlink", "=deleting", *DELETE_PART, "=deleted"],
    State.STOPPED: ["unlink", "=deleting", *DELETE_PART, "=deleted"],
    State.DELETING: ["unlink", "=deleting", *DELETE_PART, "=deleted"],
    State.DELETED: [],
}


@pytest.mark.parametrize(("state", "expected"), STATES.items(), ids=lambda value: getattr(value, "word", None))
def test_w23_the_present_state_decides_what_is_left_to_do(state, expected):
    tie = relationship("db", source={"unlink": "p.u"})
    world = started(node("db"), node("web", tie, **EVERY_OPERATION))
    world.states[1] = state
    world.run("uninstall")
    assert world.of("web_1") == expected


def test_w23_order_holds_through_an_instance_that_is_deleted_already():
    world = started(node("a", stop="p.s"), node("b", to=["a"]), node("c", to=["b"], delete="p.d"))
    world.states[1] = State.DELETED
    world.run("uninstall", fails=lambda line: line == "delete c_1")
    assert world.calls == ["delete c_1"]


# ignore_failure


def test_w24_with_ignore_failure_errors_do_not_prevent_the_workflow_from_moving_on():
    world = started(node("db", delete="p.d"), node("web", to=["db"], stop="p.s", delete="p.d", postdelete="p.p"))
    verdict = world.run("uninstall", fails=lambda _: True, ignore_failure=True)
    assert world.calls == ["stop web_1", "delete web_1", "postdelete web_1", "delete db_1"]
    assert (verdict.status, verdict.reason) == ("completed", "4 failures were ignored")
    assert (world.state("web_1"), world.state("db_1")) == ("deleted", "deleted")


def test_w24_with_ignore_failure_nothing_is_tried_again():
    world = uninstalled(node("a", delete="p.d"), ignore_failure=True)
    assert [policy.max_retries for policy in world.last.policies] == [0]


def test_w24_with_retry_ignored_failures_are_tried_again_before_they_are_ignored():
    world = uninstalled(node("a", delete="p.d"), ignore_failure=True, retry_ignored=True)
    assert [policy.max_retries for policy in world.last.policies] == [60]
    assert world.last.marks.tolist() == [Mark.TOLERANT]


def test_w24_without_ignore_failure_recoverable_errors_are_retried_and_others_abort():
    world = started(node("a", stop="p.s", delete="p.d"))
    verdict = world.run("uninstall", fails=lambda line: line == "stop a_1", ignore_failure=False)
    assert world.calls == ["stop a_1"]
    assert [policy.max_retries for policy in world.last.policies] == [60, 60]
    assert verdict.status == "failed"
    assert world.state("a_1") == "stopping"


def test_w24_intact_instances_unlink_from_removed_ones_and_their_failures_are_always_ignored():
    tie = relationship("db", source={"unlink": "p.s"}, to={"unlink": "p.t"})
    world = started(node("db", stop="p.x", delete="p.d"), node("web", tie, stop="p.y"))
    verdict = world.run("uninstall", fails=lambda line: line.startswith("unlink"), node_ids=["db"])
    assert sorted(world.of("web_1")) == ["unlink", "unlink"]
    assert world.place("unlink web_1>db_1:source") < world.place("stop db_1")
    assert world.state("web_1") == "started"
    assert verdict.status == "completed"


def test_w24_a_chosen_instance_unlinks_from_intact_ones_too():
    tie = relationship("db", source={"unlink": "p.s"})
    world = uninstalled(node("db", stop="p.x"), node("web", tie), node_ids=["web"])
    assert world.calls == ["unlink web_1>db_1:source"]
    assert world.state("db_1") == "started"


@pytest.mark.parametrize(
    "given", [{"node_ids": ["web"]}, {"node_instance_ids": ["web_1"]}, {"type_names": ["shop.Server"]}]
)
def test_wd11_uninstall_takes_the_filters_too(given):
    world = uninstalled(node("db", delete="p.d"), node("web", types=("shop.Server",), delete="p.d"), **given)
    assert world.calls == ["delete web_1"]
