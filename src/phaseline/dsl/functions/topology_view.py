"""Access for functions to the instances of a topology."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.blueprint import Blueprint, Value

if TYPE_CHECKING:
    from phaseline.dsl.functions.plan_and_runtime_scopes import DeploymentFacts
    from phaseline.dsl.functions.scope import SecretLookup
    from phaseline.model.deployment.topology import Topology


def facts_of(
    name: str, blueprint: Blueprint, owner: str, tenant: str, secrets: SecretLookup | None = None
) -> DeploymentFacts:
    """Return the data of the deployment ``name`` of a tenant for functions. ``owner`` is the creating user."""
    deployment: dict[str, Value] = {
        "id": name,
        "name": display_name(blueprint) or name,
        "blueprint": blueprint_id(blueprint) or name,
        "owner": owner,
    }
    from phaseline.dsl.functions.plan_and_runtime_scopes import DeploymentFacts  # reading a blueprint needs none

    return DeploymentFacts(blueprint.labels, {"deployment": deployment, "tenant": {"name": tenant}}, secrets)


def blueprint_id(blueprint: Blueprint) -> str:
    """Return the id under which a blueprint is stored, or the name of its file without extension."""
    return blueprint.id or blueprint.file.rpartition("/")[2].rpartition(".")[0]


def display_name(blueprint: Blueprint) -> str:
    """Return the display name that the blueprint gives to the deployment, or ""."""
    found = blueprint.deployment_settings.get("display_name")
    return found if isinstance(found, str) else ""


@frozen
class TopologyInstances:
    """``InstanceLookup`` over a topology. ``documents`` returns the runtime properties of the instance with a
    number.
    """

    topology: Topology
    documents: Callable[[int], Mapping[str, Value]]

    def instances_of(self, node: str) -> Sequence[int]:
        """Return the numbers of all instances of a node."""
        number = self.topology.node_number.get(node)
        return [] if number is None else self.topology.instances_of(number).tolist()

    def node_of(self, instance: int) -> str:
        """Return the name of an instance's node."""
        return self.topology.nodes[int(self.topology.node[instance])].name

    def targets_of(self, instance: int, node: str) -> Sequence[int]:
        """Return the instances of ``node`` to which ``instance`` has a relationship.

        Most relationship instances are rows of the topology. A relationship of connection type all_to_all may instead
        be stored as a rule, which means all pairs of instances.
        """
        topology = self.topology
        wanted = topology.node_number.get(node, -1)
        order, starts = topology.rows_by_source
        found: dict[int, None] = {}
        for row in order[starts[instance] : starts[instance + 1]].tolist():
            target = int(topology.target[row])
            if int(topology.node[target]) == wanted and topology.is_there[target]:
                found[target] = None
        own = int(topology.node[instance])
        for link in topology.links:
            if link.is_rule and link.source == own and link.target == wanted:
                found.update(dict.fromkeys(topology.instances_of(wanted).tolist()))
        return list(found)

    def groups_of(self, instance: int) -> Mapping[str, int]:
        """Return {scaling group: number of its group instance} for an instance and its containers."""
        return self.topology.groups_around(instance)

    def within(self, node: str, group: str, number: int) -> Sequence[int]:
        """Return the instances of ``node`` in the group instance ``number`` of a scaling group."""
        return self.topology.within(self.topology.node_number[node], group).get(number, ())

    def id_of(self, instance: int) -> str:
        """Return the id of an instance."""
        return self.topology.ids[instance]

    def index_of(self, instance: int) -> int:
        """Return the index of an instance among the instances of its node."""
        return int(self.topology.index[instance])

    def runtime_properties(self, instance: int) -> Mapping[str, Value]:
        """Return the runtime properties of an instance."""
        return self.documents(instance)
