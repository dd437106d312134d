"""The read-only view of a deployment for hooks, with Heat's names (Heat document (source 2), §9) and Phaseline's names.

It shows a snapshot of the deployment. Resources are created on first access and kept, so that unused ones cost nothing.
A resource is a node instance; its name is the instance's id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from phaseline.hooks.read_only_views import Dot, ReadOnlyError, SeenMapping, Unwritten, filled, kept, thaw
from phaseline.model.deployment.physical_ids import physical_id
from phaseline.model.phases.phase_data import attributes_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.calls.protocol.call import InstanceContext, NodeContext, RelationshipContext
    from phaseline.hooks.read_only_views import Path

IN_PROGRESS, COMPLETE, FAILED = "IN_PROGRESS", "COMPLETE", "FAILED"
PROPERTIES, RUNTIME = Dot("properties"), Dot("runtime_properties")
NOT_YET = frozenset({"uninitialized", "deleted"})
"""States in which an instance has no real resource."""


class RelationshipSeen(Unwritten):
    """A relationship of a resource; ``target`` is the name of the other resource."""

    __slots__ = ("path", "properties", "target", "type", "type_hierarchy")
    type: str
    type_hierarchy: tuple[str, ...]
    target: str
    properties: Mapping[str, Any]

    def __init__(self, of: RelationshipContext, path: Path) -> None:
        """Make the view of a relationship. ``path``: the path by which a hook accesses it, for messages."""
        properties = SeenMapping(of.properties, (path, Dot("properties")))
        kinds = {"type": of.type, "type_hierarchy": tuple(of.type_hierarchy)}
        filled(self, **kinds, target=of.target, properties=properties, path=path)

    def __repr__(self) -> str:
        return f"<{self.type} to {self.target}>"


class StackResource(Unwritten):
    """The read-only view of one node instance."""

    __slots__ = ("_known", "_number", "_of", "_properties", "_runtime")
    _of: ResourcesView
    _number: int
    _known: NodeContext | None
    _properties: SeenMapping | None
    _runtime: SeenMapping | None

    @property
    def path(self) -> Path:
        """The path by which a hook accesses this resource."""
        return self._of.path, self.name

    @property
    def _deployment(self) -> LoadedDeployment:
        return self._of.deployment

    @property
    def _instance(self) -> InstanceContext:
        return self._of.deployment.instance_view(self._number)

    @property
    def name(self) -> str:
        """The id of the instance."""
        return self._of.deployment.topology.ids[self._number]

    @property
    def node(self) -> str:
        """The name of the instance's node."""
        return self._of_node.name

    @property
    def index(self) -> int:
        """The number of this instance among the instances of its node, from 1."""
        return int(self._of.deployment.topology.index[self._number])

    @property
    def node_type(self) -> str:
        """The type of the instance's node."""
        return self._of_node.type

    @property
    def type_hierarchy(self) -> Sequence[str]:
        """The node's type and all types from which it derives, the root type first."""
        return tuple(self._of_node.type_hierarchy)

    def is_a(self, type_name: str) -> bool:
        """Return True if the node's type is this type, or derives from it."""
        return type_name in self._of_node.type_hierarchy

    @property
    def properties(self) -> Mapping[str, Any]:
        """The evaluated properties of the instance's node."""
        found = self._properties
        if found is None:
            found = SeenMapping(self._of_node.properties, self, PROPERTIES)
            SET["_properties"](self, found)
        return found

    @property
    def runtime_properties(self) -> Mapping[str, Any]:
        """The runtime properties that operations have written."""
        found = self._runtime
        if found is None:
            document = attributes_in(self._of.deployment.document_of(self._number))
            found = SeenMapping(document, self, RUNTIME)
            SET["_runtime"](self, found)
        return found

    @property
    def state(self) -> str:
        """The state of the instance, such as ``started``."""
        return self._deployment.state_of(self._number)

    @property
    def host(self) -> str | None:
        """The name of the host that contains this resource; a host is its own host."""
        return self._deployment.host(self._instance)

    @property
    def container(self) -> str | None:
        """The name of the resource in which this one is contained, or None."""
        topology = self._deployment.topology
        inside = int(topology.container[self._number])
        return None if inside < 0 else topology.ids[inside]

    @property
    def relationships(self) -> tuple[RelationshipSeen, ...]:
        """The relationships from this resource to others, including containment."""
        found = self._deployment.relationships(self._instance)
        return tuple(RelationshipSeen(one, ((self, Dot("relationships")), at)) for at, one in enumerate(found))

    def thaw(self) -> dict[str, Any]:
        """Return a copy of name, node, type, state and properties that the caller may change."""
        return {
            "name": self.name,
            "node": self.node,
            "type": self.node_type,
            "state": self.state,
            "properties": thaw(self.properties),
            "runtime_properties": thaw(self.runtime_properties),
        }

    # -- Heat's words

    @property
    def uuid(self) -> str:
        """The name of the resource. It is never reused in the deployment, and exists before the real resource does."""
        return self.name

    @property
    def resource_id(self) -> str | None:
        """The resource's id in the cloud (``model.deployment.physical_ids``), or None if there is none yet."""
        return physical_id(self._deployment.document_of(self._number), self._of_node.properties)

    def type(self) -> str:
        """Return the type of the instance's node."""
        return self._of_node.type

    def parsed_template(self) -> dict[str, Any]:
        """Return the resource's part of the template in Heat's form, as a copy that the caller may change."""
        needs = sorted({one.target for one in self.relationships})
        return {"Type": self.node_type, "Properties": thaw(self.properties), "Metadata": {}, "DependsOn": needs}

    def _scheduler_hints(self, hints: Mapping[str, Any]) -> dict[str, Any]:
        """Return the hints unchanged; Heat adds hints for its scheduler here."""
        return dict(hints)

    @property
    def _of_node(self) -> NodeContext:
        found = self._known
        if found is None:
            deployment = self._of.deployment
            found = deployment.known_node(self._number) or deployment.node(self._instance)
            SET["_known"](self, found)
        return found

    def __repr__(self) -> str:
        return f"<resource {self.name}>"


