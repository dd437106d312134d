"""Source document 3, built-in workflows: "The Execute Operation Workflow", sentence by sentence; W26, WD7."""

from __future__ import annotations

import numpy as np
import pytest
from tests.plan.naive import World

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import History, Request, StopAfter, Verdict
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.explain.cloudify_events import narrate
from phaseline.plan.requests.request_validation import check
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import blueprint, node, operation, relationship, topology

BACKUP = {"ops.backup": "p.backup"}
DATABASE = ("shop.Database",)


def started(*nodes):
    return World.fresh(topology(blueprint(*nodes)), State.STARTED)


def executed(*nodes, operation="ops.backup", **parameters):
    world = started(*nodes)
    world.run("execute_operation", operation=operation, **parameters)
    return world


def refused(*nodes, **parameters):
    """(code, message, mend) of what the planner and the check before it say alike."""
    world = started(*nodes)
    with pytest.raises(ProblemsError) as caught:
        world.run("execute_operation", **parameters)
    assert world.lines == []
    found = check(world.topology, Request("execute_operation", parameters))
    assert found == caught.value.problems
    return [(problem.code, problem.message, problem.mend) for problem in found]


# "Generic workflow for executing arbitrary operations on nodes."


def test_w26_the_operation_runs_once_on_every_instance_and_nothing_else_does():
    world = executed(node("web", **BACKUP, start="p.s", instances=2), node("db", **BACKUP))
    assert sorted(world.lines) == ["ops.backup db_1", "ops.backup web_1", "ops.backup web_2"]


def test_w26_no_state_changes():
    world = executed(node("web", stop="p.stop"), operation="cloudify.interfaces.lifecycle.stop")
    assert world.lines == ["stop web_1"]
    assert world.state("web_1") == "started"


# "operation: The name of the operation to execute (Mandatory)."


def test_w26_the_operation_is_mandatory():
    ((code, mend),) = [(p.code, p.mend) for p in check(started().topology, Request("execute_operation"))]
    assert (code, mend) == ("PL-P008", "give the name of an operation: -p operation=…")


def test_w26_b33_a_bare_name_counts_where_one_interface_of_the_node_has_it():
    world = executed(node("web", **BACKUP), node("db", **{"data.backup": "p.dump"}), operation="backup")
    assert sorted(world.lines) == ["data.backup db_1", "ops.backup web_1"]


def test_w26_b33_a_bare_name_that_several_interfaces_have_is_not_declared():
    both = node("web", **BACKUP, **{"data.backup": "p.dump"})
    ((code, message, mend),) = refused(both, operation="backup")
    assert (code, message) == ("PL-P006", "the operation 'backup' of 'web' is ambiguous: it may be any of 2")
    assert mend == "write the full name, one of: data.backup, ops.backup"


# "operation_kwargs: A dictionary of keyword arguments that will be passed to the operation invocation (Default: {})."
# (That they reach the invocation: tests/cli/test_starting.py, tests/run/test_given_inputs.py.)


# "allow_kwargs_override: … whether overriding operations inputs defined in the blueprint … is allowed or not (Default: null"


@pytest.mark.parametrize("override", [{}, {"allow_kwargs_override": None}, {"allow_kwargs_override": False}])
def test_w26_an_input_of_the_blueprint_is_not_defined_again(override):
    given = operation("ops.backup", "p.backup", inputs={"level": 1, "to": "disk"})
    web = node("web", **{"ops.backup": given})
    ((code, message, _),) = refused(
        web, node("db", **BACKUP), operation="ops.backup", operation_kwargs={"level": 3, "new": 1}, **override
    )
    assert code == "PL-P007"
    assert message.startswith("duplicate definition of 'level'")
    assert message.endswith("gives it to 'web'")


def test_w26_with_allow_kwargs_override_what_is_given_may_repeat_an_input():
    given = operation("ops.backup", "p.backup", inputs={"level": 1})
    parameters = {"operation_kwargs": {"level": 3}, "allow_kwargs_override": True}
    assert executed(node("web", **{"ops.backup": given}), **parameters).lines == ["ops.backup web_1"]


def test_w26_inputs_of_nodes_that_are_not_chosen_play_no_part():
    given = operation("ops.backup", "p.backup", inputs={"level": 1})
    nodes = [node("web", **{"ops.backup": given}), node("db", **BACKUP)]
    world = executed(*nodes, operation_kwargs={"level": 3}, node_ids=["db"])
    assert world.lines == ["ops.backup db_1"]


# "run_by_dependency_order: … according to the order of their relationships dependencies or … in parallel (Default: false)."


