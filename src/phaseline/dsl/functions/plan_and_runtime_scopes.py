"""Scopes: what is known while a deployment is made, and what is known to a running instance (B41, B42)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import NoReturn, Protocol

from phaseline.dsl.functions.errors import fail
from phaseline.dsl.functions.evaluation import evaluate
from phaseline.dsl.functions.registry import SELF, SOURCE, TARGET, contains_functions
from phaseline.dsl.functions.scope import EvaluationWatcher, NotYetKnown, Scope, SecretLookup, descend
from phaseline.dsl.text.value_words import quoted_list, suggest
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.problems.problem import ProblemsError

NO_SECRET = "PL-B079"  # noqa: S105 - a code
"""The code of problems about missing secrets."""


class OpenProperties(dict[str, Value]):
    """Properties of a node whose type is not available: there may be others with unknown values."""

    def __contains__(self, name: object) -> bool:
        """True for every name: the type may have any property."""
        return True

    def __missing__(self, name: str) -> Value:
        """Raise ``NotYetKnown``: the value depends on the missing type."""
        raise NotYetKnown(name)


@frozen
class StaticScope:
    """Inputs and node properties; attributes are not known yet.

    ``properties``: {node: its properties}. ``own``, ``source``, ``target``: the nodes of SELF, SOURCE and TARGET.
    ``open_nodes``: nodes whose types are not available.
    """

    inputs: Mapping[str, Value]
    properties: Mapping[str, Mapping[str, Value]]
    own: str | None = None
    source: str | None = None
    target: str | None = None
    open_nodes: frozenset[str] = frozenset()

    def input(self, name: str) -> Value:
        """The given value."""
        return self.inputs[name]

    def node(self, reference: str) -> tuple[Mapping[str, Value], Scope]:
        """Properties by name, SELF, SOURCE or TARGET."""
        name = {SELF: self.own, SOURCE: self.source, TARGET: self.target}.get(reference, reference)
        if name is None or name not in self.properties:
            raise _no_node(reference)
        found = self.properties[name]
        is_open = name in self.open_nodes
        return OpenProperties(found) if is_open else found, altered(self, own=name, source=None, target=None)

    def attribute(self, *_asked: object) -> NoReturn:
        """Nothing runs yet."""
        raise NotYetKnown

    attributes = instances_of = secret = label = system = elsewhere = attribute

    @property
    def watcher(self) -> None:
        """None: no secret is read here."""

    @property
    def is_running(self) -> bool:
        """Nothing does."""
        return False

    @property
    def own_name(self) -> str | None:
        """The node itself."""
        return self.own


class InstanceLookup(Protocol):
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

    def groups_of(self, instance: int) -> Mapping[str, int]:
        """{scaling group: its instance} for the groups of an instance and of its containers, nearest first."""
        ...

    def within(self, node: str, group: str, number: int) -> Sequence[int]:
        """The instances of ``node`` in one instance of a scaling group."""
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
class DeploymentFacts:
    """What functions may know of a deployment beside its nodes.

    ``labels``: {key: values}; ``system``: {entity: {property: value}} of get_sys. ``secrets`` None: there is no store.
    """

    labels: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    system: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    secrets: SecretLookup | None = None


NO_FACTS = DeploymentFacts()


@frozen
class RuntimeScope:
    """The scope with all values, for an operation of instance ``own``, of a relationship, or for no operation.

    ``source``, ``target``: the instances of a relationship operation. ``own_node``: the node of SELF if its instance is
    unknown. ``is_tolerant``: an attribute that cannot be computed becomes the text ``<ERROR: …>`` (B24). ``watcher`` is
    called for each function.
    """

    inputs: Mapping[str, Value]
    properties: Mapping[str, Mapping[str, Value]]
    instances: InstanceLookup
    own: int | None = None
    source: int | None = None
    target: int | None = None
    own_node: str | None = None
    is_tolerant: bool = False
    facts: DeploymentFacts = NO_FACTS
    watcher: EvaluationWatcher | None = None

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

    def attributes(self, reference: str, paths: Sequence[Sequence[str | int]]) -> Mapping[str, Sequence[Value]]:
        """By instance id, in order; SELF, SOURCE and TARGET mean all instances of their nodes."""
        name = self._node_name(reference)
        if name not in self.properties:
            raise _no_node(reference)
        return {
            self.instances.id_of(instance): [self._attribute_of(instance, path) for path in paths]
            for instance in self.instances.instances_of(name)
        }

    @property
    def is_running(self) -> bool:
        """It may."""
        return True

    @property
    def own_name(self) -> str | None:
        """The node of the instance."""
        return self.own_node if self.own is None else self.instances.node_of(self.own)

    def instances_of(self, node: str) -> Sequence[Mapping[str, Value]]:
        """By number, in order."""
        if node not in self.properties:
            raise _no_node(node)
        return [
            {
                "id": self.instances.id_of(instance),
                "index": self.instances.index_of(instance),
                "runtime_properties": dict(self.instances.runtime_properties(instance)),
            }
            for instance in self.instances.instances_of(node)
        ]

    def secret(self, name: str) -> str:
        """From the store of secrets."""
        if self.facts.secrets is None:
            raise fail("PL-B150", f"there is no store of secrets to look for '{name}'", "use an input in its place")
        try:
            return self.facts.secrets.get(name)
        except KeyError:
            raise no_secrets([name]) from None

    def label(self, key: str) -> Sequence[Value]:
        """As the deployment has it."""
        if key not in self.facts.labels:
            known = f"it has {quoted_list(self.facts.labels)}" if self.facts.labels else "it has none"
            raise fail("PL-B074", f"the deployment has no label '{key}'", suggest(key, self.facts.labels, known))
        return self.facts.labels[key]

    def system(self, entity: str, name: str) -> Value:
        """Of the deployment, or of its tenant."""
        return self.facts.system.get(entity, {}).get(name)

    def elsewhere(self, function: str, arguments: Value) -> Value:  # noqa: ARG002 - a scope that reads other deployments needs them
        """Values of other deployments are not supported yet."""
        message = f"'{function}' asks for another deployment, and functions cannot read other deployments yet"
        raise fail("PL-B078", message, "give the value as an input, such as {get_input: address}")

    def _attribute(self, reference: str, path: Sequence[str | int]) -> Value:
        return self._attribute_of(self._instance(reference), path)

    def _attribute_of(self, instance: int, path: Sequence[str | int]) -> Value:
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
        """The scope of a node's own properties, with its instance where that is known."""
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
                "give it at least one instance, or do not ask for its attributes",
            )
        for viewer in viewers:
            targets = self.instances.targets_of(viewer, reference)
            if len(targets) == 1:
                return int(targets[0])
        for viewer in viewers:
            beside = self._in_group(viewer, reference, int(all_of_node[0]))
            if len(beside) == 1:
                return beside[0]
        raise _unclear(reference)

    def _in_group(self, viewer: int, node: str, some: int) -> Sequence[int]:
        """Instances of ``node`` (``some`` is one) in the viewer's instance of the nearest common scaling group."""
        groups = self.instances.groups_of(viewer)
        if not groups:
            return ()
        shared = self.instances.groups_of(some)
        nearest = next((group for group in groups if group in shared), None)
        return () if nearest is None else self.instances.within(node, nearest, groups[nearest])


def _no_node(reference: str) -> ProblemsError:
    if reference in {SELF, SOURCE, TARGET}:
        where = "a node's own properties and operations" if reference == SELF else "operations of relationships"
        return fail("PL-B072", f"'{reference}' means nothing here", f"'{reference}' can be used in {where} only")
    return fail("PL-B073", f"there is no node '{reference}'", "name a node of 'node_templates'")


def _unclear(reference: str) -> ProblemsError:
    return fail(
        "PL-B074",
        f"'{reference}' has several instances, and none of them can be selected unambiguously",
        "use the function in an instance with exactly one relationship to it, or put both nodes into one scaling group",
    )


def no_secrets(names: Sequence[str]) -> ProblemsError:
    """Secrets that a blueprint needs do not exist."""
    word = "secret" if len(names) == 1 else "secrets"
    return fail(
        NO_SECRET,
        f"there is no {word} {quoted_list(names)}",
        f"make {'it' if len(names) == 1 else 'them'}: phaseline secrets create {names[0]}",
    )
