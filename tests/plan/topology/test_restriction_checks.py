"""What users must not forbid, and of whom."""

from phaseline.plan.topology.restriction_checks import wrong
from phaseline.testing.builders import blueprint, node, scaled, topology

WEB = topology(blueprint(node("web", instances=2)))


def test_only_nodes_and_instances_that_there_are_can_be_restricted() -> None:
    smaller = scaled(WEB, web=1)
    said = {"web": ["delete"], "web_1": None, "web_2": ["delete"], "cache": ["delete"]}
    found = [(problem.code, problem.message) for problem in wrong(smaller, said)]
    assert found == [
        ("PL-P001", "the deployment has no node and no node instance 'web_2'"),
        ("PL-P001", "the deployment has no node and no node instance 'cache'"),
    ]


def test_only_what_can_be_forbidden_may_be() -> None:
    assert [problem.code for problem in wrong(WEB, {"web": ["delete", "paint"]})] == ["PL-P004"]
