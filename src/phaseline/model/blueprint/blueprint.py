"""A blueprint after reading, merging and checking, before inputs are given (the "plan" of the Cloudify document, source 3).

Values may still contain intrinsic functions as plain mappings such as ``{"get_input": "port"}``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.groups import NodeGroup, ScalingGroup, ScalingPolicy
from phaseline.model.problems.problem import NOWHERE, Place, Problem

if TYPE_CHECKING:
    from phaseline.model.blueprint.state_paths import StatePath

Value: TypeAlias = "str | int | float | bool | None | list[Value] | dict[str, Value]"
"""Any value that YAML and JSON can express."""


SCRIPT_RUNNER = "script_runner.tasks.run"
"""The function of Cloudify's script plugin, which runs a script; a blueprint may name it as an implementation (B31)."""


@frozen
class PropertySchema:
    """The declaration of one property, input or parameter (B11, B13).

    ``constraints`` has the constraints as written, {operator: argument} (B14). If there is an ``item_type``, they apply
    to each item of a list.
    """

    type: str | None = None
    default: Value = None
    has_default: bool = False
    required: bool = True
    description: str = ""
    hidden: bool = False
    display_label: str = ""
    item_type: str | None = None
    constraints: tuple[Mapping[str, Value], ...] = ()
    display_rows: int | None = None


@frozen
class DataType:
    """A data type: a structure of values that the blueprint declares (B15).

    ``properties`` has all properties, including inherited ones, each with its complete default. ``hierarchy`` has the
    names of the type's parents and its own name, the root first.
    """

    name: str
    properties: Mapping[str, PropertySchema]
    hierarchy: tuple[str, ...] = ()
    description: str = ""


@frozen
class Operation:
    """One operation of a node or relationship (B30-B33).

    ``name`` is the full name ``interface.operation``. ``form`` is the kind of ``implementation``. ``none`` means that
    nothing is called, so the operation is absent. ``function`` is a dotted ``module.function`` of ``plugin``.
    ``script`` is a path relative to the blueprint's folder, or a URL. ``inline`` is the text of a script.
    """

    name: str
    form: Literal["none", "function", "script", "inline"] = "none"
    plugin: str = ""
    implementation: str = ""
    inputs: Mapping[str, Value] = field(default_factory=dict)
    executor: Literal["central_deployment_agent", "host_agent", "auto"] | None = None
    max_retries: int | None = None
    retry_interval_s: float | None = None
    timeout_s: float | None = None
    timeout_recoverable: bool = False
    has_functions: bool = False

    @property
    def is_script(self) -> bool:
        """True for a script, including a script that is named in a mapping to the script runner."""
        return self.form in {"script", "inline"} or self.implementation == SCRIPT_RUNNER

    @property
    def is_implemented(self) -> bool:
        """True when there is something to call."""
        return self.form != "none"


@frozen
class Relationship:
    """One relationship of a node template; its operations are merged over the operations of its type."""

    type: str
    type_hierarchy: tuple[str, ...]
    target: str
    properties: Mapping[str, Value]
    source_operations: Mapping[str, Operation]
    target_operations: Mapping[str, Operation]
    connection_type: str = "all_to_all"
    has_functions: bool = False

    @property
    def is_containment(self) -> bool:
        """True when the source is contained in the target."""
        return "cloudify.relationships.contained_in" in self.type_hierarchy

    @property
    def ties_all(self) -> bool:
        """True if every source instance is related to every target instance (connection type all_to_all)."""
        return not self.is_containment and self.connection_type == "all_to_all"

    @property
    def lifecycle_operation(self) -> str | None:
        """Name of the target's operation for which the source waits (``depends_on_lifecycle_operation``), or None."""
        if "cloudify.relationships.depends_on_lifecycle_operation" in self.type_hierarchy:
            return str(self.properties.get("operation", "")) or None
        return None


@frozen
class Node:
    """One node template, merged with its type.

    The keys of ``operations`` are full names; ``find_operation`` takes short ones.

    ``restricted_actions`` are the actions that are forbidden for its instances (see ``model.deployment.restrictions``).
    """

    name: str
    type: str
    type_hierarchy: tuple[str, ...]
    properties: Mapping[str, Value]
    operations: Mapping[str, Operation]
    relationships: tuple[Relationship, ...] = ()
    host: str | None = None
    default_instances: Value = 1
    min_instances: Value = 0
    max_instances: Value = -1
    has_functions: bool = False
    place: Place = NOWHERE
    restricted_actions: tuple[str, ...] = ()

    @property
    def is_host(self) -> bool:
        """True for a node whose type derives from ``cloudify.nodes.Compute``."""
        return "cloudify.nodes.Compute" in self.type_hierarchy

    @property
    def container(self) -> str | None:
        """The name of the node that contains this node, or None."""
        for relationship in self.relationships:
            if relationship.is_containment:
                return relationship.target
        return None

    def find_operation(self, name: str) -> Operation | None:
        """Return the operation with a full name, or with a short name that only one interface has (B33), or None."""
        found = self.operations.get(name)
        if found is not None or "." in name:
            return found
        fitting = [operation for full, operation in self.operations.items() if full.rpartition(".")[2] == name]
        return fitting[0] if len(fitting) == 1 else None


