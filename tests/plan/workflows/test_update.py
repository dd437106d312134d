"""W60, W61: an update in the rarer turns: nothing to go by, no way back, relationships that have drifted."""

from __future__ import annotations

import pytest
from tests.plan.naive import World, ask

from phaseline.model.blueprint.blueprint import Relationship
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import Request, Round, Verdict
from phaseline.model.execution.stored_plans import PLAN, Aim
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.graph import operation_names as op
from phaseline.plan.workflows.update import BACK, problems
from phaseline.testing.builders import (
    CONNECTED_TO,
    DEPENDS_ON,
    RELATIONSHIP_LIFECYCLE,
    blueprint,
    node,
    operation,
    topology,
)

WEB = topology(blueprint(node("web", create="p.c")))
BIGGER = blueprint(node("web", create="p.c"), node("db", create="p.c"))


def aim(to, **fields):
    return Aim(to, {}, CodeLocation("."), suffixes=5, **fields)


def test_w60_an_update_without_a_plan_is_refused_by_its_planner():
    with pytest.raises(ProblemsError) as refused:
        ask("update", WEB)
    assert [problem.code for problem in refused.value.problems] == ["PL-P042"]


def test_w60_an_update_without_a_plan_is_a_problem_and_so_is_an_instance_that_there_is_not():
    request = Request("update", {"reinstall_list": ["web_1", "web_7"]})
    assert [problem.code for problem in problems(WEB, request)] == ["PL-P042", "PL-P001"]
    assert not list(problems(WEB, Request("update", {PLAN: 1, "reinstall_list": "web_1"})))


def test_w60_an_update_that_knows_no_former_blueprint_fails_without_a_way_back():
    world = World.fresh(WEB, State.STARTED)
    world.aim = aim(BIGGER)
    found = world.run("update", fails=lambda line: line.startswith("create db"), take_back=True)
    assert (found.status.value, [done.name for done in world.rounds]) == ("failed", ["new blueprint", "install"])


def test_w60_a_way_back_that_is_wanted_no_more_ends_with_what_had_failed():
    lost = Round("install", 0, {"failed": 1})
    found = ask("update", WEB, Round("new blueprint", 0, {}), lost, Round(BACK, 0, {}), take_back=False)
    assert isinstance(found, Verdict)
    assert found.status.value == "failed"


def test_n8_an_update_is_refused_in_the_middle_of_a_scaling():
    world = World.fresh(WEB, State.STARTED)
    world.run("scale", fails=lambda _: True, scalable_entity_name="web", rollback_if_failed=False)
    world.aim = aim(BIGGER)
    with pytest.raises(ProblemsError) as refused:
        world.run("update")
    assert [problem.code for problem in refused.value.problems] == ["PL-P043"]


CHECK = "check_drift web_1>db_1:source"


def tied(size):
    """A relationship that is checked for drift and can be updated."""
    names = {op.CHECK_RELATIONSHIP_DRIFT: "p.k", f"{RELATIONSHIP_LIFECYCLE}.update": "p.u"}
    side = {name: operation(name, implementation) for name, implementation in names.items()}
    return Relationship(CONNECTED_TO, (DEPENDS_ON, CONNECTED_TO), "db", {"size": size}, side, {}, "all_to_all")


@pytest.mark.parametrize(
    ("drifted", "fails", "expected"),
    [
        (False, False, []),
        (True, False, ["update web_1>db_1:source"]),
        (False, True, ["create web_1"]),
    ],
)
def test_w61_a_relationship_that_has_drifted_is_updated_and_one_that_could_not_be_checked_is_reinstalled(
    drifted, fails, expected
):
    old = topology(blueprint(node("db"), node("web", tied(1), create="p.c")))
    world = World.fresh(old, State.STARTED)
    world.aim = aim(blueprint(node("db"), node("web", tied(1), create="p.c")))
    world.drifted = frozenset({CHECK} if drifted else ())
    world.run("update", fails=lambda line: fails and line == CHECK)
    assert world.calls == [CHECK, *expected]