SET = {name: vars(StackResource)[name].__set__ for name in StackResource.__slots__}
"""Functions that set an attribute of ``StackResource`` quickly, bypassing its write protection: {name: function}.

Used because a deployment may have thousands of these views.
"""
SET_OF, SET_NUMBER, *SET_LATER = (SET[name] for name in ("_of", "_number", "_known", "_properties", "_runtime"))


class ResourcesView(Mapping[str, StackResource]):
    """The resources of a deployment by name, in the order of the instances' numbers, without removed instances."""

    __slots__ = ("__dict__", "_made", "deployment", "path")
    deployment: LoadedDeployment
    path: Path
    _made: dict[int, StackResource]

    def __init__(self, deployment: LoadedDeployment, path: Path) -> None:
        """Show all resources of a deployment. ``path``: the path by which a hook accesses this
        mapping, for messages.
        """
        filled(self, deployment=deployment, path=path, _made={})

    @kept
    def _numbers(self) -> list[int]:
        found: list[int] = np.flatnonzero(self.deployment.topology.is_there).tolist()
        return found

    def _at(self, number: int) -> StackResource:
        found = self._made.get(number)
        if found is None:
            found = self._made[number] = StackResource()
            SET_OF(found, self)
            SET_NUMBER(found, number)
            for forget in SET_LATER:
                forget(found, None)
        return found

    def __getitem__(self, name: str) -> StackResource:
        """Return the resource of this name. Raises: ``KeyError`` if there is none."""
        topology = self.deployment.topology
        number = topology.number_of[name]
        if not topology.is_there[number]:
            raise KeyError(name)
        return self._at(number)

    def __iter__(self) -> Iterator[str]:
        ids = self.deployment.topology.ids
        return iter([ids[number] for number in self._numbers])

    def __len__(self) -> int:
        return len(self._numbers)

    def values(self) -> Any:
        """Return all resources."""
        return [self._at(number) for number in self._numbers]

    def items(self) -> Any:
        """Return (name, resource) for all resources."""
        return [(one.name, one) for one in self.values()]

    def iteritems(self) -> Iterator[tuple[str, StackResource]]:
        """Return an iterator over ``items``, as Python 2 had it, for old hook classes."""
        return iter(self.items())

    def itervalues(self) -> Iterator[StackResource]:
        """Return an iterator over ``values``, as Python 2 had it, for old hook classes."""
        return iter(self.values())

    def __setattr__(self, name: str, _value: object) -> NoReturn:
        raise ReadOnlyError((self.path, Dot(name)))

    def __setitem__(self, name: str, _value: object) -> NoReturn:
        raise ReadOnlyError((self.path, name))

    def __delitem__(self, name: str) -> NoReturn:
        raise ReadOnlyError((self.path, name))

    def _refuse(self, *_given: object, **_named: object) -> NoReturn:
        raise ReadOnlyError(self.path)

    update = setdefault = pop = popitem = clear = _refuse