@frozen
class Plugin:
    """A plugin that the blueprint declares (B22). ``executor`` is where its operations run unless they declare otherwise.

    ``properties`` is {name: mapping with those of description, type, display_label and value that are given}.
    """

    name: str
    executor: Literal["central_deployment_agent", "host_agent"]
    source: str | None = None
    install: bool = True
    package_name: str | None = None
    package_version: str | None = None
    install_arguments: str | None = None
    supported_platform: Value = None
    distribution: str | None = None
    distribution_version: str | None = None
    distribution_release: str | None = None
    properties: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    properties_description: str = ""


BUILT_IN_PLUGIN = "default_workflows"
BUILT_IN_MODULE = "cloudify.plugins.workflows."
"""Prefix of the functions to which Cloudify's types files map the built-in workflows."""
OTHER_NAMES = MappingProxyType({"auto_heal_reinstall_node_subgraph": "heal", "scale_entity": "scale"})
"""{function in Cloudify's workflow module: built-in workflow}, for functions that have another name than their workflow."""


@frozen
class Availability:
    """The conditions under which a workflow may be started (B23).

    All three conditions must hold. For ``node_instances_active`` one of the listed values must be true.
    """

    available: bool = True
    node_instances_active: tuple[str, ...] = ()
    node_types_required: tuple[str, ...] = ()


@frozen
class WorkflowMapping:
    """A workflow of the blueprint (B23): its implementation and parameters.

    ``form`` has the same values as in ``Operation``.
    """

    name: str
    mapping: str
    plugin: str = ""
    parameters: Mapping[str, PropertySchema] = field(default_factory=dict)
    form: Literal["function", "script", "inline"] = "function"
    is_cascading: bool = False
    availability: Availability = Availability()

    @property
    def built_in(self) -> str:
        """Name of the built-in workflow that this workflow is mapped to, from any plugin; empty for another function."""
        if self.form != "function" or not self.mapping.startswith(BUILT_IN_MODULE):
            return ""
        function = self.mapping.removeprefix(BUILT_IN_MODULE)
        return OTHER_NAMES.get(function, function)


@frozen
class Output:
    """A named value computed from the deployment on request (B24)."""

    value: Value
    description: str = ""


@frozen
class OnPath:
    """The resource type of a node type, which makes its nodes resources that phases move through states (decision 15).

    ``line`` has the node type and its parents, nearest first; the last may belong to a plugin. ``target`` is the state
    to which an install brings the nodes; if it is empty, the resource type has only one path and the nodes are brought
    to its target. ``place`` is the location in the file where ``resource_type`` is written.
    """

    line: tuple[str, ...]
    target: str = ""
    place: Place = NOWHERE


@frozen
class Blueprint:
    """The content of one blueprint. ``file`` is the main file and ``folder`` its folder, both as the reader received them.

    ``on_path`` is {node type: its resource type and target} for nodes that phases move through states. ``state_paths``
    has the paths that this blueprint defines. ``scaling_groups`` has the ``groups`` that ``policies`` scale as a unit.
    ``labels`` is {key: values} for the deployment; values may be functions. ``resource_tags`` are evaluated for each
    call. ``runtime_only`` is True if functions were not evaluated when inputs were given. ``open_types`` has node types
    known only by name. ``announced`` has functions of other vendors that the blueprint uses. ``id`` is its id in the
    store, or empty.
    """

    version: str
    file: str
    folder: str
    nodes: Mapping[str, Node] = field(default_factory=dict)
    inputs: Mapping[str, PropertySchema] = field(default_factory=dict)
    outputs: Mapping[str, Output] = field(default_factory=dict)
    capabilities: Mapping[str, Output] = field(default_factory=dict)
    plugins: Mapping[str, Plugin] = field(default_factory=dict)
    workflows: Mapping[str, WorkflowMapping] = field(default_factory=dict)
    description: str = ""
    metadata: Mapping[str, Value] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()
    on_path: Mapping[str, OnPath] = field(default_factory=dict)
    state_paths: tuple[StatePath, ...] = ()
    uploaded: Mapping[str, str] = field(default_factory=dict)
    open_types: tuple[str, ...] = ()
    groups: Mapping[str, NodeGroup] = field(default_factory=dict)
    policies: Mapping[str, ScalingPolicy] = field(default_factory=dict)
    scaling_groups: Mapping[str, ScalingGroup] = field(default_factory=dict)
    policy_types: Mapping[str, Value] = field(default_factory=dict)
    policy_triggers: Mapping[str, Value] = field(default_factory=dict)
    labels: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    blueprint_labels: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    deployment_settings: Mapping[str, Value] = field(default_factory=dict)
    resource_tags: Mapping[str, Value] = field(default_factory=dict)
    data_types: Mapping[str, DataType] = field(default_factory=dict)
    runtime_only: bool = False
    announced: tuple[str, ...] = ()
    id: str = ""

    def meaning(self, workflow: str) -> str:
        """Return the built-in workflow to which a workflow's name is mapped, or the name itself if there is none (B23)."""
        mapped = self.workflows.get(workflow)
        return (mapped.built_in if mapped is not None else "") or workflow
