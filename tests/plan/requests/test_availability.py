"""B23: availability rules of workflows."""

import numpy as np
import pytest

from phaseline.model.blueprint.blueprint import Availability
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.plan.requests.availability import activity, unavailable
from phaseline.testing.builders import blueprint, host, node, topology

APP = topology(blueprint(host("h"), node("web", on="h", instances=2)))


def states(*found):
    return np.array(found, np.uint8)


def why(rules, *found):
    return unavailable(rules, APP, states(*found))


UP, DOWN, HALF = State.STARTED, State.UNINITIALIZED, State.CREATED


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ((UP, UP, UP), {"all"}),
        ((DOWN, DOWN, DOWN), {"none"}),
        ((DOWN, State.DELETED, DOWN), {"none"}),
        ((UP, DOWN, UP), {"partial"}),
        ((DOWN, HALF, DOWN), {"none", "partial"}),
        ((State.STOPPED, State.STOPPED, State.STOPPED), {"none", "partial"}),
        ((), {"all", "none"}),
    ],
)
def test_b23_all_partial_and_none_active(found, words):
    assert activity(states(*found)) == words


def test_b23_one_of_the_words_is_enough():
    rules = Availability(node_instances_active=("all", "partial"))
    assert why(rules, UP, UP, UP) == ""
    assert why(rules, UP, HALF, DOWN) == ""
    assert why(rules, DOWN, DOWN, DOWN) == (
        "0 of 3 instances are started, and it is for deployments of which 'all' or 'partial' are active"
    )


def test_b23_without_rules_everything_is_available():
    assert why(Availability(), DOWN, UP, HALF) == ""


def test_b23_what_is_never_available_is_not():
    assert why(Availability(available=False), UP, UP, UP) == "the blueprint makes it never available"


def test_b23_one_node_of_one_of_the_types_is_enough():
    assert why(Availability(node_types_required=("x.Y", "cloudify.nodes.Compute")), UP, UP, UP) == ""
    assert why(Availability(node_types_required=("x.Z", "x.Y")), UP, UP, UP) == (
        "it needs a node of type x.Y or x.Z, and there is none"
    )


def test_b23_all_given_rules_must_hold():
    rules = Availability(node_instances_active=("all",), node_types_required=("x.Y",))
    assert "x.Y" in why(rules, UP, UP, UP)
    assert "started" in why(rules, DOWN, UP, UP)
