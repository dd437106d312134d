"""W42: a scaling that cannot be taken back whole stays under way."""

from __future__ import annotations

from tests.plan.naive import World

from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.testing.builders import blueprint, node, topology


def test_w42_what_cannot_be_uninstalled_keeps_a_failed_scaling_under_way():
    steps = {"create": "p.c", "start": "p.s", "delete": "p.d"}
    world = World.fresh(topology(blueprint(node("web", **steps))), State.STARTED)
    lost = ("start", "delete")
    found = world.run(
        "scale", fails=lambda line: line.startswith(lost), scalable_entity_name="web", ignore_failure=False
    )
    assert found.status.value == "failed"
    assert world.rounds[-1].name == "uninstall web"
    assert world.topology.started is not None
