"""Source document 3, built-in workflows: "The Install Workflow", sentence by sentence; W20-W22, W6."""

from __future__ import annotations

import pytest
from tests.plan.naive import World, uncalled

from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import RetryPolicy
from phaseline.testing.builders import blueprint, host, node, operation, relationship, topology

EVERY_OPERATION = {
    "validate_creation": "p.validate",
    "precreate": "p.precreate",
    "create": "p.create",
    "configure": "p.configure",
    "start": "p.start",
    "get_state": "p.get_state",
    "agent_monitoring_install": "p.install_monitor",
    "agent_monitoring_start": "p.start_monitor",
    "poststart": "p.poststart",
    "monitoring_start": "p.watch",
}


def installed(*nodes, **given):
    world = World.fresh(topology(blueprint(*nodes)))
    world.run("install", **given)
    return world


# "Wait for node instance relationships to be started"


def test_wd10_w20_1_an_instance_begins_after_the_instances_it_depends_on_are_started():
    world = installed(node("db", create="p.c", start="p.s"), node("web", to=["db"], create="p.c"))
    assert world.place("=started db_1") < world.place("=initializing web_1") < world.place("create web_1")


def test_w20_1_every_type_of_relationship_is_waited_for():
    for kind in ("contained_in", "connected_to", "depends_on"):
        tie = relationship("db", f"cloudify.relationships.{kind}")
        world = installed(node("web", tie, create="p.c"), node("db", start="p.s"))
        assert world.place("=started db_1") < world.place("create web_1")


def test_w20_1_an_instance_waits_for_all_instances_of_an_all_to_all_target():
    world = installed(node("db", start="p.s", instances=3), node("web", to=["db"], create="p.c", instances=2))
    started = [world.place(f"=started db_{index}") for index in (1, 2, 3)]
    assert max(started) < min(world.place("create web_1"), world.place("create web_2"))


def test_w20_1_a_contained_instance_waits_for_its_own_container_only():
    world = World.fresh(topology(blueprint(host("h", create="p.c", instances=2), node("web", on="h", create="p.c"))))
    world.run("install", fails=lambda line: line == "create h_1")
    assert "create web_1" not in world.calls
    assert world.state("web_2") == "started"


def test_w20_1_order_holds_through_an_instance_with_nothing_to_do():
    world = installed(node("a", start="p.s"), node("b", to=["a"]), node("c", to=["b"], create="p.c"))
    assert world.place("=started a_1") < world.place("=started b_1") < world.place("create c_1")


def test_w20_independent_instances_do_not_wait_for_each_other():
    world = World.fresh(topology(blueprint(node("a", create="p.c"), node("b", create="p.c"))))
    world.run("install", fails=lambda line: line == "create a_1")
    assert (world.state("a_1"), world.state("b_1")) == ("creating", "started")


# Steps 2-12 and their order


def test_w20_2_to_12_all_operations_of_a_host_run_in_the_order_of_the_document():
    ties = relationship(
        "db",
        source={"preconfigure": "p.a", "postconfigure": "p.b", "establish": "p.c"},
    )
    world = installed(node("db"), host("h", ties, **EVERY_OPERATION))
    assert world.of("h_1") == [
        "=initializing",
        "validation.create",
        "precreate",
        "=creating",
        "create",
        "=created",
        "preconfigure",
        "=configuring",
        "configure",
        "=configured",
        "postconfigure",
        "=starting",
        "start",
        "host.get_state",
        "monitoring_agent.install",
        "monitoring_agent.start",
        "poststart",
        "monitoring.start",
        "establish",
        "=started",
    ]


def test_w20_10_only_hosts_run_the_operations_of_the_host_step():
    world = installed(node("plain", **EVERY_OPERATION))
    assert not {"host.get_state", "monitoring_agent.install", "monitoring_agent.start"}.intersection(
        world.of("plain_1")
    )
    assert "monitoring.start" in world.of("plain_1")


