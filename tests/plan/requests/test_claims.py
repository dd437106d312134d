"""What an execution owns and leans on, and when two of them collide (decision 4, W10)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.model.blueprint.blueprint import Value
from phaseline.model.execution.execution import Request
from phaseline.plan.requests.claims import EVERYTHING, Claim, claim_of, collide
from phaseline.testing.builders import blueprint, node, relationship, topology

HOSTS = topology(
    blueprint(
        node("net"),
        node("host", to=["net"], instances=2),
        node("app", on="host"),
        node("module", on="app"),
    )
)


def claimed(workflow: str, **parameters: Value) -> tuple[set[str], set[str]]:
    claim = claim_of(HOSTS, Request(workflow, parameters))
    assert claim.own is not None
    return {HOSTS.ids[number] for number in claim.own}, {HOSTS.ids[number] for number in claim.leans}


def request(workflow: str, *ids: str) -> Claim:
    return claim_of(HOSTS, Request(workflow, {"node_instance_ids": list(ids)}))


def test_w10_without_a_filter_the_whole_deployment_is_claimed() -> None:
    assert claim_of(HOSTS, Request("install")) is EVERYTHING
    assert claim_of(HOSTS, Request("nobody's")).own is None
    assert claim_of(HOSTS, Request("install", {"node_ids": ["net", "host", "app", "module"]})) is EVERYTHING


def test_w10_who_is_chosen_is_owned_and_its_surroundings_are_leant_on() -> None:
    assert claimed("reinstall", node_instance_ids=["app_1"]) == ({"app_1"}, {"host_1", "module_1"})
    assert claimed("stop", node_ids=["host"]) == (
        {"host_1", "host_2"},
        {"net_1", "app_1", "app_2", "module_1", "module_2"},
    )
    assert claimed("start", node_instance_ids=["module_1"]) == ({"module_1"}, {"app_1", "host_1"})


def test_w10_a_full_rollback_claims_everything() -> None:
    asked = {"node_ids": ["app"]}
    assert claimed("rollback", **asked)[0] == {"app_1", "app_2"}
    assert claim_of(HOSTS, Request("rollback", {**asked, "full_rollback": True})) is EVERYTHING


def test_w10_neighbours_by_a_rule_are_leant_on() -> None:
    many = topology(blueprint(node("db", instances=2), node("web", relationship("db"), instances=2)))
    assert any(link.is_rule for link in many.links)
    claim = claim_of(many, Request("stop", {"node_instance_ids": ["web_1"]}))
    assert [many.ids[number] for number in claim.leans] == ["db_1", "db_2"]


@pytest.mark.parametrize(
    ("one", "other", "meets"),
    [
        (("app_1",), ("app_2",), False),
        (("app_1",), ("app_1",), True),
        (("app_1",), ("host_1",), True),
        (("module_1",), ("host_1",), True),
        (("app_1", "app_2"), ("net_1",), False),
    ],
)
def test_w10_two_collide_where_one_owns_what_the_other_needs(
    one: tuple[str, ...], other: tuple[str, ...], meets: bool
) -> None:
    assert collide(request("stop", *one), request("reinstall", *other)) is meets
    assert collide(request("reinstall", *other), request("stop", *one)) is meets
    assert collide(EVERYTHING, request("stop", *one))


def test_w10_ways_of_resources_keep_apart_by_themselves() -> None:
    reach = claim_of(HOSTS, Request("reach"))
    assert not collide(reach, reach)
    assert collide(reach, EVERYTHING)


NUMBERS = st.sets(st.integers(0, 12), max_size=5)


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_w10_collisions_are_those_of_sets(
    own: set[int], leans: set[int], other_own: set[int], other_leans: set[int]
) -> None:
    one, other = (
        Claim(*(np.array(sorted(numbers), np.int64) for numbers in pair))
        for pair in ((own, leans - own), (other_own, other_leans - other_own))
    )
    expected = bool(own & (other_own | other_leans - other_own) or (leans - own) & other_own)
    assert collide(one, other) is collide(other, one) is expected