def test_w26_without_the_order_nothing_waits_for_anything():
    world = executed(node("db", **BACKUP), node("web", to=["db"], **BACKUP))
    assert len(world.last.idx) == 0


def test_w26_without_the_order_only_chosen_instances_have_entries():
    nodes = [node("db", **BACKUP), node("app", to=["db"]), node("web", to=["app"], **BACKUP)]
    assert len(executed(*nodes, node_ids=["db", "web"]).last) == 2


def test_w26_in_dependency_order_targets_come_first():
    world = executed(
        node("db", **BACKUP, instances=2),
        node("web", to=["db"], **BACKUP, instances=3),
        run_by_dependency_order=True,
    )
    assert [line.partition("_")[0] for line in world.lines] == ["ops.backup db"] * 2 + ["ops.backup web"] * 3


def test_w26_in_dependency_order_what_depends_on_a_failure_is_not_called():
    world = started(node("db", **BACKUP), node("web", to=["db"], **BACKUP))
    parameters = {"operation": "ops.backup", "run_by_dependency_order": True}
    verdict = world.run("execute_operation", fails=lambda line: line.endswith("db_1"), **parameters)
    assert world.calls == ["ops.backup db_1"]
    assert (verdict.status, verdict.reason) == ("failed", "1 operation failed, 1 step that depends on it was skipped")


# "the dependency may be indirect, e.g. … A is dependent on instance B, which is in turn dependent on instance C, and only B
#  was filtered out, instance A's operation execution will still only happen after instance C's operation execution."


def test_w26_indirect_dependencies_hold_through_instances_that_were_filtered_out():
    nodes = [node("c", **BACKUP), node("b", to=["c"], **BACKUP), node("a", to=["b"], **BACKUP)]
    world = started(*nodes)
    parameters = {"operation": "ops.backup", "node_ids": ["a", "c"], "run_by_dependency_order": True}
    world.run("execute_operation", **parameters)
    assert world.lines == ["ops.backup c_1", "ops.backup a_1"]
    failed = started(*nodes)
    failed.run("execute_operation", fails=lambda line: line.endswith("c_1"), **parameters)
    assert failed.lines == ["ops.backup c_1"]


# "type_names, node_ids, node_instance_ids - will all be enforced together"


def test_w26_the_filters_are_enforced_together():
    nodes = [
        node("db", types=DATABASE, instances=2, **BACKUP),
        node("old", types=DATABASE, **BACKUP),
        node("web", **BACKUP),
    ]
    given = {"type_names": ["shop.Database"], "node_ids": ["db", "web"], "node_instance_ids": ["db_2", "old_1"]}
    assert executed(*nodes, **given).lines == ["ops.backup db_2"]


def test_w26_types_that_derive_from_a_named_one_comply():
    child = node("child", types=("shop.Database", "shop.Replica"), **BACKUP)
    assert executed(child, node("web"), type_names=["shop.Database"]).lines == ["ops.backup child_1"]


@pytest.mark.parametrize("which", ["type_names", "node_ids", "node_instance_ids"])
def test_w26_an_empty_list_means_no_filtering(which):
    assert executed(node("web", **BACKUP), **{which: []}).lines == ["ops.backup web_1"]


def test_w26_when_the_filters_leave_nobody_there_is_nothing_to_do():
    world = started(node("db", **BACKUP), node("web", **BACKUP))
    verdict = world.run("execute_operation", operation="ops.backup", node_ids=["db"], node_instance_ids=["web_1"])
    assert (verdict.status, verdict.reason) == (
        "completed",
        "no instance was chosen, so there was nothing to do",
    )


# "Executing an operation on a node which has that interface operation but has not mapped it … will simply do nothing."


def test_w26_an_operation_that_is_declared_but_not_mapped_does_nothing():
    world = started(node("web", **{"ops.backup": ""}), node("db", **BACKUP))
    assert world.run("execute_operation", operation="ops.backup").status == "completed"
    assert world.lines == ["ops.backup db_1"]
    assert story(world, "web_1") == []


# "However, attempting to execute an operation on a node which doesn't have the relevant interface operation will result in a
#  workflow execution error."


def test_wd7_a_node_without_the_operation_is_an_error_before_anything_runs():
    ((code, message, mend),) = refused(
        node("web", **BACKUP), node("host"), node("net", **{"ops.restore": "p.r"}), operation="ops.backup"
    )
    assert (code, message) == ("PL-P006", "the operation 'ops.backup' is not declared by 'host', 'net'")
    assert "-p skip_undeclared=true" in mend


def test_wd7_many_nodes_without_the_operation_are_counted():
    ((_, message, _),) = refused(*[node(f"n{number:02}") for number in range(13)], operation="ops.backup")
    assert message.endswith("'n09' and 3 more")


