"""W30-W37: whom a heal concerns."""

from __future__ import annotations

import numpy as np

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import History, Request, Round
from phaseline.plan.transforms.pipeline import Asked
from phaseline.plan.workflows import heal
from phaseline.testing.builders import blueprint, host, node, topology

SHOP = topology(blueprint(host("vm"), node("web", on="vm", check_status="p.k"), node("db", check_status="p.k")))


def concerned(*rounds, called=lambda _: None, **parameters):
    states = np.full(len(SHOP), State.STARTED, np.uint8)
    history = History(states, rounds, called=called)
    found = heal.concerned(Asked(SHOP, Request("heal", parameters), history, lambda _: Declaration()))
    return [SHOP.ids[number] for number in found.nonzero()[0]]


def test_w30_a_forced_reinstall_concerns_the_host_of_the_instance_and_all_on_it():
    assert concerned(force_reinstall=True, node_instance_id="web_1") == ["vm_1", "web_1"]


def test_w30_an_instance_that_there_is_not_concerns_nobody():
    assert concerned(force_reinstall=True, node_instance_id="web_9") == []


def test_a_heal_that_has_begun_concerns_those_that_its_rounds_called():
    called = {"uninstall": np.array([id == "web_1" for id in SHOP.ids])}
    rounds = Round("heal", 0, {"failed": 1}), Round("uninstall", 0, {"completed": 1})
    assert concerned(*rounds, called=called.get) == ["web_1"]
