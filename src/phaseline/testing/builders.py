"""Small builders for tests of plans and plugins: blueprints and topologies without a line of YAML.

>>> app = blueprint(node("host"), node("web", on="host", create="web.create", instances=2))
>>> topology(app).ids
['host_1', 'web_1', 'web_2']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from phaseline.calls.batches.trial_call import with_plain_ids
from phaseline.model.blueprint.blueprint import Blueprint, Node, Operation, Relationship
from phaseline.model.blueprint.groups import ScalingGroup
from phaseline.plan.topology.expansion import expand
from phaseline.plan.topology.modification import WantedCount, modify

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology

ROOT = "cloudify.nodes.Root"
COMPUTE = "cloudify.nodes.Compute"
DEPENDS_ON = "cloudify.relationships.depends_on"
CONNECTED_TO = "cloudify.relationships.connected_to"
CONTAINED_IN = "cloudify.relationships.contained_in"
AFTER_OPERATION = "cloudify.relationships.depends_on_lifecycle_operation"

LIFECYCLE = "cloudify.interfaces.lifecycle"
RELATIONSHIP_LIFECYCLE = "cloudify.interfaces.relationship_lifecycle"

FULL_NAMES = {
    "validate_creation": "cloudify.interfaces.validation.create",
    "validate_deletion": "cloudify.interfaces.validation.delete",
    "check_status": "cloudify.interfaces.validation.check_status",
    "get_state": "cloudify.interfaces.host.get_state",
    "monitoring_start": "cloudify.interfaces.monitoring.start",
    "monitoring_stop": "cloudify.interfaces.monitoring.stop",
    "agent_monitoring_install": "cloudify.interfaces.monitoring_agent.install",
    "agent_monitoring_start": "cloudify.interfaces.monitoring_agent.start",
    "agent_monitoring_stop": "cloudify.interfaces.monitoring_agent.stop",
    "agent_monitoring_uninstall": "cloudify.interfaces.monitoring_agent.uninstall",
}
"""{short name: full name} of operations outside the life cycle interface"""


def operation(name: str, implementation: str = "", **fields: Any) -> Operation:
    """Return an operation with the full name ``name``. An empty implementation means that it does nothing.

    An implementation with a slash is a script, any other one a function.
    """
    if not implementation:
        return Operation(name, **fields)
    if "/" in implementation:
        return Operation(name, "script", "script", implementation, **fields)
    return Operation(name, "function", "", implementation, **fields)


def full_name(name: str) -> str:
    """Return the full name of a node's operation; a short name such as ``create`` means the life cycle interface."""
    return name if "." in name else FULL_NAMES.get(name, f"{LIFECYCLE}.{name}")


def relationship(
    target: str,
    kind: str = CONNECTED_TO,
    *,
    source: Mapping[str, str] | None = None,
    to: Mapping[str, str] | None = None,
    connection_type: str = "all_to_all",
    after: str = "",
) -> Relationship:
    """Return a relationship to the node ``target``; ``source`` and ``to`` are {operation: implementation} of source and target.

    ``after`` is the target's operation after which the source may continue (``depends_on_lifecycle_operation``).
    """
    own = AFTER_OPERATION if after else kind
    hierarchy = (DEPENDS_ON,) if own == DEPENDS_ON else (DEPENDS_ON, own)
    properties: dict[str, Value] = {"connection_type": connection_type}
    if after:
        properties["operation"] = after
    return Relationship(own, hierarchy, target, properties, _sides(source), _sides(to), connection_type)


def _sides(mapped: Mapping[str, str] | None) -> dict[str, Operation]:
    names = {name: f"{RELATIONSHIP_LIFECYCLE}.{name}" for name in mapped or {}}
    return {full: operation(full, (mapped or {})[name]) for name, full in names.items()}


def node(
    name: str,
    *relationships: Relationship,
    on: str | None = None,
    to: Sequence[str] = (),
    instances: int = 1,
    types: Sequence[str] = (ROOT,),
    properties: Mapping[str, Value] | None = None,
    **operations: str | Operation,
) -> Node:
    """Return a node template.

    ``on`` is its container, ``to`` are nodes to connect it to; other keywords are its operations.
    """
    own = [relationship(on, CONTAINED_IN)] if on else []
    own += [*relationships, *(relationship(target) for target in to)]
    mapped = {
        full_name(short): given if isinstance(given, Operation) else operation(full_name(short), given)
        for short, given in operations.items()
    }
    hierarchy = tuple(types) if types[0] == ROOT else (ROOT, *types)
    return Node(name, hierarchy[-1], hierarchy, dict(properties or {}), mapped, tuple(own), default_instances=instances)


def host(
    name: str, *relationships: Relationship, to: Sequence[str] = (), instances: int = 1, **operations: str | Operation
) -> Node:
    """Return a node of type Compute without an agent."""
    properties: dict[str, Value] = {"ip": "", "agent_config": {"install_method": "none"}}
    types = (ROOT, COMPUTE)
    return node(
        name, *relationships, on=None, to=to, instances=instances, types=types, properties=properties, **operations
    )


def group(name: str, *members: str, instances: int = 1) -> ScalingGroup:
    """Return a scaling group of nodes or other scaling groups."""
    return ScalingGroup(name, members, default_instances=instances)


def blueprint(*parts: Node | ScalingGroup) -> Blueprint:
    """Return a blueprint of these node templates and scaling groups."""
    nodes = {part.name: part for part in parts if isinstance(part, Node)}
    groups = {part.name: part for part in parts if isinstance(part, ScalingGroup)}
    return Blueprint("cloudify_dsl_1_3", "blueprint.yaml", ".", nodes, scaling_groups=groups)


def topology(source: Blueprint, *, yes_many: bool = False) -> Topology:
    """Return the instances of a blueprint with ids that tests can spell: ``web_1``, ``web_2``."""
    return with_plain_ids(expand(source, suffixes=0, yes_many=yes_many))


def scaled(source: Topology, **wanted: int) -> Topology:
    """Return the instances after some nodes or scaling groups get other counts.

    For a member of a scaling group, the count applies in each instance of that group.

    >>> found = scaled(topology(blueprint(node("web", instances=2))), web=1)
    >>> found.ids, found.is_there.tolist()
    (['web_1', 'web_2'], [True, False])
    """
    found = modify(source, {name: WantedCount(count) for name, count in wanted.items()}, suffixes=0)
    return with_plain_ids(found.finished)
