"""How many instances deployments with one label may have together."""

import pytest

from phaseline.calls.deployments.call_subjects import LoadedDeployment
from phaseline.calls.protocol.hook_lookup import Usage
from phaseline.policies.quotas import Quota
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.hook_calls import called, deployment

ROOT, SERVER = "cloudify.nodes.Root", "acme.nodes.Server"
OTHERS = [Usage("shop", {(ROOT, SERVER): 9}), Usage("blog", {(ROOT, SERVER): 3, (ROOT,): 1})]


def farm(count: int, team: str | None = "web") -> LoadedDeployment:
    labels = {"team": [team]} if team else {}
    return deployment(topology(blueprint(node("web", types=[SERVER], instances=count))), labels=labels)


def test_instances_of_all_deployments_with_the_label_count_together():
    assert called(Quota("team", 6), farm(2), usage=OTHERS).kind == "agreed"
    answer = called(Quota("team", 6), farm(3), usage=OTHERS)
    assert answer.message == (
        "team=web may have 6 instances: 4 are there in 1 other deployments, and with shop it would be 7"
    )


def test_the_deployment_itself_is_counted_by_what_it_will_have():
    assert (
        called(Quota("team", 5), farm(9), usage=OTHERS, target=farm(1), action="SCALE", workflow="scale").kind
        == "agreed"
    )


def test_one_type_is_counted():
    assert called(Quota("team", 5, type=SERVER), farm(2), usage=OTHERS).kind == "agreed"
    assert "instances of acme.nodes.Server" in called(Quota("team", 5, type=SERVER), farm(3), usage=OTHERS).message


def test_bounds_by_value_and_for_all_others():
    quota = Quota("team", {"ops": 1, "*": 3})
    assert called(quota, farm(3)).kind == "agreed"
    assert called(quota, farm(3, "ops")).kind == "failed"
    assert called(Quota("team", {"ops": 1}), farm(50)).kind == "agreed"


def test_who_has_no_label_is_free_unless_it_is_required():
    assert called(Quota("team", 0), farm(2, None)).kind == "agreed"
    answer = called(Quota("team", 0, required=True), farm(2, None))
    assert answer.message == "the deployment has no label 'team', which its quota goes by"


def test_a_bound_that_is_no_number_is_refused_when_it_is_made():
    with pytest.raises(ValueError, match="is a number"):
        Quota("team", {"web": "many"})
