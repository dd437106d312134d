"""Abandoning: not in the middle of a modification, and not once it is canceled."""

from __future__ import annotations

from tests.plan.naive import World, ask

from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import Request, Verdict
from phaseline.plan.workflows.abandon import problems
from phaseline.testing.builders import blueprint, node, topology


def test_a_deployment_whose_abandoning_is_canceled_is_kept():
    found = ask("abandon", topology(blueprint(node("web"))), canceled=True)
    assert isinstance(found, Verdict)
    assert (found.status.value, found.forgets) == ("canceled", False)


def test_a_deployment_in_the_middle_of_a_scaling_is_abandoned_by_force_only():
    world = World.fresh(topology(blueprint(node("web", create="p.c"))), State.STARTED)
    assert not list(problems(world.topology, Request("abandon")))
    world.run("scale", fails=lambda _: True, scalable_entity_name="web", rollback_if_failed=False)
    assert [problem.code for problem in problems(world.topology, Request("abandon"))] == ["PL-P043"]
    assert not list(problems(world.topology, Request("abandon", {"force": True})))
