"""The story of an instance in the words of the ancestor: the tables of W20, W23 and W24, and W12."""

from __future__ import annotations

import numpy as np
import pytest
from tests.plan.naive import World

from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import RetryPolicy
from phaseline.model.execution.stored_plans import Aim
from phaseline.model.graph.status import EntryStatus as Status
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.rows import NoteRow
from phaseline.plan.explain.cloudify_event_lines import CallSpan
from phaseline.plan.explain.cloudify_events import narrate
from phaseline.plan.graph import operation_names as op
from phaseline.testing.builders import blueprint, host, node, relationship, topology

EVERY_OPERATION = {
    "validate_creation": "p.a",
    "precreate": "p.b",
    "create": "p.c",
    "configure": "p.d",
    "start": "p.e",
    "get_state": "p.f",
    "poststart": "p.g",
    "monitoring_start": "p.h",
    "validate_deletion": "p.i",
    "monitoring_stop": "p.j",
    "prestop": "p.k",
    "stop": "p.l",
    "delete": "p.m",
    "postdelete": "p.n",
}


def told(world, id, **known):
    statuses = np.array([world.status[position] for position in range(len(world.last))], np.uint8)
    number = world.topology.number_of[id]
    return narrate(world.topology, world.last, statuses, number, **known)


def story(workflow, *nodes, of, state=None, fails=lambda _: False, present=None, **given):
    before = State.UNINITIALIZED if workflow == "install" else State.STARTED
    world = World.fresh(topology(blueprint(*nodes)), before)
    if state is not None:
        world.states[world.topology.number_of[of]] = state
    world.run(workflow, fails=fails, **given)
    return [str(line) for line in told(world, of, present=present if present is not None else state)]


def test_w20_everything_implemented():
    tie = relationship("db", source={"preconfigure": "p.a", "postconfigure": "p.b", "establish": "p.c"})
    assert story("install", node("db"), host("h", tie, **EVERY_OPERATION), of="h_1") == [
        "= initializing",
        "E: Validating node instance before creation",
        "E: Node instance validated before creation",
        "E: Precreating node instance",
        "E: Node instance precreated",
        "E: Creating node instance",
        "= creating",
        "E: Node instance created",
        "= created",
        "E: Pre-configuring relationships",
        "E: Relationships pre-configured",
        "= configuring",
        "E: Configuring node instance",
        "= configured",
        "E: Node instance configured",
        "E: Post-configuring relationships",
        "E: Relationships post-configured",
        "= starting",
        "E: Starting node instance",
        "E: Poststarting node instance",
        "E: Node instance poststarted",
        "E: Establishing relationships",
        "E: Relationships established",
        "= started",
        "E: Node instance started",
    ]


def test_w20_operations_that_are_not_implemented_say_so():
    assert story("install", node("a", monitoring_start="p.m"), of="a_1") == [
        "= initializing",
        "E: Validating node instance before creation: nothing to do",
        "E: Precreating node instance: nothing to do",
        "E: Creating node instance: nothing to do",
        "E: Configuring node instance: nothing to do",
        "E: Starting node instance: nothing to do",
        "E: Poststarting node instance: nothing to do",
        "= started",
        "E: Node instance started",
    ]


def test_w20_with_nothing_implemented_there_is_nothing_to_do():
    assert story("install", node("a"), of="a_1") == ["= started", "E: Node instance started (nothing to do)"]


def test_w21_a_started_instance_has_nothing_to_do():
    lines = story("install", node("a", **EVERY_OPERATION), of="a_1", state=State.STARTED)
    assert lines == ["= started", "E: Node instance started (nothing to do)"]


def test_w23_everything_implemented():
    tie = relationship("db", source={"unlink": "p.u"})
    assert story("uninstall", node("db"), host("h", tie, **EVERY_OPERATION), of="h_1") == [
        "= stopping",
        "E: Stopping node instance",
        "E: Validating node instance before deletion",
        "E: Node instance validated before deletion",
        "E: Prestopping node instance",
        "E: Node instance prestopped",
        "E: Stopped node instance",
        "= stopped",
        "E: Unlinking relationships",
        "E: Relationships unlinked",
        "= deleting",
        "E: Deleting node instance",
        "E: Postdeleting node instance",
        "E: Node instance postdeleted",
        "= deleted",
        "E: Deleted node instance",
    ]


