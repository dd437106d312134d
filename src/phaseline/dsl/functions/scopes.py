"""Scopes: what is known while a deployment is made, and what is known to a running instance (B42)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from phaseline.dsl.functions.evaluation import NotYetKnown, Scope, descend, evaluate
from phaseline.dsl.functions.table import SELF, SOURCE, TARGET, contains_functions
from phaseline.model.blueprint import Value
from phaseline.model.frozen import altered, frozen
from phaseline.model.problem import ProblemsError, fail

if TYPE_CHECKING:
    from phaseline.model.topology import Topology


@frozen
class StaticScope:
    """Inputs and node properties; attributes are not known yet.

    ``properties``: {node: its properties}. ``own``, ``source``, ``target``: nodes that SELF, SOURCE and TARGET mean.
    """

    inputs: Mapping[str, Value]
    properties: Mapping[str, Mapping[str, Value]]
    own: str | None = None
    source: str | None = None
    target: str | None = None

    def input(self, name: str) -> Value:
        """The given value."""
        return self.inputs[name]

    def node(self, reference: str) -> tuple[Mapping[str, Value], Scope]:
        """Properties by name, SELF, SOURCE or TARGET."""
        name = {SELF: self.own, SOURCE: self.source, TARGET: self.target}.get(reference, reference)
        if name is None or name not in self.properties:
            raise _no_node(reference)
        return self.properties[name], StaticScope(self.inputs, self.properties, own=name)

    def attribute(self, reference: str, path: Sequence[str | int]) -> Value:  # noqa: ARG002 - the protocol's signature
        """Nothing runs yet."""
        raise NotYetKnown


class Instances(Protocol):
    """Running instances, known by number, as functions look at them."""

    def instances_of(self, node: str) -> Sequence[int]:
        """All instances of a node, in order."""
        ...

    def node_of(self, instance: int) -> str:
        """The name of an instance's node."""
        ...

    def targets_of(self, instance: int, node: str) -> Sequence[int]:
        """Instances of ``node`` that ``instance`` has relationships to."""
        ...

    def id_of(self, instance: int) -> str:
        """The id of an instance, such as ``web_a1b2c3``."""
        ...

    def index_of(self, instance: int) -> int:
        """1, 2, ... within its node."""
        ...

    def runtime_properties(self, instance: int) -> Mapping[str, Value]:
        """What the instance's operations have written."""
        ...


