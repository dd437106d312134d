"""Instances of a topology, as functions look at them."""

import pytest
from tests.dsl.readers import read

from phaseline.dsl.deployment.evaluate_blueprint import PlainInputs, SecretsLater
from phaseline.dsl.functions.evaluation import evaluate
from phaseline.dsl.functions.plan_and_runtime_scopes import DeploymentFacts, RuntimeScope
from phaseline.dsl.functions.topology_view import TopologyInstances
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.topology.expansion import expand

TEXT = """
node_templates:
  db: {type: cloudify.nodes.Root, instances: {deploy: 2}}
  host: {type: cloudify.nodes.Compute, instances: {deploy: 2}}
  web:
    type: cloudify.nodes.Root
    relationships:
      - {type: cloudify.relationships.contained_in, target: host}
      - {type: cloudify.relationships.connected_to, target: db}
"""


def test_instances_are_seen_as_the_topology_has_them() -> None:
    topology = expand(read(TEXT), suffixes=1)
    instances = TopologyInstances(topology, lambda number: {"number": number})
    first, second = instances.instances_of("web")
    assert instances.node_of(first) == "web"
    assert [instances.index_of(number) for number in (first, second)] == [1, 2]
    assert instances.id_of(first) == topology.ids[first]
    assert len(instances.targets_of(first, "host")) == 1
    assert list(instances.targets_of(first, "db")) == list(instances.instances_of("db"))
    assert list(instances.targets_of(first, "nobody")) == []
    assert list(instances.instances_of("nobody")) == []
    assert instances.runtime_properties(second) == {"number": second}


def test_b42_who_lies_in_which_scaling_group_is_seen_through_the_containers() -> None:
    text = """
    node_templates:
      host: {type: cloudify.nodes.Compute}
      web: {type: cloudify.nodes.Root, relationships: [{type: cloudify.relationships.contained_in, target: host}]}
      db: {type: cloudify.nodes.Root}
    groups: {pair: {members: [host, db]}}
    policies: {p: {type: cloudify.policies.scaling, targets: [pair], properties: {default_instances: 2}}}
    """
    instances = TopologyInstances(expand(read(text), suffixes=1), lambda _: {})
    web, db = instances.instances_of("web"), instances.instances_of("db")
    pairs = [instances.groups_of(number)["pair"] for number in web]
    assert [list(instances.within("db", "pair", pair)) for pair in pairs] == [[db[0]], [db[1]]]
    assert [list(instances.within("web", "pair", pair)) for pair in pairs] == [[web[0]], [web[1]]]


def test_decision30_a_hidden_input_and_a_secret_stay_functions_where_nobody_may_look() -> None:
    value = {"concat": [{"get_input": "plain"}, {"get_input": "hidden"}, {"get_secret": "key"}]}
    scope = RuntimeScope(
        PlainInputs({"plain": "a", "hidden": "b"}, ["hidden"]),
        {},
        TopologyInstances(expand(read(TEXT), suffixes=1), lambda _: {}),
        facts=DeploymentFacts({}, {}, SecretsLater()),
    )
    assert evaluate(value, scope) == {"concat": ["a", {"get_input": "hidden"}, {"get_secret": "key"}]}
    assert SecretsLater().missing(["key"]) == ()
    with pytest.raises(KeyError):
        PlainInputs({"plain": "a"}, ["hidden"])["hidden"]


def test_instances_of_a_node_that_is_not_there_are_told_of() -> None:
    scope = RuntimeScope({}, {}, TopologyInstances(expand(read(TEXT), suffixes=1), lambda _: {}))
    with pytest.raises(ProblemsError, match="nobody"):
        scope.instances_of("nobody")
