"""A deployment in memory, with its instances, as calls see it; most of it is computed when plugin code needs it."""

from __future__ import annotations

import threading
from copy import copy
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import numpy as np

from phaseline.calls.protocol import no_secrets
from phaseline.calls.protocol.call import (
    DeploymentContext,
    InstanceContext,
    NodeContext,
    RelationshipContext,
    written_of,
)
from phaseline.calls.protocol.mask_before_storing import raise_if_secret_names
from phaseline.dsl.functions.topology_view import TopologyInstances, blueprint_id, display_name, facts_of
from phaseline.lang.arrays import as_slice
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.runtime_properties import copy_mapping, merge, overlaid
from phaseline.model.deployment.sealed_values import hidden_inputs
from phaseline.model.graph.functions import Functions
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.health.checks import CheckResults, HeldBodies
from phaseline.model.phases.phase_data import attributes_in
from phaseline.model.resources.state_graph_names import state_name
from phaseline.model.rows.rows import DEFAULT_TENANT, DocumentChange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from phaseline.calls.deployments.other_deployments import CapabilityMemo
    from phaseline.calls.protocol.call import PluginCall
    from phaseline.calls.protocol.secret_tracking import Watch
    from phaseline.dsl.functions.other_deployments import CapabilityReads
    from phaseline.dsl.functions.plan_and_runtime_scopes import RuntimeScope
    from phaseline.model.blueprint.blueprint import Blueprint, Node, Operation, Relationship, Value
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.deployment.runtime_properties import PropertyPath
    from phaseline.model.deployment.topology import Topology
    from phaseline.ports.secrets import SecretSource

NO_DOCUMENT: Mapping[str, Value] = MappingProxyType({})
"""The runtime properties of an instance without a document."""


def view_of(
    name: str, blueprint: Blueprint, inputs: Mapping[str, Value], code: CodeLocation, creator: str
) -> DeploymentContext:
    """Return the view of a deployment that its calls get."""
    return DeploymentContext(
        name,
        blueprint_id(blueprint) or name,
        code,
        inputs,
        creator,
        blueprint.description,
        display_name(blueprint),
        runtime_only=blueprint.runtime_only,
    )