def test_w23_operations_that_are_not_implemented_say_so():
    assert story("uninstall", node("a"), of="a_1") == [
        "= stopping",
        "E: Stopping node instance",
        "E: Validating node instance after deletion: nothing to do",
        "E: Stopped node instance: nothing to do",
        "= stopped",
        "E: Deleting node instance: nothing to do",
        "= deleted",
        "E: Deleted node instance",
    ]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (State.CONFIGURED, ["E: Stop: instance already configured", "= stopped", "= deleting"]),
        (State.STOPPED, ["E: Stop: instance already stopped", "= deleting", "E: Deleting node instance"]),
        (
            State.UNINITIALIZED,
            ["E: Stop: instance already uninitialized", "= stopped", "E: Delete: instance already uninitialized"],
        ),
        (State.DELETED, ["E: Stop: instance already deleted", "E: Delete: instance already deleted"]),
    ],
)
def test_w23_what_the_present_state_made_superfluous_says_so(state, expected):
    lines = story("uninstall", node("a", stop="p.s", delete="p.d"), of="a_1", state=state)
    assert lines[0] == "E: Validating node instance after deletion: nothing to do"
    assert lines[1 : 1 + len(expected)] == expected


def test_w24_ignored_failures_are_told_and_the_story_goes_on():
    lines = story("uninstall", node("a", stop="p.s"), of="a_1", fails=lambda _: True, ignore_failure=True)
    assert "E: Ignoring task p.s failure" in lines
    assert lines[-1] == "E: Deleted node instance"


def test_w4_the_story_of_a_failure_ends_where_it_happened():
    lines = story("install", node("a", create="p.c", start="p.s"), of="a_1", fails=lambda _: True)
    assert lines[-2:] == ["E: Creating node instance", "= creating"]


def test_an_instance_that_has_not_begun_has_no_story():
    nodes = [node("a", create="p.c"), node("b", to=["a"], create="p.c")]
    assert story("install", *nodes, of="b_1", fails=lambda _: True) == []


def test_an_intact_instance_has_no_story_of_its_own():
    nodes = [node("db"), node("web", relationship("db", source={"establish": "p.e"}))]
    assert story("install", *nodes, of="web_1", node_ids=["db"]) == []


def test_w24_an_intact_instance_that_unlinks_has_no_story_of_its_own():
    nodes = [node("db"), node("web", relationship("db", source={"unlink": "p.e"}))]
    assert story("uninstall", *nodes, of="web_1", node_ids=["db"]) == []


def test_the_story_ends_before_what_has_not_begun():
    world = World.fresh(topology(blueprint(node("a", create="p.c", start="p.s"))))
    world.run("install")
    world.status[1] = Status.BLOCKED
    assert [str(line) for line in told(world, "a_1")][-2:] == [
        "= created",
        "E: Configuring node instance: nothing to do",
    ]


def test_w12_a_call_that_runs_has_no_end_yet_and_milestones_no_story():
    world = World.fresh(topology(blueprint(node("db", instances=2), node("web", to=["db"], create="p.c", instances=2))))
    world.run("install")
    position = len(world.last) - 1
    world.status[position] = Status.RUNNING
    lines = told(world, "web_2", calls={position: [CallSpan(5)]}, with_tasks=True)
    assert [line.text for line in lines][-2:] == ["Sending task 'p.c'", "Task started 'p.c'"]


def test_w8_the_clean_up_is_framed():
    world = World.fresh(topology(blueprint(node("a", stop="p.s", start="p.t"))), State.STARTING)
    graphs = []
    carry_out = world.carry_out

    def remember(graph, fails):
        graphs.append((graph, carry_out(graph, fails)))
        return graphs[-1][1]

    world.carry_out = remember
    world.run("install", clean=True)
    graph, status = graphs[0]
    lines = narrate(world.topology, graph, np.array([status[p] for p in range(len(graph))], np.uint8), 0)
    assert [str(line) for line in lines] == [
        "E: Rolling back prior to resuming install",
        "E: Stopped node instance",
        "E: Finished rolling back, now resuming install",
    ]


def test_w12_lines_have_the_times_of_the_calls_they_belong_to():
    world = World.fresh(topology(blueprint(node("a", create="p.c", start="p.s"))))
    world.run("install")
    calls = {0: [CallSpan(10, 20, OutcomeKind.COMPLETED)], 1: [CallSpan(30, 45, OutcomeKind.COMPLETED)]}
    times = {str(line): line.at for line in told(world, "a_1", calls=calls)}
    assert [times[text] for text in ("= initializing", "= creating", "= created", "= starting", "= started")] == [
        10,
        10,
        20,
        30,
        45,
    ]