def test_w20_footnote_1_an_operation_without_a_task_does_nothing():
    world = installed(node("a", create="", start="p.s"))
    assert world.of("a_1") == ["=initializing", "=starting", "start", "=started"]


def test_w20_a_step_without_implementation_takes_its_states_along():
    world = installed(node("a", configure="p.c"))
    assert world.of("a_1") == ["=initializing", "=configuring", "configure", "=configured", "=started"]


def test_w20_with_nothing_implemented_an_instance_only_becomes_started():
    assert installed(node("a")).of("a_1") == ["=started"]


def test_wd13_operations_that_old_types_do_not_declare_are_absent():
    assert installed(node("a", create="p.c")).of("a_1") == [
        "=initializing",
        "=creating",
        "create",
        "=created",
        "=started",
    ]


def test_w20_relationship_operations_first_still_come_after_initializing():
    world = installed(node("db"), node("web", relationship("db", source={"preconfigure": "p.a"}), start="p.s"))
    assert world.of("web_1") == ["=initializing", "preconfigure", "=starting", "start", "=started"]


def test_w20_started_comes_after_the_last_relationship_operation():
    world = installed(node("db"), node("web", relationship("db", source={"establish": "p.a"}), start="p.s"))
    assert world.of("web_1") == ["=initializing", "=starting", "start", "establish", "=started"]


# Footnote 2: relationship operations


def test_w6_operations_are_executed_in_the_order_of_the_template():
    ties = [relationship(name, source={"establish": "p.e"}) for name in ("b", "c", "a")]
    world = installed(node("a"), node("b"), node("c"), node("web", *ties))
    assert world.calls == ["establish web_1>b_1:source", "establish web_1>c_1:source", "establish web_1>a_1:source"]


def test_w6_both_sides_and_all_instances_of_a_group_run_side_by_side():
    tie = relationship("db", source={"establish": "p.s"}, to={"establish": "p.t"})
    world = World.fresh(topology(blueprint(node("db", instances=2), node("web", tie))))
    world.run("install", fails=lambda line: line == "establish web_1>db_1:source")
    assert sorted(world.calls) == [
        "establish web_1>db_1:source",
        "establish web_1>db_1:target",
        "establish web_1>db_2:source",
        "establish web_1>db_2:target",
    ]


def test_w6_a_group_waits_for_the_group_before_it():
    ties = [relationship(n, source={"establish": "p.s"}, to={"establish": "p.t"}) for n in ("a", "b")]
    world = World.fresh(topology(blueprint(node("a"), node("b"), node("web", *ties))))
    world.run("install", fails=lambda line: line == "establish web_1>a_1:target")
    assert world.calls == ["establish web_1>a_1:source", "establish web_1>a_1:target"]
    assert world.state("web_1") == "initializing"


def test_n3_two_relationships_to_one_target_both_run():
    ties = [relationship("db", source={"establish": f"p.{n}"}) for n in ("a", "b")]
    assert len(installed(node("db"), node("web", *ties)).calls) == 2


def test_w6_the_same_target_again_later_in_the_template_is_a_group_of_its_own():
    ties = [relationship(n, source={"establish": "p.e"}) for n in ("a", "b", "a")]
    world = installed(node("a"), node("b"), node("web", *ties))
    assert [line.split(">")[1] for line in world.calls] == ["a_1:source", "b_1:source", "a_1:source"]


# W21: what is there is not made again

SKIPS = {
    State.CREATING: ["create", "preconfigure", "configure", "postconfigure", "start", "poststart", "establish"],
    State.CREATED: ["preconfigure", "configure", "postconfigure", "start", "poststart", "establish"],
    State.CONFIGURING: ["preconfigure", "configure", "postconfigure", "start", "poststart", "establish"],
    State.CONFIGURED: ["postconfigure", "start", "poststart", "establish"],
    State.STARTING: ["postconfigure", "start", "poststart", "establish"],
    State.STARTED: [],
}


