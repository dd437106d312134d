"""Scale: node instances and groups come and go (N6-N8, W40-W44), rule by rule; what runs is what the source says."""

from __future__ import annotations

import numpy as np
import pytest
from tests.plan.naive import World

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import History, Request
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.explain.cloudify_events import narrate
from phaseline.plan.requests.request_validation import check
from phaseline.plan.rounds.round_preview import foresee
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import blueprint, group, host, node, relationship, topology

LIFE = {"create": "p.c", "configure": "p.f", "start": "p.s", "stop": "p.o", "delete": "p.d"}
TIES = {"preconfigure": "p.1", "postconfigure": "p.2", "establish": "p.3", "unlink": "p.4"}


def tie(target, **more):
    return relationship(target, source=TIES, **more)


def world_of(*parts, state=State.STARTED):
    return World.fresh(topology(blueprint(*parts)), state)


def names(world, numbers):
    """Instances by node and index: their ids look random."""
    made = world.topology
    return [f"{made.nodes[made.node[number]].name}_{made.index[number]}" for number in numbers]


def there(world):
    return sorted(names(world, world.topology.is_there.nonzero()[0]))


def called(world, *, plain=False):
    """What was called, instances by node and index."""
    ids = dict(zip(world.topology.ids, names(world, range(len(world.topology))), strict=True))
    found = []
    for line in world.calls:
        what, _, who = line.partition(" ")
        ends, _, side = who.partition(":")
        told = ">".join(ids[end] for end in ends.split(">"))
        found.append(f"{what} {told}" + ("" if plain or not side else f":{side}"))
    return found


def refused(*parts, state=State.STARTED, made=None, **parameters):
    """The problems of a request that is refused before anything begins."""
    shape = made or topology(blueprint(*parts))
    return check(shape, Request("scale", parameters))


def codes(problems):
    return [problem.code for problem in problems]


def declare(_):
    return Declaration()


# W40: arguments


def test_w40_delta_is_added_to_the_count_in_force():
    world = world_of(node("web", instances=2, **LIFE))
    assert world.run("scale", scalable_entity_name="web").status.value == "completed"
    assert world.run("scale", scalable_entity_name="web", delta=2).status.value == "completed"
    assert there(world) == ["web_1", "web_2", "web_3", "web_4", "web_5"]
    assert dict(world.topology.counts) == {"web": 5}
    assert world.run("scale", scalable_entity_name="web", delta=-4).status.value == "completed"
    assert there(world) == ["web_1"]
    assert dict(world.topology.counts) == {"web": 1}


@pytest.mark.parametrize("delta", ["2", "+2", " 2 ", 2])
def test_w40_delta_may_be_a_numeric_text(delta):
    world = world_of(node("web", **LIFE))
    world.run("scale", scalable_entity_name="web", delta=delta)
    assert len(there(world)) == 3


@pytest.mark.parametrize("delta", ["two", "", "1.5", "0x2"])
def test_w40_any_other_text_is_refused(delta):
    (problem,) = refused(node("web"), scalable_entity_name="web", delta=delta)
    assert problem.code == "PL-N012"
    assert repr(delta) in problem.message


@pytest.mark.parametrize("delta", [1.5, True, [1]])
def test_w40_what_is_no_number_at_all_is_refused(delta):
    assert codes(refused(node("web"), scalable_entity_name="web", delta=delta)) == ["PL-P004"]


def test_w40_zero_changes_nothing_and_says_so():
    world = world_of(node("web", **LIFE))
    verdict = world.run("scale", scalable_entity_name="web", delta=0, include_instances="web_1")
    assert (verdict.status.value, verdict.reason) == ("completed", "delta is 0, so 'web' was left unchanged")
    assert (world.calls, world.topology.counts) == ([], {})


def test_w40_a_group_is_scaled_with_all_its_members():
    world = world_of(node("web", **LIFE), node("app", **LIFE), group("both", "web", "app"))
    world.run("scale", scalable_entity_name="both", delta=1)
    assert there(world) == ["app_1", "app_2", "web_1", "web_2"]
    assert list(world.topology.groups.index) == [1, 2]
    world.run("scale", scalable_entity_name="both", delta=-1)
    assert there(world) == ["app_1", "web_1"]
    assert world.topology.groups.is_there.tolist() == [True, False]


