"""Adopting: states that nothing knows, and an adoption of nobody."""

from __future__ import annotations

from tests.plan.naive import World, ask

from phaseline.model.execution.execution import Verdict
from phaseline.testing.builders import blueprint, node, topology


def test_who_is_adopted_in_a_state_that_is_not_known_becomes_started():
    world = World.fresh(topology(blueprint(node("web", instances=2))))
    world.run("adopt", states={"polished": [[0, 1]], "suspended": [[1, 1]]})
    assert (world.state("web_1"), world.state("web_2")) == ("started", "suspended")


def test_an_adoption_of_nobody_is_done_at_once_and_a_canceled_one_adopts_nobody():
    empty, web = topology(blueprint()), topology(blueprint(node("web")))
    done, stopped = ask("adopt", empty), ask("adopt", web, canceled=True)
    assert isinstance(done, Verdict)
    assert isinstance(stopped, Verdict)
    assert (done.status.value, stopped.status.value) == ("completed", "canceled")
