"""Instances of a topology, as functions look at them."""

from tests.dsl.readers import read

from phaseline.dsl.functions.seen import TopologyInstances
from phaseline.plan.instances import expand

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