def test_w40_an_unknown_name_is_refused_with_a_guess():
    (problem,) = refused(node("webserver"), group("tier", "webserver"), scalable_entity_name="webservr")
    assert (problem.code, problem.mend) == ("PL-N008", "did you mean 'webserver'?")
    (problem,) = refused(node("webserver"), group("tier", "webserver"), scalable_entity_name="x")
    assert problem.mend == "there are: tier, webserver"


def test_w40_the_name_is_required():
    assert codes(refused(node("web"), delta=1)) == ["PL-P008"]


def test_w40_with_scale_compute_the_host_is_scaled_and_what_it_contains_comes_along():
    parts = (host("vm", **LIFE), node("web", on="vm", **LIFE), node("app", on="web", **LIFE), node("side", on="vm"))
    world = world_of(*parts)
    world.run("scale", scalable_entity_name="app", scale_compute=True)
    assert there(world) == ["app_1", "app_2", "side_1", "side_2", "vm_1", "vm_2", "web_1", "web_2"]
    assert dict(world.topology.counts) == {"vm": 2}


def test_w40_without_scale_compute_only_the_node_and_what_it_contains_are_scaled():
    world = world_of(host("vm", **LIFE), node("web", on="vm", **LIFE), node("app", on="web", **LIFE))
    world.run("scale", scalable_entity_name="web")
    assert there(world) == ["app_1", "app_2", "vm_1", "web_1", "web_2"]


@pytest.mark.parametrize("name", ["alone", "both"])
def test_w40_scale_compute_is_ignored_without_a_host_and_for_a_group(name):
    world = world_of(node("alone", **LIFE), host("vm"), node("web", on="vm"), group("both", "vm"))
    world.run("scale", scalable_entity_name=name, scale_compute=True)
    assert dict(world.topology.counts) == {name: 2}


def test_w40_fewer_than_none_is_refused():
    (problem,) = refused(node("web", instances=2), scalable_entity_name="web", delta=-3)
    assert problem.code == "PL-N013"
    assert problem.message == "3 instances of 'web' cannot be removed: there are 2"
    assert problem.mend == "give delta a number not below -2"


def test_w40_all_may_go():
    world = world_of(node("web", instances=2, **LIFE))
    world.run("scale", scalable_entity_name="web", delta=-2)
    assert there(world) == []
    world.run("scale", scalable_entity_name="web", delta=1)
    assert there(world) == ["web_3"]


def test_w40_included_ones_go_first_then_the_highest_index():
    world = world_of(node("web", instances=4, **LIFE))
    world.run("scale", scalable_entity_name="web", delta=-2, include_instances="web_1")
    assert there(world) == ["web_2", "web_3"]


def test_w40_of_more_than_go_only_some_of_the_included_ones_go():
    world = world_of(node("web", instances=4, **LIFE))
    world.run("scale", scalable_entity_name="web", delta=-1, include_instances=["web_1", "web_2"])
    assert there(world) == ["web_1", "web_3", "web_4"]


def test_w40_excluded_ones_stay():
    world = world_of(node("web", instances=4, **LIFE))
    world.run("scale", scalable_entity_name="web", delta=-2, exclude_instances=["web_4"])
    assert there(world) == ["web_1", "web_4"]


def test_w66_include_and_exclude_are_not_remembered():
    world = world_of(node("web", instances=5, **LIFE))
    world.run("scale", scalable_entity_name="web", delta=-1, include_instances="web_1", exclude_instances="web_5")
    assert there(world) == ["web_2", "web_3", "web_4", "web_5"]
    world.run("scale", scalable_entity_name="web", delta=-1)
    assert there(world) == ["web_2", "web_3", "web_4"]


@pytest.mark.parametrize("which", ["include_instances", "exclude_instances"])
def test_w40_who_goes_cannot_be_said_where_instances_are_added(which):
    (problem,) = refused(node("web", instances=2), scalable_entity_name="web", delta=1, **{which: "web_1"})
    assert (problem.code, which in problem.message) == ("PL-N014", True)


@pytest.mark.parametrize("which", ["include_instances", "exclude_instances"])
def test_w40_who_goes_cannot_be_said_with_scale_compute(which):
    parts = (host("vm", instances=2), node("web", on="vm"))
    found = refused(*parts, scalable_entity_name="web", delta=-1, scale_compute=True, **{which: "web_1"})
    assert codes(found) == ["PL-N014"]
    assert found[0].mend == "scale the host itself: -p scalable_entity_name=vm, without scale_compute"


