"""An update whose rounds are those of another workflow."""

from __future__ import annotations

import pytest
from tests.plan.naive import World

from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.stored_plans import Aim
from phaseline.model.problems.problem import ProblemsError
from phaseline.testing.builders import blueprint, node, topology


def test_w60_a_workflow_that_the_deployment_does_not_have_cannot_take_an_update_over():
    world = World.fresh(topology(blueprint(node("web"))), State.STARTED)
    world.aim = Aim(blueprint(node("web"), node("db")), {}, CodeLocation("."), suffixes=5)
    with pytest.raises(ProblemsError) as refused:
        world.run("update", workflow_id="polish")
    assert [problem.code for problem in refused.value.problems] == ["PL-P009"]
    assert "polish" in refused.value.problems[0].message