@frozen
class RuntimeScope:
    """Everything, for an operation of instance ``own``, for a relationship operation (``source`` and ``target``), or for neither.

    ``own_node``: the node SELF means when no instance of it can be told. ``is_tolerant``: an attribute that
    cannot be told becomes the text ``<ERROR: …>`` (B24).
    """

    inputs: Mapping[str, Value]
    properties: Mapping[str, Mapping[str, Value]]
    instances: Instances
    own: int | None = None
    source: int | None = None
    target: int | None = None
    own_node: str | None = None
    is_tolerant: bool = False

    def input(self, name: str) -> Value:
        """The deployment's value."""
        return self.inputs[name]

    def node(self, reference: str) -> tuple[Mapping[str, Value], Scope]:
        """Properties by name, SELF, SOURCE or TARGET."""
        name = self._node_name(reference)
        if name not in self.properties:
            raise _no_node(reference)
        return self.properties[name], self._within(name, reference)

    def attribute(self, reference: str, path: Sequence[str | int]) -> Value:
        """Runtime property, then ``node_instance_id`` and ``node_instance_index``, then node property, else null."""
        try:
            return self._attribute(reference, path)
        except ProblemsError as error:
            if self.is_tolerant:
                return f"<ERROR: {error.problems[0].message}>"
            raise

    def _attribute(self, reference: str, path: Sequence[str | int]) -> Value:
        instance = self._instance(reference)
        found, rest = descend(dict(self.instances.runtime_properties(instance)), path)
        if not rest:
            return found
        if len(path) == 1 and path[0] == "node_instance_id":
            return self.instances.id_of(instance)
        if len(path) == 1 and path[0] == "node_instance_index":
            return self.instances.index_of(instance)
        properties = self.properties[self.instances.node_of(instance)]
        if path[0] not in properties:
            return None
        value = properties[str(path[0])]
        if contains_functions(value):
            value = evaluate(value, altered(self, own=instance, source=None, target=None, own_node=None))
        found, rest = descend(value, path[1:])
        return None if rest else found

    def _node_name(self, reference: str) -> str:
        if reference == SELF and self.own is None and self.own_node is not None:
            return self.own_node
        instance = {SELF: self.own, SOURCE: self.source, TARGET: self.target}.get(reference, -1)
        if instance is None:
            raise _no_node(reference)
        return reference if instance == -1 else self.instances.node_of(instance)

    def _within(self, name: str, reference: str) -> RuntimeScope:
        """The scope of a node's own properties, with its instance where that can be told."""
        try:
            instance = self._instance(reference)
        except ProblemsError:
            return altered(self, own=None, source=None, target=None, own_node=name)
        return altered(self, own=instance, source=None, target=None, own_node=None)

    def _instance(self, reference: str) -> int:
        """The one instance a reference means (B42)."""
        direct = {SELF: self.own, SOURCE: self.source, TARGET: self.target}
        if reference in direct:
            instance = direct[reference]
            if instance is None:
                raise _unclear(reference) if reference == SELF and self.own_node else _no_node(reference)
            return instance
        if reference not in self.properties:
            raise _no_node(reference)
        viewers = [viewer for viewer in (self.own, self.source, self.target) if viewer is not None]
        for viewer in viewers:
            if self.instances.node_of(viewer) == reference:
                return viewer
        all_of_node = self.instances.instances_of(reference)
        if len(all_of_node) == 1:
            return int(all_of_node[0])
        if len(all_of_node) == 0:
            raise fail(
                "PL-B074",
                f"'{reference}' has no instance",
                "Give it at least one instance, or do not ask for its attributes.",
            )
        for viewer in viewers:
            targets = self.instances.targets_of(viewer, reference)
            if len(targets) == 1:
                return int(targets[0])
        raise _unclear(reference)


def _no_node(reference: str) -> ProblemsError:
    if reference in {SELF, SOURCE, TARGET}:
        where = "a node's own properties and operations" if reference == SELF else "operations of relationships"
        return fail("PL-B072", f"'{reference}' means nothing here", f"'{reference}' can be used in {where} only.")
    return fail("PL-B073", f"There is no node '{reference}'", "Name a node of 'node_templates'.")


def _unclear(reference: str) -> ProblemsError:
    return fail(
        "PL-B074",
        f"'{reference}' has several instances; which one is meant cannot be resolved unambiguously",
        "Ask from an instance with exactly one relationship to it.",
    )


@frozen
class TopologyInstances:
    """``Instances`` of a topology. ``documents``: instance number -> its runtime properties."""

    topology: Topology
    documents: Callable[[int], Mapping[str, Value]]

    def instances_of(self, node: str) -> Sequence[int]:
        """By number."""
        number = self.topology.node_number.get(node)
        return [] if number is None else self.topology.instances_of(number).tolist()

    def node_of(self, instance: int) -> str:
        """By the node column."""
        return self.topology.nodes[int(self.topology.node[instance])].name

    def targets_of(self, instance: int, node: str) -> Sequence[int]:
        """By rows, and by the rules of all_to_all relationships without rows."""
        topology = self.topology
        wanted = topology.node_number.get(node, -1)
        order, starts = topology.rows_by_source
        found: dict[int, None] = {}
        for row in order[starts[instance] : starts[instance + 1]].tolist():
            target = int(topology.target[row])
            if int(topology.node[target]) == wanted:
                found[target] = None
        own = int(topology.node[instance])
        for link in topology.links:
            if link.is_rule and link.source == own and link.target == wanted:
                found.update(dict.fromkeys(topology.instances_of(wanted).tolist()))
        return list(found)

    def id_of(self, instance: int) -> str:
        """By the id column."""
        return self.topology.ids[instance]

    def index_of(self, instance: int) -> int:
        """By the index column."""
        return int(self.topology.index[instance])

    def runtime_properties(self, instance: int) -> Mapping[str, Value]:
        """Whatever ``documents`` has."""
        return self.documents(instance)