def test_w40_instances_that_do_not_exist_are_refused_with_those_that_do():
    found = refused(
        node("web", instances=2), node("db"), scalable_entity_name="web", delta=-1,
        include_instances=["web_9", "db_1"], exclude_instances="x",
    )  # fmt: skip
    assert codes(found) == ["PL-N011"] * 3
    assert found[0].mend == "there are: web_1, web_2"


def test_w40_many_instances_are_not_all_listed():
    (problem,) = refused(node("web", instances=30), scalable_entity_name="web", delta=-1, include_instances="web_31")
    assert problem.mend.endswith("web_10 and 20 more")


def test_w40_nobody_can_be_included_and_excluded():
    found = refused(
        node("web", instances=3), scalable_entity_name="web", delta=-1,
        include_instances=["web_1"], exclude_instances=["web_1"],
    )  # fmt: skip
    assert codes(found) == ["PL-N014"]
    assert found[0].message == "'web_1' is in 'include_instances' and in 'exclude_instances'"


def test_w40_members_of_one_group_instance_cannot_be_included_and_excluded():
    parts = (node("web"), node("app"), group("both", "web", "app", instances=3))
    found = refused(*parts, scalable_entity_name="both", delta=-1, include_instances="web_1", exclude_instances="app_1")
    assert codes(found) == ["PL-N014"]
    assert "are in the same instance" in found[0].message


def test_wd2_more_must_remain_than_are_excluded():
    parts, excluded = (node("web", instances=4),), ["web_1", "web_2"]
    assert not refused(*parts, scalable_entity_name="web", delta=-1, exclude_instances=excluded)
    (problem,) = refused(*parts, scalable_entity_name="web", delta=-2, exclude_instances=excluded)
    assert problem.code == "PL-N014"
    assert problem.message == "2 instances of 'web' would remain, and 2 are excluded"
    assert "-p 'include_instances=[web_3, web_4]'" in problem.mend


def test_wd2_what_the_message_says_instead_does_it():
    world = world_of(node("web", instances=4, **LIFE))
    world.run("scale", scalable_entity_name="web", delta=-2, include_instances=["web_3", "web_4"])
    assert there(world) == ["web_1", "web_2"]


def test_w40_excluded_members_count_by_the_group_instances_that_they_lie_in():
    parts = (node("web"), node("app"), group("both", "web", "app", instances=4))
    together = ["web_1", "app_1", "web_2"]
    assert not refused(*parts, scalable_entity_name="both", delta=-1, exclude_instances=together)
    apart = ["web_1", "app_2", "web_3"]
    assert codes(refused(*parts, scalable_entity_name="both", delta=-1, exclude_instances=apart)) == ["PL-N014"]


def test_w40_a_group_instance_may_be_named_itself():
    world = world_of(node("web", **LIFE), group("tier", "web", instances=3))
    first = world.topology.groups.ids[0]
    world.run("scale", scalable_entity_name="tier", delta=-1, include_instances=first)
    assert there(world) == ["web_2", "web_3"]


def test_w40_an_instance_that_is_gone_cannot_be_named():
    world = world_of(node("web", instances=3, **LIFE))
    world.run("scale", scalable_entity_name="web", delta=-1)
    assert codes(refused(made=world.topology, scalable_entity_name="web", delta=-1, include_instances="web_3")) == [
        "PL-N011"
    ]


@pytest.mark.parametrize(
    ("delta", "how"), [(3, "more than its max_instances 4"), (-2, "less than its min_instances 1")]
)
def test_d19_limits_are_kept_unless_force_limits_is_said(delta, how):
    tier = altered(group("tier", "web", instances=2), min_instances=1, max_instances=4)
    parts = (node("web", **LIFE), tier)
    (problem,) = refused(*parts, scalable_entity_name="tier", delta=delta)
    assert (problem.code, how in problem.message) == ("PL-N010", True)
    world = world_of(*parts)
    world.run("scale", scalable_entity_name="tier", delta=delta, force_limits=True)
    assert len(there(world)) == 2 + delta


def test_w40_everything_that_is_wrong_is_told_at_once():
    found = refused(
        node("web", instances=3), scalable_entity_name="web", delta=-2,
        include_instances=["a", "b"], exclude_instances=["c"],
    )  # fmt: skip
    assert len(found) == 3


# W42: out


