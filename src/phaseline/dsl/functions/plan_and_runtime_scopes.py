"""The two scopes in which functions are evaluated: while a deployment is made, and at run time (B41, B42)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, NoReturn, Protocol

from phaseline.dsl.functions.errors import fail
from phaseline.dsl.functions.evaluation import evaluate
from phaseline.dsl.functions.registry import SELF, SOURCE, TARGET, contains_functions
from phaseline.dsl.functions.scope import EvaluationWatcher, NotYetKnown, Scope, SecretLookup, descend
from phaseline.dsl.text.value_words import quoted_list, suggest
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.problems.problem import ProblemsError

if TYPE_CHECKING:
    from phaseline.dsl.functions.other_deployments import CapabilityReads

NO_SECRET = "PL-B079"  # noqa: S105 - a code
"""Code of problems about missing secrets."""


class OpenProperties(dict[str, Value]):
    """Properties of a node whose type is not available. The node may have further properties, with unknown values."""

    def __contains__(self, name: object) -> bool:
        """Return True for every name: the type may have any property."""
        return True

    def __missing__(self, name: str) -> Value:
        """Raise ``NotYetKnown``: the value depends on the missing type."""
        raise NotYetKnown(name)


@frozen
class StaticScope:
    """Scope while a deployment is made: it knows inputs and node properties, but no attributes of instances.

    ``properties`` is {node: its properties}. ``own``, ``source`` and ``target`` are the nodes that SELF, SOURCE and
    TARGET mean. ``open_nodes`` are the nodes whose types are not available.
    """

    inputs: Mapping[str, Value]
    properties: Mapping[str, Mapping[str, Value]]
    own: str | None = None
    source: str | None = None
    target: str | None = None
    open_nodes: frozenset[str] = frozenset()

    def input(self, name: str) -> Value:
        """Return the value of an input."""
        return self.inputs[name]

    def node(self, reference: str) -> tuple[Mapping[str, Value], Scope]:
        """Return the properties of a node (or of SELF, SOURCE, TARGET), and the scope in which to evaluate them."""
        name = {SELF: self.own, SOURCE: self.source, TARGET: self.target}.get(reference, reference)
        if name is None or name not in self.properties:
            raise _no_node(reference)
        found = self.properties[name]
        is_open = name in self.open_nodes
        return OpenProperties(found) if is_open else found, altered(self, own=name, source=None, target=None)

    def attribute(self, *_asked: object) -> NoReturn:
        """Raise ``NotYetKnown``: there are no running instances."""
        raise NotYetKnown

    attributes = instances_of = secret = label = system = elsewhere = attribute

    @property
    def watcher(self) -> None:
        """Return None: functions read no secrets in this scope, so no observer is needed."""

    @property
    def is_running(self) -> bool:
        """Return False: no instance is running."""
        return False

    @property
    def own_name(self) -> str | None:
        """Return the node that SELF means, or None."""
        return self.own


class InstanceLookup(Protocol):
    """Gives functions access to running instances, each identified by its number."""

    def instances_of(self, node: str) -> Sequence[int]:
        """Return all instances of a node, in order."""
        ...

    def node_of(self, instance: int) -> str:
        """Return the name of an instance's node."""
        ...

    def targets_of(self, instance: int, node: str) -> Sequence[int]:
        """Return the instances of ``node`` to which ``instance`` has a relationship."""
        ...

    def groups_of(self, instance: int) -> Mapping[str, int]:
        """Return {scaling group: number of its group instance} for an instance and its containers, nearest first."""
        ...

    def within(self, node: str, group: str, number: int) -> Sequence[int]:
        """Return the instances of ``node`` in the group instance ``number`` of a scaling group."""
        ...

    def id_of(self, instance: int) -> str:
        """Return the id of an instance, such as ``web_a1b2c3``."""
        ...

    def index_of(self, instance: int) -> int:
        """Return the index of an instance among the instances of its node, from 1."""
        ...

    def runtime_properties(self, instance: int) -> Mapping[str, Value]:
        """Return the runtime properties that operations of the instance have written."""
        ...


@frozen
class DeploymentFacts:
    """Data of a deployment, apart from its nodes, that functions may read.

    ``labels`` is {key: values}; ``system`` is {entity: {property: value}} for ``get_sys``. ``secrets`` is None if
    secrets cannot be read here.
    """

    labels: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    system: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    secrets: SecretLookup | None = None


NO_FACTS = DeploymentFacts()