class StackView(Unwritten):
    """The read-only view of a deployment. In a condition it is True even without resources, unlike Heat's (H40)."""

    __slots__ = ("__dict__", "_find", "_said", "_whose", "action", "status")
    action: str
    status: str
    _find: Callable[[], LoadedDeployment]
    _whose: str
    _said: Callable[[str, str, str], None]

    def __init__(
        self,
        find: Callable[[], LoadedDeployment],
        action: str,
        status: str,
        *,
        whose: str = "stack",
        said: Callable[[str, str, str], None] | None = None,
    ) -> None:
        """Show the snapshot that ``find`` returns; ``find`` is called on first access.

        ``whose``: what messages call this view. ``said``: called with the action, status and reason that a hook sets.
        """
        filled(self, _find=find, _whose=whose, _said=said or _unheard, action=action, status=status)

    @property
    def path(self) -> Path:
        """The name by which a hook accesses this view: ``stack`` or ``target``."""
        return self._whose

    @kept
    def _deployment(self) -> LoadedDeployment:
        return self._find()

    @kept
    def resources(self) -> ResourcesView:
        """The resources of the deployment: {name: resource}."""
        return ResourcesView(self._deployment, (self._whose, Dot("resources")))

    @property
    def id(self) -> str:
        """The deployment's id, which never changes."""
        return self._deployment.view.id

    @property
    def name(self) -> str:
        """The deployment's name, which is its id."""
        return self._deployment.view.id

    @property
    def state(self) -> str:
        """Action and status, such as ``CREATE_IN_PROGRESS``."""
        return f"{self.action}_{self.status}"

    @property
    def blueprint(self) -> str:
        """The id of the deployment's blueprint, or the name of the blueprint's file."""
        return self._deployment.view.blueprint

    @property
    def creator(self) -> str:
        """The user that created the deployment."""
        return self._deployment.view.creator

    @kept
    def inputs(self) -> Mapping[str, Any]:
        """The deployment's inputs."""
        return SeenMapping(self._deployment.inputs, (self._whose, Dot("inputs")))

    @kept
    def labels(self) -> Mapping[str, Any]:
        """The deployment's labels: {key: values}."""
        labels = self._deployment.blueprint.labels
        known = {key: [one for one in values if isinstance(one, str)] for key, values in labels.items()}
        return SeenMapping(known, (self._whose, Dot("labels")))

    def preview_resources(self) -> list[Any]:
        """Return the resources as a list.

        In Heat this list contains another list for each nested stack; Phaseline has no nested stacks.
        """
        return list(self.resources.values())

    def state_set(self, action: str, status: str, reason: str = "") -> None:
        """Declare the action's state.

        FAILED counts as if the hook raised an exception; any other status is only logged (H49).
        """
        self._said(action, status, reason)

    def thaw(self) -> dict[str, Any]:
        """Return a deep copy of the whole view that the caller may change."""
        return {
            "id": self.id,
            "name": self.name,
            "action": self.action,
            "status": self.status,
            "inputs": thaw(self.inputs),
            "labels": thaw(self.labels),
            "resources": {name: one.thaw() for name, one in self.resources.items()},
        }

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        return len(self.resources)

    def __iter__(self) -> Iterator[str]:
        return iter(self.resources)

    def __contains__(self, name: object) -> bool:
        return name in self.resources

    def __getitem__(self, name: str) -> StackResource:
        return self.resources[name]

    def __repr__(self) -> str:
        return f"<stack {self.name} {self.state}>"


def _unheard(_action: str, _status: str, _reason: str) -> None:
    """Ignore a state that a hook sets on a view without a receiver (``said``)."""
