"""Rules over a plan: "more than 100 instances", "a public address without a firewall group" (source 2)."""

import pytest

from phaseline.calls.deployments.call_subjects import LoadedDeployment
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.policies.rules import Rule
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.hook_calls import called, deployment

ADDRESS, GROUP = "acme.nodes.PublicAddress", "acme.nodes.FirewallGroup"
OPEN = f"member('{ADDRESS}', TargetTypes) && !member('{GROUP}', TargetTypes)".replace("'", '"')


def farm(count: int) -> LoadedDeployment:
    return deployment(topology(blueprint(node("web", instances=count), node("disk"))))


def shop(*, guarded: bool) -> LoadedDeployment:
    to = ["address", *(["group"] if guarded else [])]
    nodes = [node("address", types=[ADDRESS]), node("group", types=[GROUP]), node("web", to=to, instances=5)]
    return deployment(topology(blueprint(*nodes)))


def test_h47_more_than_100_instances_is_warned_of_and_goes_on():
    rule = Rule(when="InstanceCount > 100", effect="warn", message="more than 100 instances")
    answer = called(rule, farm(100))
    assert (answer.kind, answer.warnings) == ("agreed", ("more than 100 instances",))
    assert called(rule, farm(99)).warnings == ()


def test_a_rule_that_denies_says_what_is_so():
    answer = called(Rule(when="InstanceCount > 2"), farm(3))
    assert (answer.kind, answer.message) == ("failed", "'InstanceCount > 2' is so")


def test_the_count_of_one_type_is_asked_for():
    nodes = [node("web", types=["acme.nodes.Server"], instances=3), node("disk", instances=9)]
    about = deployment(topology(blueprint(*nodes)))
    rule = Rule(when="InstanceCount > 3", type="acme.nodes.Server")
    assert called(rule, about).kind == "agreed"
    assert called(Rule(when="InstanceCount > 2", type="acme.nodes.Server"), about).kind == "failed"


def test_a_public_address_without_a_firewall_group_is_refused_with_the_names():
    rule = Rule(each=OPEN, message="a public address without a firewall group")
    answer = called(rule, shop(guarded=False))
    assert answer.message == "a public address without a firewall group: web_1, web_2, web_3 and 2 more"
    assert called(rule, shop(guarded=True)).kind == "agreed"


def test_an_instance_is_asked_about_its_properties_and_the_plan():
    about = deployment(
        topology(blueprint(node("web", instances=2, properties={"size": {"disk": 40}, "tags": ["a", "b"]}))),
        labels={"tier": ["test"]},
        documents={"web_2": {"zone": "z1"}},
    )
    for text, names in {
        'Size.disk > 30 && member("b", tags) && InstanceCount == 2': "web_1, web_2",
        'Runtime.zone == "z1"': "web_2",
        'member("test", Labels.tier) && Name == "web_1" && Node == "web" && State == "uninitialized"': "web_1",
    }.items():
        assert called(Rule(each=text, message="so"), about).message == f"so: {names}"


def test_an_update_is_judged_by_what_it_leads_to():
    rule = Rule(when="InstanceCount > 3 && Before == 3")
    assert called(rule, farm(2), target=farm(3), action="UPDATE", workflow="update").kind == "failed"
    assert called(rule, farm(2), target=farm(2), action="UPDATE", workflow="update").kind == "agreed"


def test_a_rule_that_makes_no_sense_lets_nothing_through():
    answer = called(Rule(when='2 + "a"'), farm(1))
    assert answer.kind == "failed"
    assert answer.message == """the rule '2 + "a"' makes no sense for the plan: integer + string means nothing"""


def test_a_preview_says_what_would_be_said():
    assert called(Rule(when="InstanceCount > 1"), farm(1), method="do_preview_op").kind == "failed"


def test_a_rule_is_not_asked_when_things_go():
    assert "DELETE" not in Rule(when="true").actions
    assert Rule(when="true", actions=["DELETE"]).actions == ("DELETE",)


def test_options_that_do_not_fit_are_refused_when_it_is_made():
    with pytest.raises(ValueError, match="either 'when'"):
        Rule()
    with pytest.raises(ValueError, match="deny or warn"):
        Rule(when="true", effect="stop")


@pytest.mark.parametrize("option", ["when", "each"])
def test_an_expression_that_cannot_be_read_is_told_with_its_option_and_its_text(option):
    with pytest.raises(ValueError, match=f"^'{option}: InstanceCount >' cannot be read: PL-R005 the expression ends"):
        Rule(**{option: "InstanceCount >"})


def test_only_what_is_asked_for_is_read():
    about = deployment(topology(blueprint(node("web", properties={"huge": 10**30}))))
    assert called(Rule(each="Name == 'web_1'".replace("'", '"'), message="so"), about).message == "so: web_1"
    assert about.states[0] == InstanceState.UNINITIALIZED