@frozen
class RuntimeScope:
    """Scope at run time, in which all values are known: for an operation of a node or relationship, or for outputs.

    ``own`` is the instance that SELF means; ``source`` and ``target`` are the instances of a relationship operation.
    ``own_node`` is the node that SELF means if its instance is unknown. With ``is_tolerant``, an attribute that cannot
    be computed becomes the text ``<ERROR: …>`` (B24). ``watcher`` observes each function that is evaluated. ``others``
    returns what reads capabilities of other deployments; None where that is impossible.
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
    others: Callable[[], CapabilityReads] | None = None

    def input(self, name: str) -> Value:
        """Return the value of an input of the deployment."""
        return self.inputs[name]

    def node(self, reference: str) -> tuple[Mapping[str, Value], Scope]:
        """Return the properties of a node (or of SELF, SOURCE, TARGET), and the scope in which to evaluate them."""
        name = self._node_name(reference)
        if name not in self.properties:
            raise _no_node(reference)
        return self.properties[name], self._within(name, reference)

    def attribute(self, reference: str, path: Sequence[str | int]) -> Value:
        """Return the runtime property at ``path``, or else the node property, or else None.

        ``node_instance_id`` and ``node_instance_index`` can be asked for like runtime properties.
        """
        try:
            return self._attribute(reference, path)
        except ProblemsError as error:
            if self.is_tolerant:
                return f"<ERROR: {error.problems[0].message}>"
            raise

    def attributes(self, reference: str, paths: Sequence[Sequence[str | int]]) -> Mapping[str, Sequence[Value]]:
        """Return {instance id: values at ``paths``} for all instances of a node, in order.

        SELF, SOURCE and TARGET mean all instances of their nodes here.
        """
        name = self._node_name(reference)
        if name not in self.properties:
            raise _no_node(reference)
        return {
            self.instances.id_of(instance): [self._attribute_of(instance, path) for path in paths]
            for instance in self.instances.instances_of(name)
        }

    @property
    def is_running(self) -> bool:
        """Return True: instances may be running."""
        return True

    @property
    def own_name(self) -> str | None:
        """Return the node that SELF means, or None."""
        return self.own_node if self.own is None else self.instances.node_of(self.own)

    def instances_of(self, node: str) -> Sequence[Mapping[str, Value]]:
        """Return id, index and runtime properties of each instance of a node, in order."""
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
        """Return a secret. Raises ``ProblemsError``: PL-B079 (no such secret) or PL-B150 (no store of secrets)."""
        if self.facts.secrets is None:
            raise fail("PL-B150", f"there is no store of secrets to look for '{name}'", "use an input in its place")
        try:
            return self.facts.secrets.get(name)
        except KeyError:
            raise no_secrets([name]) from None

    def label(self, key: str) -> Sequence[Value]:
        """Return the values of a label of the deployment. Raises ``ProblemsError`` (PL-B074) if it is missing."""
        if key not in self.facts.labels:
            known = f"it has {quoted_list(self.facts.labels)}" if self.facts.labels else "it has none"
            raise fail("PL-B074", f"the deployment has no label '{key}'", suggest(key, self.facts.labels, known))
        return self.facts.labels[key]

    def system(self, entity: str, name: str) -> Value:
        """Return a property of the deployment or of its tenant, or None."""
        return self.facts.system.get(entity, {}).get(name)

    def elsewhere(
        self,
        function: str,
        arguments: Value,
        inner: Callable[[Value, Scope], Value] | None = None,
        written: Mapping[str, Value] | None = None,
    ) -> Value:
        """Return the value of a function that reads other deployments (DP1).

        Raises ``ProblemsError``: PL-B078 where no other deployments can be read, and the errors of ``CapabilityReads``.
        """
        if self.others is None:
            message = f"'{function}' asks for another deployment, and no other deployment can be read here"
            raise fail("PL-B078", message, "give the value as an input, such as {get_input: address}")
        return self.others().read(written or {function: arguments}, function, arguments, self, inner or evaluate)

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
        """Return the scope in which properties of the node ``name`` are evaluated.

        SELF then means the instance to which ``reference`` leads, or only the node if it is unclear which instance that
        is.
        """
        try:
            instance = self._instance(reference)
        except ProblemsError:
            return altered(self, own=None, source=None, target=None, own_node=name)
        return altered(self, own=instance, source=None, target=None, own_node=None)

    def _instance(self, reference: str) -> int:
        """Return the instance that a name, SELF, SOURCE or TARGET means (B42); raise ``ProblemsError`` if several are
        possible or none.
        """
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
        """Return the instances of ``node`` that are in one group instance with ``viewer``.

        The group is the nearest scaling group that contains both. ``some`` is any instance of ``node``, by which its scaling
        groups are found.
        """
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
    """Return an error: these secrets do not exist, but the blueprint needs them."""
    word = "secret" if len(names) == 1 else "secrets"
    return fail(
        NO_SECRET,
        f"there is no {word} {quoted_list(names)}",
        f"make {'it' if len(names) == 1 else 'them'}: phaseline secrets create {names[0]}",
    )