def test_w12_calls_are_told_with_their_retries_and_the_last_message():
    world = World.fresh(topology(blueprint(node("a", create="scripts/create.sh"))))
    world.run("install")
    world.status[0] = Status.FAILED
    calls = {0: [CallSpan(1, 2, OutcomeKind.RETRY), CallSpan(3, 4, OutcomeKind.FAILED)]}
    lines = told(world, "a_1", calls=calls, notes={0: NoteRow(0, attempts=1, message="exit code 3")}, with_tasks=True)
    assert [str(line) for line in lines if line.kind == "task"] == [
        "Sending task 'script_runner.tasks.run'",
        "Task started 'script_runner.tasks.run'",
        "Task failed 'script_runner.tasks.run'",
        "Sending task 'script_runner.tasks.run' [retry 1/60]",
        "Task started 'script_runner.tasks.run' [retry 1/60]",
        "Task failed 'script_runner.tasks.run' -> exit code 3 [retry 1/60]",
    ]


def test_w12_a_result_is_told():
    world = World.fresh(topology(blueprint(node("a", create="p.c"))))
    world.run("install")
    calls = {0: [CallSpan(1, 2, OutcomeKind.COMPLETED)]}
    lines = told(world, "a_1", calls=calls, notes={0: NoteRow(0, result=7)}, with_tasks=True)
    assert "Task succeeded 'p.c' - 7" in [line.text for line in lines]


def test_w12_each_end_of_a_call_has_its_own_words_and_a_deed_by_hand_is_no_call():
    world = World.fresh(topology(blueprint(node("a", create="p.c"))))
    world.run("install")
    calls = {
        0: [
            CallSpan(1, 2, OutcomeKind.RETRY, "later", has_asked=True),
            CallSpan(3, 4, OutcomeKind.LOST),
            CallSpan(5, 6, OutcomeKind.UNSURE),
            CallSpan(9, 9, OutcomeKind.COMPLETED, is_by_hand=True),
        ]
    }
    lines = told(world, "a_1", calls=calls, with_tasks=True)
    ends = [
        line.text for line in lines if line.kind == "task" and not line.text.startswith(("Sending", "Task started"))
    ]
    assert [text.partition("'")[0].strip() for text in ends] == [
        "Task rescheduled",
        "Task lost",
        "Task may or may not have been carried out",
    ]
    assert ends[0] == "Task rescheduled 'p.c' -> later"
    assert [line.at for line in lines if str(line) == "= created"] == [9]


# -- other workflows --------------------------------------------------------------------------------------------------

CHECKED = {"check_status": "p.k", op.CHECK_DRIFT: "p.d"}
ALL_WORKFLOWS = {
    **dict.fromkeys(("create", "start", "stop", "delete"), "p.o"),
    **dict.fromkeys((op.HEAL, op.FREEZE_SUSPEND, op.FREEZE_RESUME), "p.o"),
    **CHECKED,
}


def lines_of(world, graph, id, **known):
    """What is told of an instance in one of the graphs that a workflow has carried out."""
    found, status = world.carried_out[graph]
    statuses = np.array([status[position] for position in range(len(found))], np.uint8)
    return [str(line) for line in narrate(world.topology, found, statuses, world.topology.number_of[id], **known)]


@pytest.mark.parametrize(
    ("workflow", "graph", "state", "given"),
    [
        ("install", "clean-up", State.STARTING, {"clean": True}),
        ("install", "install", State.UNINITIALIZED, {}),
        ("uninstall", "uninstall", State.STARTED, {}),
        ("rollback", "rollback", State.STARTING, {}),
        ("rollback", "rollback", State.CREATING, {}),
        ("suspend", "suspend", State.STARTED, {}),
        ("resume", "resume", State.SUSPENDED, {}),
        ("check_status", "check_status", State.STARTED, {"run_by_dependency_order": True}),
        ("check_drift", "check_drift", State.STARTED, {}),
        ("restart", "stop", State.STARTED, {}),
        (
            "execute_operation",
            "execute_operation",
            State.STARTED,
            {"operation": op.START, "run_by_dependency_order": True},
        ),
    ],
)
def test_an_instance_that_only_keeps_the_order_of_the_chosen_has_no_story(workflow, graph, state, given):
    nodes = [node("a", **ALL_WORKFLOWS), node("b", to=["a"]), node("c", to=["b"], **ALL_WORKFLOWS)]
    world = World.fresh(topology(blueprint(*nodes)), state)
    world.run(workflow, node_ids=["a", "c"], **given)
    number = world.topology.number_of["b_1"]
    assert number in world.carried_out[graph][0].subject, "it takes part, so that c waits for a"
    assert lines_of(world, graph, "b_1", workflow=workflow) == []