@pytest.mark.parametrize(("state", "called"), SKIPS.items(), ids=lambda value: getattr(value, "word", None))
def test_w21_steps_that_the_present_state_makes_superfluous_are_skipped(state, called):
    tie = relationship("db", source={"preconfigure": "p.a", "postconfigure": "p.b", "establish": "p.c"})
    world = World.fresh(topology(blueprint(node("db"), node("web", tie, **EVERY_OPERATION))))
    world.states[1] = state
    world.run("install")
    found = [what for what in world.of("web_1") if "=" not in what and what != "monitoring.start"]
    assert found == called
    assert world.state("web_1") == "started"


def test_w21_a_started_instance_only_becomes_started():
    world = World.fresh(topology(blueprint(node("a", **EVERY_OPERATION))), State.STARTED)
    world.run("install")
    assert world.of("a_1") == ["=started"]


def test_w21_initializing_is_set_although_the_instance_was_configured():
    world = World.fresh(topology(blueprint(node("a", start="p.s"))), State.CONFIGURED)
    world.run("install")
    assert world.of("a_1") == ["=initializing", "=starting", "start", "=started"]


# W22: filters, intact instances, depends_on_lifecycle_operation


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ["a_1", "a_2", "b_1"]),
        ({"node_ids": ["a"]}, ["a_1", "a_2"]),
        ({"node_instance_ids": ["a_2", "b_1"]}, ["a_2", "b_1"]),
        ({"type_names": ["special"]}, ["b_1"]),
        ({"type_names": ["cloudify.nodes.Root"]}, ["a_1", "a_2", "b_1"]),
        ({"node_ids": ["a"], "node_instance_ids": ["a_1", "b_1"]}, ["a_1"]),
        ({"node_ids": ["a"], "type_names": ["special"]}, []),
        ({"node_ids": []}, ["a_1", "a_2", "b_1"]),
    ],
)
def test_w22_filters_are_enforced_together_and_empty_ones_filter_nothing(given, expected):
    nodes = [node("a", instances=2, create="p.c"), node("b", types=("special", "derived"), create="p.c")]
    assert [line.split()[1] for line in installed(*nodes, **given).calls] == expected


def test_w22_a_choice_of_nobody_completes_with_a_reason():
    world = World.fresh(topology(blueprint(node("a"))))
    assert world.run("install", node_ids=["x"]).status == "completed"
    assert "nothing to do" in world.run("install", node_ids=["x"]).reason


def test_w22_an_intact_instance_establishes_its_relationships_to_chosen_ones_and_nothing_else():
    ties = [relationship(name, source={"establish": "p.s"}, to={"establish": "p.t"}) for name in ("db", "cache")]
    web = node("web", *ties, create="p.c", start="p.s")
    world = installed(node("db", create="p.c"), node("cache", create="p.c"), web, node_ids=["db"])
    assert world.of("web_1") == ["establish", "establish"]
    assert world.place("=started db_1") < world.place("establish web_1>db_1:source")
    assert world.state("web_1") == "uninitialized"


def test_w22_order_holds_through_intact_instances():
    nodes = [node("a", start="p.s"), node("b", to=["a"], start="p.s"), node("c", to=["b"], create="p.c")]
    world = World.fresh(topology(blueprint(*nodes)))
    world.run("install", node_ids=["a", "c"], fails=lambda line: line == "start a_1")
    assert world.calls == ["start a_1"]


def test_w22_intact_instances_that_keep_no_order_take_no_part():
    world = installed(*[node(f"n{i}", to=[f"n{i - 1}"] if i else [], create="p.c") for i in range(5)], node_ids=["n2"])
    assert len(world.last) == 1


def test_w22_depends_on_lifecycle_operation_waits_for_that_operation_only():
    nodes = [node("db", create="p.c", start="p.s"), node("web", relationship("db", after="create"), create="p.c")]
    world = World.fresh(topology(blueprint(*nodes)))
    world.run("install", fails=lambda line: line == "start db_1")
    assert world.state("web_1") == "started"
    assert world.place("=created db_1") < world.place("create web_1")


