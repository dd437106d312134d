"""The subjects of calls: one deployment with its instances, read only when plugin code needs them."""

from __future__ import annotations

import threading
from copy import copy
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import numpy as np

from phaseline.calls.protocol.call import (
    DeploymentContext,
    InstanceContext,
    NodeContext,
    RelationshipContext,
    written_of,
)
from phaseline.calls.protocol.mask_before_storing import raise_if_secret_names
from phaseline.calls.protocol.no_secrets import NoSecrets
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
from phaseline.model.rows.rows import DocumentChange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from phaseline.calls.protocol.call import PluginCall
    from phaseline.calls.protocol.secret_tracking import Watch
    from phaseline.dsl.functions.plan_and_runtime_scopes import RuntimeScope
    from phaseline.model.blueprint.blueprint import Blueprint, Node, Operation, Relationship, Value
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.deployment.runtime_properties import PropertyPath
    from phaseline.model.deployment.topology import Topology
    from phaseline.ports.secrets import SecretSource

NO_DOCUMENT: Mapping[str, Value] = MappingProxyType({})
"""The runtime properties of an instance that has none."""


def view_of(
    name: str, blueprint: Blueprint, inputs: Mapping[str, Value], code: CodeLocation, creator: str
) -> DeploymentContext:
    """A deployment as its calls see it."""
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
    """One deployment in memory: implements ``DeploymentLookup`` for calls in this process.

    Documents are never changed in place, so a reader keeps what it read while others write.
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
    ) -> None:
        """``documents`` {instance number: runtime properties} and ``states`` (uint8 by number) as stored.

        ``state_names``: those of states that have no fixed number.
        """
        self.number = number
        self.states = states
        self.state_names = tuple(state_names)
        self.checks = CheckResults(HeldBodies()) if checks is None else checks
        self.named: Callable[[int], str] = str
        """From the number of an execution to its id."""
        self._secrets: SecretSource = NoSecrets() if secrets is None else secrets
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
        for name in ("_indexes", "_node_numbers", "_instance_counts", "_rules", "_scope"):
            self.__dict__.pop(name, None)

    # -- documents ---------------------------------------------------------------------------------------------

    @property
    def documents(self) -> Mapping[int, Mapping[str, Value]]:
        """{instance number: runtime properties}, without instances that have none; callers must not change it."""
        return self._documents

    def document_of(self, instance: int) -> Mapping[str, Value]:
        """Runtime properties by instance number; never to be changed."""
        return self._documents.get(instance, NO_DOCUMENT)

    def attributes_of(self, instance: int) -> Mapping[str, Value]:
        """The attributes of an instance for phases: those of its document, then the properties of its node if it is a resource."""
        document = self.document_of(instance)
        if self.topology.nodes[self.topology.node[instance]].type not in self.blueprint.on_path:
            return document
        said = {name.lower() for name in document}
        properties = self.node(self.instance_view(instance)).properties
        below = {name: value for name, value in properties.items() if name in document or name.lower() not in said}
        return overlaid(below, document)

    def documented(self, instances: np.ndarray) -> list[int]:
        """The given instances that have a document."""
        documents = self._documents
        return [instance for instance in instances.tolist() if instance in documents] if documents else []

    def apply(
        self, instance: int, written: Mapping[PropertyPath, Value], removed: Sequence[PropertyPath]
    ) -> DocumentChange:
        """Remember a change of one document, and the row that stores it."""
        with self._lock:
            return self._applied(instance, written, removed)

    def apply_unless_stale(
        self,
        changes: Iterable[tuple[int, Mapping[PropertyPath, Value], Sequence[PropertyPath]]],
        read: Iterable[tuple[int, Mapping[str, Value]]],
    ) -> list[DocumentChange] | None:
        """The same of several at once, if no document differs from what was ``read`` of it; None: one does, and nothing was changed."""
        with self._lock:
            if any(attributes_in(self.document_of(instance)) != document for instance, document in read):
                return None
            return [self._applied(*change) for change in changes]

    def _applied(
        self, instance: int, written: Mapping[PropertyPath, Value], removed: Sequence[PropertyPath]
    ) -> DocumentChange:
        """Under the lock."""
        if self._is_looked_at:
            self._documents, self._is_looked_at = dict(self._documents), False
        self._documents[instance] = merge(self.document_of(instance), written, removed)
        return DocumentChange(self.number, instance, written, removed)

    def changes(self, views: Iterable[InstanceContext]) -> list[DocumentChange]:
        """What a call changed in the runtime properties of its subjects (C4), remembered here as well.

        Raises ``ProblemsError`` for a value that cannot be stored; then nothing is remembered.
        """
        return [self.apply(*change) for change in self._changed(views)]

    def changes_unless_stale(self, views: Sequence[InstanceContext]) -> list[DocumentChange] | None:
        """The same, unless these instances were changed elsewhere since the call read them (then None). Raises likewise."""
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
        """Instances have gone through these states, and are now in the last one."""
        self.states[subjects.item() if len(subjects) == 1 else as_slice(subjects)] = states[-1]
        if not self.checks.is_empty:
            self.checks.enter(states, subjects)

    def state_of(self, instance: int) -> str:
        """The state of an instance number."""
        return state_name(int(self.states[instance]), self.state_names)

    def grow(self, topology: Topology, documents: Mapping[int, dict[str, Value]], states: np.ndarray) -> None:
        """Instances were added behind those there are: their documents and states."""
        with self._lock:
            self._documents, self._is_looked_at = {**self._documents, **documents}, False
        self.states = np.concatenate((self.states, states))
        self._take(topology, topology.blueprint, self.inputs, self.view)

    def reshape(self, topology: Topology, inputs: Mapping[str, Value], code: CodeLocation) -> None:
        """Other instances, and perhaps another blueprint, inputs and places of code. Calls that run keep what they have.

        Added instances have nothing yet: state uninitialized, no properties.
        """
        added = np.zeros(len(topology) - len(self.topology), np.uint8)
        self.states = np.concatenate((self.states, added))
        blueprint = topology.blueprint
        self._nodes = {}
        self._take(topology, blueprint, inputs, view_of(self.view.id, blueprint, inputs, code, self.view.creator))

    def move(self, code: CodeLocation) -> None:
        """Set new places of the deployment's code. Running calls keep the former ones."""
        view = self.view
        self._take(self.topology, self.topology.blueprint, self.inputs, altered(view, code=code))

    def as_is(self) -> LoadedDeployment:
        """The deployment at this moment: what happens to it from now on is not seen there. Costs next to nothing.

        Documents are shared until the next of them is written.
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
        """The operation mapped for the subject under this full name, or None."""
        if kind is SubjectKind.INSTANCE:
            node: Node = self.topology.nodes[self.topology.node[subject]]
            return node.operations.get(phase)
        if kind is SubjectKind.DEPLOYMENT:
            return None
        relationship: Relationship = self.topology.links[self.topology.link[subject]].relationship
        sided = relationship.source_operations if kind is SubjectKind.SOURCE else relationship.target_operations
        return sided.get(phase)

    def owners(self, kind: SubjectKind, subjects: np.ndarray) -> np.ndarray:
        """The owner of each subject's operation: node numbers of instances, link places of relationships."""
        if kind is SubjectKind.DEPLOYMENT:
            return subjects
        column = self.topology.node if kind is SubjectKind.INSTANCE else self.topology.link
        found: np.ndarray = column[subjects]
        return found

    # -- views --------------------------------------------------------------------------------------------------

    def instance_view(self, number: int) -> InstanceContext:
        """The view of an instance number."""
        return InstanceContext(self.topology.ids[number], self._indexes[number], number, self)

    def relationship_view(self, link: int, source: int, target: int) -> RelationshipContext:
        """A relationship as its operations see it, its properties evaluated. Raises ``ProblemsError``."""
        relationship = self.topology.links[link].relationship
        properties = relationship.properties
        if relationship.has_functions:
            scope = altered(self._scope, source=source, target=target)
            properties = {name: self._watch().evaluate(value, scope) for name, value in properties.items()}
        target_id = self.topology.ids[target]
        return RelationshipContext(relationship.type, relationship.type_hierarchy, copy_mapping(properties), target_id)

    def instance(self, id: str) -> InstanceContext:
        """The instance of this id. ``KeyError`` if there is none."""
        return self.instance_view(self.topology.number_of[id])

    def node(self, instance: InstanceContext) -> NodeContext:
        """The node of an instance; made once for each node unless its properties must be evaluated for the instance."""
        number = self._node_numbers[instance.number]
        found = self._nodes.get(number)
        if found is None:
            node = self.topology.nodes[number]
            found = self._node_view(node, number, instance)
            if not node.has_functions:
                self._nodes[number] = found
        return found

    def known_node(self, instance: int) -> NodeContext | None:
        """The node of an instance number if its view was made for all of its instances; None: ask for it by ``node``."""
        return self._nodes.get(self._node_numbers[instance])

    def _node_view(self, node: Node, number: int, instance: InstanceContext) -> NodeContext:
        properties = node.properties
        if node.has_functions:
            scope = altered(self._scope, own=instance.number)
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
        """The runtime properties of an instance; callers must not change them."""
        return self.document_of(instance.number)

    def relationships(self, instance: InstanceContext) -> tuple[RelationshipContext, ...]:
        """Relationship instances whose source is this instance, in template order, including those stored as a rule."""
        links = self.topology.links
        found = [(links[link].place, target, link) for link, target in self.targets(instance.number)]
        return tuple(self.relationship_view(link, instance.number, target) for _, target, link in sorted(found))

    def targets(self, source: int) -> list[tuple[int, int]]:
        """(link, target instance number) of all relationships of an instance to existing instances."""
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
        """{node number: links that are only a rule}."""
        found: dict[int, list[int]] = {}
        for place, link in enumerate(self.topology.links):
            if link.is_rule:
                found.setdefault(link.source, []).append(place)
        return found

    def host(self, instance: InstanceContext) -> str | None:
        """The id of the innermost host that contains the instance; a host contains itself."""
        number = int(self.topology.host[instance.number])
        return None if number < 0 else self.topology.ids[number]

    def instances_of(self, node: str) -> Sequence[str]:
        """Ids of the instances of a node, by index; none for a node that does not exist."""
        number = self.topology.node_number.get(node)
        if number is None:
            return ()
        return [self.topology.ids[found] for found in self.topology.instances_of(number).tolist()]

    def state(self, instance: InstanceContext) -> str:
        """The state of the instance, such as ``started``."""
        return self.state_of(instance.number)

    def system_properties(self, instance: InstanceContext) -> Mapping[str, Value]:
        """The check results of an instance, with sealed values decrypted."""
        from phaseline.model.health.system_properties import system_properties

        number = instance.number
        found = system_properties(self.checks, self.topology, number, int(self.states[number]), self.named)
        return cast("dict[str, Value]", self._secrets.unsealed(found))

    def evaluate(self, value: Value, call: PluginCall) -> Value:
        """The value with its intrinsic functions evaluated as seen by a call."""
        scope = altered(
            self._scope,
            own=None if call.instance is None else call.instance.number,
            source=None if call.source is None else call.source.number,
            target=None if call.target is None else call.target.number,
        )
        return self._watch().evaluate(value, scope)

    def package_settings(self, stored: Mapping[str, Value]) -> dict[str, Value]:
        """The package's settings from the start of the execution, as its code sees them: opened, with the named secrets.

        Raises ``ProblemsError``: PL-B079 (no such secret), PL-S020, PL-S023.
        """
        opened = cast("dict[str, Value]", self._secrets.unsealed(dict(stored)))
        named = [name for name, value in opened.items() if isinstance(value, dict)]  # a form knows no other mappings
        return opened | {name: self._watch().evaluate(opened[name], self._scope) for name in named}

    def refuse_secret_names(self, written: Mapping[PropertyPath, Value]) -> None:
        """Raise PL-O005 if a runtime property is named by a secret."""
        raise_if_secret_names(written, self._secrets)

    def secret(self, name: str) -> str:
        """The text of a secret, which is then masked in everything that is written. Raises: ``KeyError`` if it is unknown."""
        return self._secrets.get(name)

    def view_now(self) -> DeploymentContext:
        """The deployment for a call, with its tags evaluated. Raises: ``ProblemsError``."""
        tags = self.blueprint.resource_tags
        if not tags:
            return self.view
        found = {name: self._watch().evaluate(value, self._scope) for name, value in tags.items()}
        return altered(self.view, resource_tags=found)

    def _watch(self) -> Watch:
        from phaseline.calls.protocol.secret_tracking import Watch  # only where something is evaluated

        return Watch(self.inputs, self._hidden, self._secrets)

    @cached_property
    def _scope(self) -> RuntimeScope:
        """The scope of functions that belong to no instance."""
        properties = {node.name: node.properties for node in self.topology.nodes}
        instances = TopologyInstances(self.topology, self.document_of)
        facts = facts_of(self.view.id, self.blueprint, self.view.creator)
        from phaseline.dsl.functions.plan_and_runtime_scopes import RuntimeScope  # only where something is evaluated

        return RuntimeScope(self.inputs, properties, instances, facts=facts)
