"""DP7: which instances a workflow takes away or stops, and which are behind a capability."""

from __future__ import annotations

import numpy as np
import pytest

from phaseline.model.blueprint.blueprint import Value
from phaseline.model.execution.execution import Request
from phaseline.model.health.checks import CheckKind, CheckResult, Checks
from phaseline.plan.requests.touched import instances_behind, removed, touched_at_once
from phaseline.testing.builders import blueprint, node, scaled, topology

NET = topology(blueprint(node("router", instances=2), node("other")))
NO_CHECKS = Checks({})


def named(chosen: np.ndarray | None) -> set[str] | None:
    return None if chosen is None else {NET.ids[number] for number in chosen.nonzero()[0].tolist()}


@pytest.mark.parametrize("workflow", ["uninstall", "abandon", "delete", "stop", "restart", "reinstall"])
def test_dp7_whole_workflows_touch_everything(workflow: str) -> None:
    assert touched_at_once(NET, Request(workflow), NO_CHECKS) is None


@pytest.mark.parametrize("workflow", ["stop", "restart", "reinstall"])
def test_dp7_workflows_of_chosen_instances_touch_these(workflow: str) -> None:
    request = Request(workflow, {"node_instance_ids": ["router_2"]})
    assert named(touched_at_once(NET, request, NO_CHECKS)) == {"router_2"}


@pytest.mark.parametrize("workflow", ["install", "check_status", "execute_operation", "scale", "update", "mine"])
def test_dp7_other_workflows_touch_nothing_before_they_are_planned(workflow: str) -> None:
    assert named(touched_at_once(NET, Request(workflow), NO_CHECKS)) == set()


@pytest.mark.parametrize(
    ("parameters", "touched"), [({}, {"router_1"}), ({"allow_reinstall": False}, set()), ({"node_id": "other"}, set())]
)
def test_dp7_heal_touches_what_is_known_to_be_unhealthy_if_it_may_reinstall(
    parameters: dict[str, Value], touched: set[str]
) -> None:
    results = np.zeros(len(NET), np.uint8)
    results[NET.number_of["router_1"]] = CheckResult.FAILED
    results[NET.number_of["router_2"]] = CheckResult.GOOD
    checks = Checks({CheckKind.STATUS: results})
    request = Request("heal", {**parameters} if "node_id" not in parameters else {"node_instance_id": "other_1"})
    if parameters.get("allow_reinstall") is False:
        request = Request("heal", parameters)
    assert named(touched_at_once(NET, request, checks)) == touched


def test_a29_a_smaller_topology_has_removed_instances_and_a_larger_one_none() -> None:
    less, more = scaled(NET, router=1), scaled(NET, router=3)
    assert named(removed(NET, less)) == {"router_2"}
    assert named(removed(NET, more)) == set()


@pytest.mark.parametrize(
    ("value", "behind"),
    [
        ({"get_attribute": ["router", "ip"]}, {"router_1", "router_2"}),
        ({"get_property": ["other", "port", 0]}, {"other_1"}),
        ({"get_attribute": ["nobody", "ip"]}, None),
        ({"get_attribute": ["router", {"get_input": "key"}]}, None),
        ({"get_attributes_list": ["router", "ip"]}, None),
        ({"concat": [{"get_attribute": ["router", "ip"]}, ":80"]}, None),
        ({"url": {"get_attribute": ["router", "ip"]}}, None),
        ("plain", None),
        (None, None),
    ],
)
def test_dp7_only_a_single_chain_is_that_of_one_node(value: Value, behind: set[str] | None) -> None:
    assert named(instances_behind(NET, value)) == behind