def test_w42_the_added_are_installed_and_intact_sources_establish():
    world = world_of(node("front", tie("web"), **LIFE), node("web", tie("db"), **LIFE), node("db", **LIFE))
    verdict = world.run("scale", scalable_entity_name="web")
    assert verdict.status.value == "completed"
    assert called(world) == [
        "create web_2",
        "preconfigure web_2>db_1:source",
        "configure web_2",
        "postconfigure web_2>db_1:source",
        "start web_2",
        "establish web_2>db_1:source",
        "establish front_1>web_2:source",
    ]
    assert [done.name for done in world.rounds] == ["begin web", "install web", "finish web"]


def test_w42_what_is_contained_in_the_added_is_installed_after_its_container():
    world = world_of(host("vm", **LIFE), node("web", on="vm", **LIFE))
    world.run("scale", scalable_entity_name="vm", delta=2)
    order = called(world)
    for number in (2, 3):
        assert order.index(f"start vm_{number}") < order.index(f"create web_{number}")
    assert len(order) == 12


def failing(*lines, world):
    """Whether a call fails, told by node and index."""

    def fails(line):
        what, _, who = line.partition(" ")
        ids = dict(zip(world.topology.ids, names(world, range(len(world.topology))), strict=True))
        return f"{what} {ids.get(who.partition('>')[0], who)}" in lines

    return fails


def test_w42_a_failure_is_rolled_back_and_the_added_are_gone():
    world = world_of(node("web", **LIFE))
    verdict = world.run("scale", scalable_entity_name="web", delta=2, fails=failing("start web_2", world=world))
    assert verdict.status.value == "failed"
    assert verdict.reason.endswith("what was begun was taken back")
    assert there(world) == ["web_1"]
    assert (dict(world.topology.counts), world.topology.started) == ({}, None)
    names_ = [done.name for done in world.rounds]
    assert names_ == ["begin web", "install web", "rollback web", "uninstall web", "take back web"]
    assert {"stop web_2", "delete web_2", "stop web_3", "delete web_3"} <= set(called(world))
    assert called(world).count("delete web_2") == 1
    assert {world.state(id) for id in world.topology.ids[1:]} == {"deleted"}


def test_w42_who_is_half_made_is_rolled_back_and_needs_no_uninstall():
    world = world_of(node("web", **LIFE))
    world.run("scale", scalable_entity_name="web", fails=failing("create web_2", world=world))
    assert [done.name for done in world.rounds] == ["begin web", "install web", "rollback web", "take back web"]
    assert called(world) == ["create web_2", "delete web_2"]


def test_w42_who_was_not_begun_is_simply_gone():
    world = world_of(node("web", precreate="p.x", **LIFE))
    world.run("scale", scalable_entity_name="web", fails=failing("precreate web_2", world=world))
    assert "stop web_2" not in called(world)
    assert there(world) == ["web_1"]


def test_w42_without_rollback_the_modification_stays_and_blocks_the_next_one():
    world = world_of(node("web", **LIFE))
    verdict = world.run(
        "scale", scalable_entity_name="web", rollback_if_failed=False, fails=failing("start web_2", world=world)
    )
    assert verdict.status.value == "failed"
    assert world.topology.started.name == "web"
    assert there(world) == ["web_1", "web_2"]
    held = altered(world.topology, started=altered(world.topology.started, execution="scale-3"))
    (problem,) = check(held, Request("scale", {"scalable_entity_name": "web"}))
    assert problem.code == "PL-P043"
    assert "scale-3" in problem.message
    assert "abort_started=true" in problem.mend
    with pytest.raises(ProblemsError, match="PL-P043"):
        PLANNERS["scale"](held, Request("scale", {"scalable_entity_name": "web"}), History(world.states), declare)


def test_w42_a_rollback_that_fails_leaves_the_modification_under_way():
    world = world_of(node("web", **LIFE))
    fails = failing("create web_2", "delete web_2", world=world)
    verdict = world.run("scale", scalable_entity_name="web", fails=fails)
    assert verdict.status.value == "failed"
    assert world.topology.started is not None
    assert there(world) == ["web_1", "web_2"]


def test_w45_failures_of_the_rollback_are_ignored_if_the_request_says_so():
    world = world_of(node("web", **LIFE))
    fails = failing("create web_2", "delete web_2", world=world)
    world.run("scale", scalable_entity_name="web", ignore_failure=True, fails=fails)
    assert world.topology.started is None
    assert there(world) == ["web_1"]


# W43: in