def test_wd7_nodes_that_are_not_chosen_need_not_have_it():
    assert executed(node("web", **BACKUP), node("host"), node_ids=["web"]).lines == ["ops.backup web_1"]


def test_wd7_skip_undeclared_leaves_them_out_as_the_ancestor_does():
    assert executed(node("web", **BACKUP), node("host"), skip_undeclared=True).lines == ["ops.backup web_1"]
    verdict = started(node("host")).run("execute_operation", operation="ops.backup", skip_undeclared=True)
    assert verdict.status == "completed"


# "Send a node instance event about starting …", "… about completing the execution of the operation."


def story(world, id, **parameters):
    statuses = np.array([world.status[position] for position in range(len(world.last))], np.uint8)
    number = world.topology.number_of[id]
    return [str(line) for line in narrate(world.topology, world.last, statuses, number, parameters=parameters)]


def test_w26_events_tell_of_the_beginning_and_the_end():
    world = executed(node("web", **BACKUP))
    assert story(world, "web_1", operation="ops.backup") == [
        "E: Starting operation ops.backup",
        "E: Finished operation ops.backup",
    ]


def test_w26_events_name_the_operation_as_it_was_given_and_its_kwargs():
    world = executed(node("web", **BACKUP), operation="backup")
    given = {"operation": "backup", "operation_kwargs": {"level": 3}}
    assert story(world, "web_1", **given) == [
        "E: Starting operation backup (Operation parameters: {'level': 3})",
        "E: Finished operation backup",
    ]


def test_w26_a_failed_operation_is_not_said_to_be_finished():
    world = started(node("web", **BACKUP))
    world.run("execute_operation", operation="ops.backup", fails=lambda _: True)
    assert story(world, "web_1", operation="ops.backup") == ["E: Starting operation ops.backup"]


def test_w26_instances_that_only_keep_the_order_tell_nothing():
    nodes = [node("c", **BACKUP), node("b", to=["c"]), node("a", to=["b"], **BACKUP)]
    world = executed(*nodes, node_ids=["a", "c"], run_by_dependency_order=True)
    assert story(world, "b_1", operation="ops.backup") == []


# What the workflow shares with the others


def test_w26_a_canceled_execution_begins_nothing():
    built = started(node("web", **BACKUP)).topology
    history = History(np.zeros(1, np.uint8), canceled=True)
    answer = PLANNERS["execute_operation"](
        built, Request("execute_operation", {"operation": "ops.backup"}), history, lambda _: Declaration()
    )
    assert isinstance(answer, Verdict)
    assert answer.status == "canceled"


def test_w26_failures_are_counted_by_node_where_a_share_of_them_is_tolerated():
    built = started(node("db", **BACKUP), node("web", **BACKUP, instances=2)).topology
    request = Request("execute_operation", {"operation": "ops.backup"}, stop_after=StopAfter(share=0.5))
    history = History(np.zeros(3, np.uint8))
    graph = PLANNERS["execute_operation"](built, request, history, lambda _: Declaration())
    assert sorted(graph.group.tolist()) == [0, 1, 1]


def test_w26_an_operation_to_depend_on_is_awaited_when_it_is_the_one_that_is_executed():
    tie = relationship("db", after="create")
    world = executed(
        node("db", create="p.c"),
        node("web", tie, create="p.c"),
        operation="cloudify.interfaces.lifecycle.create",
        run_by_dependency_order=True,
    )
    assert world.lines == ["create db_1", "create web_1"]


def test_w26_a_null_parameter_means_its_default():
    built = started(node("web", **BACKUP)).topology
    given = {"operation": "ops.backup", "operation_kwargs": None, "node_ids": None, "run_by_dependency_order": None}
    assert check(built, Request("execute_operation", given)) == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("operation", 3),
        ("operation", None),
        ("operation_kwargs", [1]),
        ("allow_kwargs_override", "yes"),
        ("run_by_dependency_order", 1),
        ("skip_undeclared", "true"),
        ("speed", 3),
    ],
)
def test_w26_a_parameter_of_the_wrong_kind_is_refused(name, value):
    built = started(node("web", **BACKUP)).topology
    given = {"operation": "ops.backup", name: value}
    assert [problem.code for problem in check(built, Request("execute_operation", given))] == ["PL-P004"]


def test_wd7_an_operation_that_no_node_has_is_told_with_those_that_there_are():
    ((code, _, mend),) = refused(node("web", **BACKUP), node("host"), operation="ops.backups")
    assert code == "PL-P006"
    assert mend == "no node has it; correct the name; there are: ops.backup"