def test_w22_depends_on_lifecycle_operation_without_a_task_waits_for_the_whole():
    nodes = [node("db", start="p.s"), node("web", relationship("db", after="create"), create="p.c")]
    world = installed(*nodes)
    assert world.place("=started db_1") < world.place("create web_1")


# W2-W4: retries and failure


def policies_of(world, operation_name):
    step = next(step for step in world.last.steps if step.phase.endswith(operation_name))
    return world.last.policies[world.last.policy[step.first]]


def test_w3_an_operation_has_its_own_retries_or_those_of_the_execution():
    own = operation("cloudify.interfaces.lifecycle.start", "p.s", max_retries=2, retry_interval_s=0.5, timeout_s=3)
    world = installed(node("a", create="p.c", start=own), retries=RetryPolicy(7, 3))
    create, start = policies_of(world, ".create"), policies_of(world, ".start")
    assert (create.max_retries, create.retry_interval_ms, create.timeout_ms) == (7, 3000, 0)
    assert (start.max_retries, start.retry_interval_ms, start.timeout_ms) == (2, 500, 3000)


def test_wd14_the_default_is_60_retries_every_15_seconds():
    create = policies_of(installed(node("a", create="p.c")), ".create")
    assert (create.max_retries, create.retry_interval_ms) == (60, 15_000)


def test_w3_get_state_of_a_host_is_retried_without_limit_until_it_is_true():
    policy = policies_of(installed(host("h", get_state="p.g")), "get_state")
    assert policy.until_true
    assert policy.max_retries == -1


def test_w4_dependents_of_a_failure_never_run_and_independent_branches_go_on():
    nodes = [node("a", create="p.c"), node("b", to=["a"], create="p.c"), node("c", create="p.c")]
    world = World.fresh(topology(blueprint(*nodes)))
    verdict = world.run("install", fails=lambda line: line == "create a_1")
    assert sorted(world.calls) == ["create a_1", "create c_1"]
    assert verdict.status == "failed"
    assert verdict.reason == "1 operation failed, 1 step that depends on it was skipped"


def test_w4_the_state_of_a_failed_instance_stays_where_it_was():
    world = World.fresh(topology(blueprint(node("a", create="p.c", configure="p.f"))))
    world.run("install", fails=lambda line: line.startswith("configure"))
    assert world.state("a_1") == "configuring"


def test_w1_operations_without_implementation_make_no_entries():
    world = installed(*[node(f"n{i}", create="p.c", start="") for i in range(10)])
    assert (len(world.last), uncalled(world.last)) == (10, 0)


# W8: clean-up before a resumed install


def test_w8_half_made_instances_are_cleaned_up_first_then_installed_from_their_state():
    made = {"prestop": "p.a", "stop": "p.b", "delete": "p.c", "postdelete": "p.d", "create": "p.e", "start": "p.f"}
    world = World.fresh(topology(blueprint(node("starting", **made), node("creating", **made), node("done", **made))))
    world.states[:] = [State.STARTING, State.CREATING, State.STARTED]
    assert world.run("install", clean=True).status == "completed"
    assert world.of("starting_1") == ["prestop", "stop", "=initializing", "=starting", "start", "=started"]
    assert [what for what in world.of("creating_1") if "=" not in what] == ["delete", "postdelete", "create", "start"]
    assert world.of("done_1") == ["=started"]


def test_w8_failures_of_the_clean_up_are_ignored_and_not_tried_again():
    world = World.fresh(topology(blueprint(node("a", stop="p.b", start="p.f"))), State.STARTING)
    assert world.run("install", clean=True, fails=lambda line: line == "stop a_1").status == "completed"
    assert world.state("a_1") == "started"


def test_w8_without_half_made_instances_there_is_no_clean_up():
    world = World.fresh(topology(blueprint(node("a", stop="p.b", start="p.f"))))
    world.run("install", clean=True)
    assert world.calls == ["start a_1"]
