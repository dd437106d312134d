"""Turn a stack document into a deployment: match its resources with instances, and report those that are missing.

(Spec of hooks, section 10.) A document that Phaseline wrote, under its own blueprint, is taken over as it was exported:
every instance keeps its id and its relationships (``same``). Under another blueprint, or from another system, the
blueprint determines the instances, and the document's resources are matched with them by name (``matched``). All
missing resources are reported together as problems, surplus resources as warnings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.deployment.index_ranges import ranges_of
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.deployment.physical_ids import physical_id
from phaseline.model.deployment.topology import GroupInstances, Topology
from phaseline.model.problems.problem import Problem
from phaseline.model.resources.state_graph_names import WORDS
from phaseline.plan.topology.containment_tree import plant
from phaseline.plan.topology.expansion import hosts, ordered
from phaseline.plan.topology.relationship_rows import links_of
from phaseline.plan.topology.stack_document import METADATA, NATIVE

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Blueprint, Node, Value

NO_ID = "Resource ID was not provided."
"""Text for a resource without an id; Heat (source 2) uses the same text."""
NOT_THERE = (State.UNINITIALIZED.word, State.DELETED.word)


@frozen
class Adoption:
    """The deployment that a document describes.

    ``documents`` is {instance number: runtime properties}. ``states`` is {state: instance numbers as ranges} of
    instances that will not be ``started``. ``problems`` forbid the adoption, ``warnings`` do not.
    """

    topology: Topology
    documents: Mapping[int, dict[str, Value]]
    states: Mapping[str, Value]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def same(document: Mapping[str, Any], blueprint: Blueprint, *, allow_type_change: bool = False) -> Adoption:
    """Return the deployment of the document, under the document's own blueprint.

    Raises: ``KeyError``, ``TypeError`` or ``ValueError`` if Phaseline has not written the document.
    """
    native = document[NATIVE]
    nodes = ordered(blueprint)
    place = {node.name: number for number, node in enumerate(nodes)}
    rows = sorted(native["instances"], key=lambda row: (place[row["node"]], row["index"]))
    ids = [str(row["id"]) for row in rows]
    number = {id: at for at, id in enumerate(ids)}
    if len(number) != len(ids):
        raise ValueError("two instances have the same id")
    node = np.array([place[row["node"]] for row in rows], np.int32)
    container = _numbers(number, (row["container"] for row in rows))
    _raise_if_other_containers(nodes, node, container)
    groups, group = _groups(native["groups"], rows, number, tuple(blueprint.scaling_groups))
    topology = Topology(
        blueprint=blueprint,
        nodes=nodes,
        ids=ids,
        node=node,
        index=np.array([row["index"] for row in rows], np.int32),
        container=container,
        host=hosts(nodes, node, container),
        group=group,
        groups=groups,
        counts=dict(native["counts"]),
        restricted=dict(native.get("restricted", {})),
    )
    topology = _tied(topology, native["relationships"], number)
    states: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        states.setdefault(str(row["state"]), []).append(at)
    return _taken(document, topology, dict(enumerate(ids)), states, allow_type_change=allow_type_change)


def matched(document: Mapping[str, Any], fresh: Topology, *, allow_type_change: bool = False) -> Adoption:
    """Return the deployment of the blueprint (``fresh``); the document's resources are matched to instances by name.

    A resource belongs to a node if its name is the node's name, or this name followed by ``_`` and more. The resources
    of a node go to its instances in order: by their containers, then by their indexes. An instance gets the name of its
    resource as its id if that is a valid id for it.
    """
    resources: Mapping[str, Any] = document["resources"]
    known = {str(row["id"]): row for row in document.get(NATIVE, {}).get("instances", ())}
    by_node: dict[int, list[str]] = {}
    strangers = []
    for name in resources:
        at = fresh.node_number.get(known[name]["node"] if name in known else _node_named(name, fresh.node_number))
        if at is None:
            strangers.append(name)
        else:
            by_node.setdefault(at, []).append(name)
    whose: dict[int, str] = {}
    turn: dict[str, int] = {}
    for at in range(len(fresh.nodes)):
        here = fresh.instances_of(at).tolist()
        names = sorted(by_node.get(at, ()), key=lambda name: _turn(known.get(name), turn))
        turn |= {name: place for place, name in enumerate(names)}
        whose |= dict(zip(here, names, strict=False))
        strangers += names[len(here) :]
    topology = altered(fresh, ids=_ids(fresh, whose))
    states: dict[str, list[int]] = {}
    for at, name in whose.items():
        states.setdefault(str(known[name]["state"]) if name in known else State.STARTED.word, []).append(at)
    found = _taken(document, topology, whose, states, allow_type_change=allow_type_change)
    return altered(found, warnings=tuple(_stranger(name) for name in strangers))


# -- both ---------------------------------------------------------------------------------------------------------------


def _taken(
    document: Mapping[str, Any],
    topology: Topology,
    whose: Mapping[int, str],
    states: Mapping[str, Sequence[int]],
    *,
    allow_type_change: bool,
) -> Adoption:
    """Return the adoption of the document's resources by the instances of ``topology``.

    ``whose`` is {instance number: name of its resource}; ``states`` is {state: instance numbers}.
    """
    resources: Mapping[str, Any] = document["resources"]
    absent = {at for state in NOT_THERE for at in states.get(state, ())}
    documents: dict[int, dict[str, Value]] = {}
    problems: list[Problem] = []
    for at in topology.is_there.nonzero()[0].tolist():
        resource = resources.get(whose.get(at, ""))
        node = topology.nodes[topology.node[at]]
        if at in absent:
            continue
        if resource is None or resource.get("resource_id") in (None, ""):
            problems.append(_missing(topology.ids[at], whose.get(at)))
            continue
        if resource.get("type", node.type) != node.type and not allow_type_change:
            problems.append(_other_type(topology.ids[at], str(resource["type"]), node.type))
        documents[at] = _properties(resource, topology.ids[at])
    wanted: dict[str, Value] = {
        state: ranges_of(np.array(numbers, np.int32))
        for state, numbers in states.items()
        if state == State.SUSPENDED.word or state not in _LIFE_CYCLE or state in NOT_THERE
    }
    return Adoption(topology, documents, wanted, tuple(problems))


_LIFE_CYCLE = frozenset(WORDS.values())


def _properties(resource: Mapping[str, Any], id: str) -> dict[str, Value]:
    """Return the runtime properties of the instance ``id``.

    The document's resource id is added unless the properties give this id already, or it is the instance's id.
    """
    found: dict[str, Value] = dict(resource.get("resource_data") or {})
    if resource.get(METADATA) and METADATA not in found:
        found[METADATA] = resource[METADATA]
    outside = str(resource["resource_id"])
    if outside not in {physical_id(found), id}:
        found["resource_id"] = outside
    return found


def _missing(id: str, name: str | None) -> Problem:
    told = id if name in {None, id} else f"{id} ({name})"
    mend = "give it in the document: resources: {NAME: {resource_id: …}}, or leave the instance out of the blueprint"
    return Problem("PL-C083", f"{told}: {NO_ID}", mend)


def _other_type(id: str, said: str, wanted: str) -> Problem:
    message = f"{id} is of the type {said} in the document and of {wanted} in the blueprint"
    return Problem("PL-C084", message, "to adopt it with the other type: --allow-type-change")


def _stranger(name: str) -> Problem:
    message = f"the resource '{name}' of the document belongs to no instance, and is left alone"
    mend = "if it is wanted, give the blueprint a node of its name, or one more instance"
    return Problem("PL-C085", message, mend, severity="warning")


# -- by rows ------------------------------------------------------------------------------------------------------------


def _numbers(number: Mapping[str, int], ids: Iterator[str | None]) -> np.ndarray:
    return np.array([-1 if id is None else number[id] for id in ids], np.int32)


def _raise_if_other_containers(nodes: Sequence[Node], node: np.ndarray, container: np.ndarray) -> None:
    """Raise ``ValueError`` unless each instance is contained in an instance of its node's container.

    A cycle of containers would make later loops endless.
    """
    place = {one.name: at for at, one in enumerate(nodes)}
    wanted = np.array([place[one.container] if one.container else -1 for one in nodes], np.int32)[node]
    found = np.where(container >= 0, node[container], -1) if len(node) else wanted
    if not np.array_equal(found, wanted):
        raise ValueError("an instance is contained in one whose node does not contain its node")


def _raise_if_circular(outer: np.ndarray, most: int) -> None:
    """Raise ``ValueError`` if a group instance contains itself, or is nested deeper than ``most`` levels."""
    inside = np.arange(len(outer))
    for _ in range(most):
        inside = np.where(inside >= 0, outer[inside], -1)
    if (inside >= 0).any():
        raise ValueError("an instance of a scaling group contains itself")


def _groups(
    rows: Sequence[Mapping[str, Any]],
    instances: Sequence[Mapping[str, Any]],
    number: Mapping[str, int],
    names: tuple[str, ...],
) -> tuple[GroupInstances, np.ndarray]:
    """Return (the group instances, the number of the group instance that contains each instance)."""
    if not names:
        return GroupInstances(), np.empty(0, np.int32)
    at = {str(row["id"]): place for place, row in enumerate(rows)}
    made = GroupInstances(
        names=names,
        ids=list(at),
        group=np.array([names.index(row["group"]) for row in rows], np.int32),
        index=np.array([row["index"] for row in rows], np.int32),
        outer=_numbers(at, (row["outer"] for row in rows)),
        container=_numbers(number, (row["container"] for row in rows)),
    )
    if at:
        _raise_if_circular(made.outer, len(names))
    return made, _numbers(at, (row["group"] for row in instances))


def _tied(topology: Topology, rows: Sequence[Sequence[Any]], number: Mapping[str, int]) -> Topology:
    """Return the topology with its links and the document's relationship rows.

    A link with rows no longer counts as a rule.
    """
    nodes, groups = topology.nodes, topology.blueprint.scaling_groups
    each = [1] * (len(nodes) + len(groups))
    links = list(links_of(nodes, plant(nodes, groups, each)))
    place = {(link.source, link.place): at for at, link in enumerate(links)}
    found = sorted(
        (place[int(topology.node[number[source]]), said], number[source], number[target])
        for source, target, said in rows
    )
    for at in {one[0] for one in found}:
        links[at] = altered(links[at], is_rule=False)
    columns = np.array(found, np.int32).reshape(-1, 3).T
    link, source, target = (np.ascontiguousarray(column) for column in columns)
    return altered(topology, links=tuple(links), link=link, source=source, target=target)


# -- by name ------------------------------------------------------------------------------------------------------------


def _node_named(name: str, known: Mapping[str, int]) -> str:
    """Return the node that a resource belongs to, judging by the resource's name.

    It is the node of this name, or else the node with the longest name that, followed by ``_``, begins the resource's
    name. Return an empty text if there is no such node.
    """
    if name in known:
        return name
    parts = name.split("_")
    return next((head for at in range(len(parts) - 1, 0, -1) if (head := "_".join(parts[:at])) in known), "")


def _turn(row: Mapping[str, Any] | None, turn: Mapping[str, int]) -> tuple[int, int]:
    """Return a sort key for an instance of the document among those of its node: its container, then its index.

    ``turn`` is {id of a container: its place in the order}. Without a row, the key is (0, 0).
    """
    return (0, 0) if row is None else (turn.get(str(row["container"]), 0), int(row["index"]))


def _ids(fresh: Topology, whose: Mapping[int, str]) -> list[str]:
    """Return the ids of the instances: the names of their resources where these are valid ids of the node.

    If two ids would be equal, all ids of ``fresh`` are kept.
    """
    ids = list(fresh.ids)
    for at, name in whose.items():
        node = fresh.nodes[fresh.node[at]].name
        if name.startswith(f"{node}_") and len(name) > len(node) + 1:
            ids[at] = name
    return ids if len(set(ids)) == len(ids) else list(fresh.ids)