class LoadedDeployment:
    """One deployment in memory; implements ``DeploymentLookup`` for calls in this process.

    A document is never changed in place but replaced. So a reader keeps what it has read while others write.
    """

    def __init__(
        self,
        number: int,
        name: str,
        *,
        blueprint: Blueprint,
        topology: Topology,
        code: CodeLocation,
        inputs: Mapping[str, Value],
        documents: Mapping[int, dict[str, Value]],
        states: np.ndarray,
        creator: str = "",
        state_names: Sequence[str] = (),
        secrets: SecretSource | None = None,
        checks: CheckResults | None = None,
        tenant: str = DEFAULT_TENANT,
    ) -> None:
        """Take stored ``documents`` {instance number: runtime properties} and ``states`` (uint8 by instance number).

        ``state_names`` are the names of the states that have no fixed number. ``tenant`` owns the deployment.
        """
        self.number = number
        self.tenant = tenant
        self.states = states
        self.state_names = tuple(state_names)
        self.checks = CheckResults(HeldBodies()) if checks is None else checks
        self.named: Callable[[int], str] = str
        """Function that returns the id of an execution for its number."""
        self.look_beyond: Callable[[CapabilityMemo | None], CapabilityReads] | None = None
        """Function that returns what reads other deployments, with a memo for one batch; None where that is impossible."""
        self._secrets: SecretSource = no_secrets.NoSecrets() if secrets is None else secrets
        self._take(topology, blueprint, inputs, view_of(name, blueprint, inputs, code, creator))
        self._documents = dict(documents)
        self._is_looked_at = False
        self._lock = threading.Lock()
        self._nodes: dict[int, NodeContext] = {}

    def _take(
        self, topology: Topology, blueprint: Blueprint, inputs: Mapping[str, Value], view: DeploymentContext
    ) -> None:
        self.topology, self.blueprint, self.inputs, self.view = topology, blueprint, inputs, view
        self.functions = Functions(topology, view.code)
        self._hidden = hidden_inputs(blueprint)
        for name in ("_indexes", "_node_numbers", "_instance_counts", "_rules", "_scope", "reads_others"):
            self.__dict__.pop(name, None)

    # -- documents ---------------------------------------------------------------------------------------------

    @property
    def documents(self) -> Mapping[int, Mapping[str, Value]]:
        """{instance number: runtime properties} of instances that have any; callers must not change it."""
        return self._documents

    def document_of(self, instance: int) -> Mapping[str, Value]:
        """Return the runtime properties of an instance number; callers must not change them."""
        return self._documents.get(instance, NO_DOCUMENT)

    def attributes_of(self, instance: int) -> Mapping[str, Value]:
        """Return the attributes of an instance as phases see them.

        These are its runtime properties. A resource also has those properties of its node that no runtime property
        hides.
        """
        document = self.document_of(instance)
        if self.topology.nodes[self.topology.node[instance]].type not in self.blueprint.on_path:
            return document
        said = {name.lower() for name in document}
        properties = self.node(self.instance_view(instance)).properties
        below = {name: value for name, value in properties.items() if name in document or name.lower() not in said}
        return overlaid(below, document)

    def documented(self, instances: np.ndarray) -> list[int]:
        """Return those of ``instances`` that have runtime properties."""
        documents = self._documents
        return [instance for instance in instances.tolist() if instance in documents] if documents else []

    def apply(
        self, instance: int, written: Mapping[PropertyPath, Value], removed: Sequence[PropertyPath]
    ) -> DocumentChange:
        """Change the runtime properties of an instance in memory. Return the row that stores the change."""
        with self._lock:
            return self._applied(instance, written, removed)

    def apply_unless_stale(
        self,
        changes: Iterable[tuple[int, Mapping[PropertyPath, Value], Sequence[PropertyPath]]],
        read: Iterable[tuple[int, Mapping[str, Value]]],
    ) -> list[DocumentChange] | None:
        """Change runtime properties of several instances in memory, and return the rows that store the changes.

        Return None and change nothing if a document differs from its content in ``read``: (instance, attributes).
        """
        with self._lock:
            if any(attributes_in(self.document_of(instance)) != document for instance, document in read):
                return None
            return [self._applied(*change) for change in changes]

    def _applied(
        self, instance: int, written: Mapping[PropertyPath, Value], removed: Sequence[PropertyPath]
    ) -> DocumentChange:
        """Change the runtime properties of an instance and return the row; the caller holds the lock."""
        if self._is_looked_at:
            self._documents, self._is_looked_at = dict(self._documents), False
        self._documents[instance] = merge(self.document_of(instance), written, removed)
        return DocumentChange(self.number, instance, written, removed)

    def changes(self, views: Iterable[InstanceContext]) -> list[DocumentChange]:
        """Apply in memory what a call changed in the runtime properties of its subjects, and return the rows (C4).

        Raises ``ProblemsError`` for a value that cannot be stored; then nothing is changed.
        """
        return [self.apply(*change) for change in self._changed(views)]

    def changes_unless_stale(self, views: Sequence[InstanceContext]) -> list[DocumentChange] | None:
        """Apply what a call changed, as ``changes`` does, unless another writer changed these instances meanwhile.

        In that case return None. Raises ``ProblemsError`` for a value that cannot be stored.
        """
        read = [(view.number, view.before) for view in views if view.before is not None]
        return self.apply_unless_stale(self._changed(views), read)

    def _changed(
        self, views: Iterable[InstanceContext]
    ) -> list[tuple[int, Mapping[PropertyPath, Value], Sequence[PropertyPath]]]:
        found = [(view.number, *written_of(view)) for view in views if view.before is not None]
        for _, written, _ in found:
            self.refuse_secret_names(written)
        return [change for change in found if change[1] or change[2]]

    def enter(self, states: tuple[int, ...], subjects: np.ndarray) -> None:
        """Record that these instances have entered ``states`` one after the other, and are now in the last of them."""
        self.states[subjects.item() if len(subjects) == 1 else as_slice(subjects)] = states[-1]
        if not self.checks.is_empty:
            self.checks.enter(states, subjects)

    def state_of(self, instance: int) -> str:
        """Return the state of an instance number, such as ``started``."""
        return state_name(int(self.states[instance]), self.state_names)

    def grow(self, topology: Topology, documents: Mapping[int, dict[str, Value]], states: np.ndarray) -> None:
        """Take instances that were added after the existing ones, with their documents and states."""
        with self._lock:
            self._documents, self._is_looked_at = {**self._documents, **documents}, False
        self.states = np.concatenate((self.states, states))
        self._take(topology, topology.blueprint, self.inputs, self.view)

    def reshape(self, topology: Topology, inputs: Mapping[str, Value], code: CodeLocation) -> None:
        """Replace the topology, and perhaps blueprint, inputs and code locations. Running calls keep the old ones.

        Added instances are uninitialized and have no runtime properties.
        """
        added = np.zeros(len(topology) - len(self.topology), np.uint8)
        self.states = np.concatenate((self.states, added))
        blueprint = topology.blueprint
        self._nodes = {}
        self._take(topology, blueprint, inputs, view_of(self.view.id, blueprint, inputs, code, self.view.creator))

    def move(self, code: CodeLocation) -> None:
        """Set new locations of the deployment's code. Running calls keep the old locations."""
        view = self.view
        self._take(self.topology, self.topology.blueprint, self.inputs, altered(view, code=code))

    def as_is(self) -> LoadedDeployment:
        """Return a copy of the deployment that later changes do not affect. Costs almost nothing.

        The copy shares documents until one of them is written.
        """
        seen = copy(self)
        with self._lock:
            self._is_looked_at = True
            now = {"_documents": self._documents, "_is_looked_at": True}
        vars(seen).update(now, states=self.states.copy(), _lock=threading.Lock(), _nodes=dict(self._nodes))
        vars(seen).pop("_scope", None)  # it leads to the documents of the other one
        return seen

    # -- operations ---------------------------------------------------------------------------------------------

    def operation(self, kind: SubjectKind, subject: int, phase: str) -> Operation | None:
        """Return the operation with this full name of a node or relationship, or None if it is not mapped."""
        if kind is SubjectKind.INSTANCE:
            node: Node = self.topology.nodes[self.topology.node[subject]]
            return node.operations.get(phase)
        if kind is SubjectKind.DEPLOYMENT:
            return None
        relationship: Relationship = self.topology.links[self.topology.link[subject]].relationship
        sided = relationship.source_operations if kind is SubjectKind.SOURCE else relationship.target_operations
        return sided.get(phase)

    def owners(self, kind: SubjectKind, subjects: np.ndarray) -> np.ndarray:
        """Return for each subject the number of its node, or of its link for a side of a relationship.

        A node or link has the operations of its subjects. Numbers of deployments are returned unchanged.
        """
        if kind is SubjectKind.DEPLOYMENT:
            return subjects
        column = self.topology.node if kind is SubjectKind.INSTANCE else self.topology.link
        found: np.ndarray = column[subjects]
        return found

    # -- views --------------------------------------------------------------------------------------------------

    def instance_view(self, number: int) -> InstanceContext:
        """Return the view of the instance with this number."""
        return InstanceContext(self.topology.ids[number], self._indexes[number], number, self)

    def relationship_view(
        self, link: int, source: int, target: int, reads: Callable[[], CapabilityReads] | None = None
    ) -> RelationshipContext:
        """Return a relationship as its operations see it, with its properties evaluated. Raises ``ProblemsError``.

        ``link`` is its index in ``topology.links``; ``source`` and ``target`` are numbers of instances. ``reads`` is what
        a batch shares of other deployments.
        """
        relationship = self.topology.links[link].relationship
        properties = relationship.properties
        if relationship.has_functions:
            scope = altered(self._seen_by(reads), source=source, target=target)
            properties = {name: self._watch().evaluate(value, scope) for name, value in properties.items()}
        target_id = self.topology.ids[target]
        return RelationshipContext(relationship.type, relationship.type_hierarchy, copy_mapping(properties), target_id)

    def instance(self, id: str) -> InstanceContext:
        """Return the instance with this id. Raises ``KeyError`` if there is none."""
        return self.instance_view(self.topology.number_of[id])

    def node(self, instance: InstanceContext) -> NodeContext:
        """Return the view of an instance's node. Its instances share the view unless properties contain functions."""
        number = self._node_numbers[instance.number]
        found = self._nodes.get(number)
        if found is None:
            node = self.topology.nodes[number]
            found = self._node_view(node, number, instance)
            if not node.has_functions:
                self._nodes[number] = found
        return found

    def known_node(self, instance: int) -> NodeContext | None:
        """Return the view shared by all instances of the instance's node; None if not yet made, or not shared."""
        return self._nodes.get(self._node_numbers[instance])

    def _node_view(self, node: Node, number: int, instance: InstanceContext) -> NodeContext:
        properties = node.properties
        if node.has_functions:
            scope = altered(self._seen_by(getattr(instance, "reads", None)), own=instance.number)
            watch = self._watch()
            properties = {key: watch.evaluate(value, scope) for key, value in properties.items()}
        # Other deployments may be made of this node: whatever a plugin does to a mapping that it is not to change stays here.
        own = copy_mapping(properties)
        return NodeContext(node.name, node.type, node.type_hierarchy, own, self._instance_counts[number])

    @cached_property
    def _indexes(self) -> list[int]:
        found: list[int] = self.topology.index.tolist()
        return found

    @cached_property
    def _node_numbers(self) -> list[int]:
        found: list[int] = self.topology.node.tolist()
        return found

    @cached_property
    def _instance_counts(self) -> list[int]:
        return [len(self.topology.instances_of(number)) for number in range(len(self.topology.nodes))]

    def document(self, instance: InstanceContext) -> Mapping[str, Value]:
        """Return the runtime properties of an instance; callers must not change them."""
        return self.document_of(instance.number)

    def relationships(self, instance: InstanceContext) -> tuple[RelationshipContext, ...]:
        """Return the relationships whose source is this instance, in template order."""
        links = self.topology.links
        found = [(links[link].place, target, link) for link, target in self.targets(instance.number)]
        reads = getattr(instance, "reads", None)
        return tuple(self.relationship_view(link, instance.number, target, reads) for _, target, link in sorted(found))

    def targets(self, source: int) -> list[tuple[int, int]]:
        """Return (link, target instance number) for all relationships of an instance to existing instances."""
        topology = self.topology
        order, start = topology.rows_by_source
        rows = order[start[source] : start[source + 1]]
        rows = rows[topology.is_there[topology.target[rows]]].tolist()
        found = [(int(topology.link[row]), int(topology.target[row])) for row in rows]
        for place in self._rules.get(int(topology.node[source]), ()):
            found.extend((place, int(target)) for target in topology.instances_of(topology.links[place].target))
        return found

    @cached_property
    def _rules(self) -> dict[int, list[int]]:
        """{node number: indexes of links stored without rows, because each instance is connected to all targets}."""
        found: dict[int, list[int]] = {}
        for place, link in enumerate(self.topology.links):
            if link.is_rule:
                found.setdefault(link.source, []).append(place)
        return found

    def host(self, instance: InstanceContext) -> str | None:
        """Return the id of the innermost host that contains the instance, or None. A host contains itself."""
        number = int(self.topology.host[instance.number])
        return None if number < 0 else self.topology.ids[number]

    def instances_of(self, node: str) -> Sequence[str]:
        """Return the ids of a node's instances, by index; empty for an unknown node."""
        number = self.topology.node_number.get(node)
        if number is None:
            return ()
        return [self.topology.ids[found] for found in self.topology.instances_of(number).tolist()]

    def state(self, instance: InstanceContext) -> str:
        """Return the state of the instance, such as ``started``."""
        return self.state_of(instance.number)

    def system_properties(self, instance: InstanceContext) -> Mapping[str, Value]:
        """Return the check results of an instance, with encrypted values decrypted."""
        from phaseline.model.health.system_properties import system_properties

        number = instance.number
        found = system_properties(self.checks, self.topology, number, int(self.states[number]), self.named)
        return cast("dict[str, Value]", self._secrets.unsealed(found))

    def evaluate(self, value: Value, call: PluginCall) -> Value:
        """Return the value with its intrinsic functions evaluated from the viewpoint of a call."""
        scope = altered(
            self._seen_by(getattr(call.instance or call.source, "reads", None)),
            own=None if call.instance is None else call.instance.number,
            source=None if call.source is None else call.source.number,
            target=None if call.target is None else call.target.number,
        )
        return self._watch().evaluate(value, scope)

    def evaluate_for(self, value: Value, instance: int | None) -> Value:
        """Return the value with its functions evaluated for an instance number, or for the deployment as a whole.

        Raises: ``ProblemsError``.
        """
        return self._watch().evaluate(value, altered(self._scope, own=instance))

    def package_settings(self, stored: Mapping[str, Value]) -> dict[str, Value]:
        """Return the settings of a package for its code, decrypted; a setting that names a secret becomes its value.

        ``stored`` are the settings as they were when the execution began.

        Raises ``ProblemsError``: PL-B079 (no such secret), PL-S020, PL-S023.
        """
        opened = cast("dict[str, Value]", self._secrets.unsealed(dict(stored)))
        named = [name for name, value in opened.items() if isinstance(value, dict)]  # a form knows no other mappings
        return opened | {name: self._watch().evaluate(opened[name], self._scope) for name in named}

    def refuse_secret_names(self, written: Mapping[PropertyPath, Value]) -> None:
        """Raise PL-O005 if the name of a runtime property contains a secret."""
        raise_if_secret_names(written, self._secrets)

    def secret(self, name: str) -> str:
        """Return the text of a secret, which is masked in everything written from now on.

        Raises: ``KeyError`` if the secret is unknown.
        """
        return self._secrets.get(name)

    def view_now(self, reads: Callable[[], CapabilityReads] | None = None) -> DeploymentContext:
        """Return the view of the deployment for a call, with its tags evaluated. Raises: ``ProblemsError``.

        ``reads`` is what a batch shares of other deployments.
        """
        tags = self.blueprint.resource_tags
        if not tags:
            return self.view
        scope = self._seen_by(reads)
        found = {name: self._watch().evaluate(value, scope) for name, value in tags.items()}
        return altered(self.view, resource_tags=found)

    @cached_property
    def reads_others(self) -> bool:
        """True if a function of the blueprint reads other deployments."""
        blueprint = self.blueprint
        if self.look_beyond is None or not (
            blueprint.outputs
            or blueprint.capabilities
            or blueprint.resource_tags
            or any(node.has_functions for node in blueprint.nodes.values())
        ):
            return False
        from phaseline.dsl.deployment.other_reads import has_functions_elsewhere  # few blueprints have any functions

        return has_functions_elsewhere(blueprint)

    def _seen_by(self, reads: Callable[[], CapabilityReads] | None) -> RuntimeScope:
        """Return the scope for functions, in which ``reads`` reads other deployments if it is given."""
        return self._scope if reads is None else altered(self._scope, others=reads)

    def _watch(self) -> Watch:
        from phaseline.calls.protocol.secret_tracking import Watch  # only where something is evaluated

        return Watch(self.inputs, self._hidden, self._secrets)

    @cached_property
    def _scope(self) -> RuntimeScope:
        """The scope for evaluating functions that belong to no instance."""
        properties = {node.name: node.properties for node in self.topology.nodes}
        instances = TopologyInstances(self.topology, self.document_of)
        facts = facts_of(self.view.id, self.blueprint, self.view.creator, self.tenant)
        from phaseline.dsl.functions.plan_and_runtime_scopes import RuntimeScope  # only where something is evaluated

        beyond = self.look_beyond
        others = None if beyond is None else (lambda: beyond(None))
        return RuntimeScope(self.inputs, properties, instances, facts=facts, others=others)