def test_w43_the_removed_are_uninstalled_and_intact_sources_unlink():
    world = world_of(node("front", tie("web"), **LIFE), node("web", tie("db"), instances=2, **LIFE), node("db", **LIFE))
    verdict = world.run("scale", scalable_entity_name="web", delta=-1)
    assert verdict.status.value == "completed"
    assert called(world) == [
        "unlink front_1>web_2:source",
        "stop web_2",
        "unlink web_2>db_1:source",
        "delete web_2",
    ]
    assert there(world) == ["db_1", "front_1", "web_1"]
    assert [done.name for done in world.rounds] == ["begin web", "uninstall web", "finish web"]


def test_w43_a_failure_takes_the_model_back_and_keeps_the_states_that_were_reached():
    world = world_of(node("web", instances=2, **LIFE))
    verdict = world.run("scale", scalable_entity_name="web", delta=-1, fails=failing("delete web_2", world=world))
    assert verdict.status.value == "failed"
    assert there(world) == ["web_1", "web_2"]
    assert (world.state("web_2"), world.topology.started) == ("deleting", None)
    assert [done.name for done in world.rounds] == ["begin web", "uninstall web", "take back web"]


def test_w43_without_rollback_it_stays_under_way():
    world = world_of(node("web", instances=2, **LIFE))
    fails = failing("delete web_2", world=world)
    world.run("scale", scalable_entity_name="web", delta=-1, rollback_if_failed=False, fails=fails)
    assert world.topology.started.removed.tolist() == [1]
    assert there(world) == ["web_1", "web_2"]


def test_w43_failures_are_ignored_if_the_request_says_so():
    world = world_of(node("web", instances=2, **LIFE))
    fails = failing("stop web_2", world=world)
    assert world.run("scale", scalable_entity_name="web", delta=-1, ignore_failure=True, fails=fails).status.value == (
        "completed"
    )
    assert there(world) == ["web_1"]


def test_n7_sources_of_an_all_to_one_whose_target_goes_are_tied_to_another_one():
    to_one = tie("db", connection_type="all_to_one")
    world = world_of(node("web", to_one, **LIFE), node("db", instances=2, **LIFE))
    world.run("scale", scalable_entity_name="db", delta=-1, include_instances="db_1")
    assert there(world) == ["db_2", "web_1"]
    assert [done.name for done in world.rounds] == [
        "begin db", "uninstall db", "retie db", "establish db", "finish db",
    ]  # fmt: skip
    assert called(world)[0] == "unlink web_1>db_1:source"
    assert called(world)[-1] == "establish web_1>db_2:source"


# N8, and what is gone


def test_n8_what_is_gone_takes_part_in_nothing_any_more():
    world = world_of(node("front", tie("web"), **LIFE), node("web", tie("db"), instances=3, **LIFE), node("db", **LIFE))
    world.run("scale", scalable_entity_name="web", delta=-2)
    world.lines.clear()
    for workflow in ("reinstall", "restart", "uninstall", "install"):
        world.run(workflow)
    gone = {"web_2", "web_3"}
    assert not {line for line in called(world, plain=True) if gone & set(line.split()[-1].split(">"))}


def test_n8_uninstall_after_scaling_leaves_nothing():
    world = world_of(host("vm", **LIFE), node("web", on="vm", **LIFE))
    world.run("scale", scalable_entity_name="vm", delta=2)
    world.run("uninstall")
    assert set(world.states.tolist()) == {State.DELETED}


def test_w44_graphs_carry_the_name_of_what_is_scaled_and_are_told_as_install_and_uninstall():
    world = world_of(node("web", **LIFE))
    world.run("scale", scalable_entity_name="web")
    statuses = np.array([world.status[place] for place in range(len(world.last))], np.uint8)
    lines = narrate(world.topology, world.last, statuses, 1, workflow="scale")
    assert [str(line) for line in lines][:2] == [
        "= initializing",
        "E: Validating node instance before creation: nothing to do",
    ]
    assert str(lines[-1]) == "E: Node instance started"


def test_w44_a_plan_shows_what_will_be():
    built = topology(blueprint(node("web", **LIFE)))
    history = History(np.full(1, State.STARTED, np.uint8))
    request = Request("scale", {"scalable_entity_name": "web", "delta": 3})
    found = foresee(PLANNERS["scale"], built, request, history, declare)
    assert [graph.name for _, graph in found.graphs] == ["install web"]
    assert found.verdict.status.value == "completed"
    assert (len(found.topology), dict(found.topology.counts)) == (4, {"web": 4})
    again = foresee(PLANNERS["scale"], built, request, history, declare)
    assert list(again.topology.ids) == list(found.topology.ids), "a plan shows the ids that will be"
