"""The story of one instance at breakpoints: it is told as far as the instance has come (H46, W12)."""

from __future__ import annotations

import numpy as np
import pytest
from tests.plan.naive import World

from phaseline.model.execution.breakpoints import read_breakpoint
from phaseline.model.graph.status import EntryStatus as Status
from phaseline.plan.explain.cloudify_events import narrate
from phaseline.testing.builders import blueprint, node, topology

CREATED = ["= created", "E: Configuring node instance: nothing to do"]


def told_at(point: str, status: Status) -> list[str]:
    """The last two lines of an install whose instance has a breakpoint with this status; nothing after it has begun."""
    world = World.fresh(topology(blueprint(node("a", create="p.c", start="p.s"))))
    world.breakpoints = (read_breakpoint(point),)
    world.run("install")
    assert world.last is not None
    statuses = np.array([world.status[position] for position in range(len(world.last))], np.uint8)
    (at,) = [step.first for step in world.last.steps if step.phase == f"breakpoint {point}"]
    statuses[at] = status
    statuses[at + 1 :] = Status.BLOCKED
    return [str(line) for line in narrate(world.topology, world.last, statuses, 0)][-2:]


@pytest.mark.parametrize(
    ("point", "before"),
    [
        ("pre-start", CREATED[1]),
        ("post-create", CREATED[0]),
        ("pre-configure", CREATED[0]),
        ("post-configure", CREATED[1]),
    ],
)
def test_h46_the_story_ends_at_the_breakpoint_that_an_instance_stands_at(point, before):
    assert told_at(point, Status.WAITING)[-1] == before, "it has not come to it"
    paused = f"E: Node instance paused at {point} until it is cleared"
    assert told_at(point, Status.SLEEPING) == [before, paused]


def test_h46_an_instance_whose_breakpoint_was_cleared_goes_on():
    assert told_at("post-create", Status.COMPLETED)[:2] == [
        "E: Node instance continues from post-create",
        "E: Configuring node instance: nothing to do",
    ]