def test_w36_an_instance_between_those_that_are_healed_has_no_story():
    sick = {"check_status": "p.k", op.HEAL: "p.h"}
    nodes = [node("a", **sick), node("b", to=["a"], check_status="p.k"), node("c", to=["b"], **sick)]
    world = World.fresh(topology(blueprint(*nodes)), State.STARTED)
    world.run("heal", fails=lambda line: line in {"validation.check_status a_1", "validation.check_status c_1"})
    assert lines_of(world, "heal", "a_1") == ["E: Healing node instance", "E: Node instance healed"]
    assert lines_of(world, "heal", "b_1") == []


def test_w61_an_instance_between_those_that_are_updated_has_no_story():
    updates = {op.LIFECYCLE + ".update": "p.u"}
    old, new = (
        blueprint(
            node("a", properties={"size": size}, **updates),
            node("b", to=["a"]),
            node("c", to=["b"], properties={"size": size}, **updates),
        )
        for size in (1, 2)
    )
    world = World.fresh(topology(old), State.STARTED)
    world.aim = Aim(new, {}, CodeLocation("."), suffixes=0)
    world.run("update")
    assert lines_of(world, "update", "a_1") == ["E: Updating node instance", "E: Node instance updated"]
    assert lines_of(world, "update", "b_1") == []


def test_decision_24_a_suspended_instance_that_goes_on_is_told_as_resumed():
    lines = story("resume", node("a", **ALL_WORKFLOWS), of="a_1", state=State.SUSPENDED)
    assert lines == ["E: Resuming node instance", "= started", "E: Node instance resumed"]


def test_w46_of_a_check_for_drift_only_its_calls_are_told():
    world = World.fresh(topology(blueprint(node("a", **CHECKED))), State.STARTED)
    world.run("check_drift")
    calls = {0: [CallSpan(1, 2, OutcomeKind.COMPLETED)]}
    lines = told(world, "a_1", calls=calls, with_tasks=True)
    assert [line.text for line in lines] == ["Sending task 'p.d'", "Task started 'p.d'", "Task succeeded 'p.d'"]


def test_w45_what_an_ended_install_has_left_alone_is_not_told_of_by_a_rollback():
    nodes = [node("db"), node("web", relationship("db", source={"unlink": "p.u"}))]
    world = World.fresh(topology(blueprint(*nodes)), State.STARTED)
    world.states[world.topology.number_of["web_1"]] = State.CREATING
    world.run("rollback")
    assert lines_of(world, "rollback", "db_1") == []
    assert lines_of(world, "rollback", "web_1")[-2:] == ["= uninitialized", "E: Rollbacked node instance"]


def test_w5_a_life_cycle_that_begins_anew_says_so_before_what_was_made_is_taken_away():
    world = World.fresh(topology(blueprint(node("a", create="p.c", stop="p.s", delete="p.d"))), State.UNINITIALIZED)
    retries = RetryPolicy(subgraph_retries=1)
    world.run("install", retries=retries, fails=lambda line: line == "create a_1" and world.calls.count(line) == 1)
    lines = lines_of(world, "again install", "a_1", present=State.CREATING)
    assert lines[0] == "E: Node lifecycle failed. Attempting to re-run node lifecycle"
    assert lines[-1] == "E: Deleted node instance"


def test_w42_of_who_only_ties_the_relationships_that_it_has_taken_up_nothing_is_told():
    tie = relationship("db", source={"establish": "p.e"}, connection_type="all_to_one")
    world = World.fresh(topology(blueprint(node("db", instances=2), node("web", tie))), State.STARTED)
    world.run("scale", scalable_entity_name="db", delta=-1, include_instances=["db_1"])
    assert world.calls == ["establish web_1>db_2:source"]
    assert lines_of(world, "establish db", "web_1") == []
