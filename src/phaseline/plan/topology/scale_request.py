"""Read a request to scale: the node or group, its number of instances, and which instances to remove first (W40)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import Problem, ProblemsError, problem_error
from phaseline.plan.graph.selection import names
from phaseline.plan.topology.instance_counts import members_of
from phaseline.plan.topology.modification import Modification, WantedCount, modify
from phaseline.plan.topology.modification_lifecycle import taken_back
from phaseline.plan.topology.node_diff import current_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request

ENTITY = "scalable_entity_name"
NODE_ID = "node_id"
"""Name that the parameter ``scalable_entity_name`` had in release 3 of Cloudify's types; still accepted."""
DELTA = "delta"
SCALE_COMPUTE = "scale_compute"
INCLUDE = "include_instances"
EXCLUDE = "exclude_instances"
FORCE_LIMITS = "force_limits"
YES_MANY = "yes_many"
NUMBER = re.compile(r"\s*[+-]?\d{1,18}\s*")
SHOWN = 10
"""Largest number of instances that a problem names when a given instance does not exist."""


@frozen
class Scaling:
    """What a request to scale asks for.

    ``name`` is the node or group that is scaled; with ``scale_compute`` it is the node's host. ``delta`` is the change,
    and ``planned`` the resulting number of instances in each container. ``include`` are ids of instances to remove
    first, ``exclude`` ids of instances to keep.
    """

    name: str
    delta: int
    planned: int
    include: tuple[str, ...]
    exclude: tuple[str, ...]


def said_entity(request: Request) -> Value:
    """Return the name of the node or group to scale, from either of the two parameters that may give it."""
    return request.parameters.get(ENTITY) or request.parameters.get(NODE_ID)


def read_scaling(topology: Topology, request: Request) -> Scaling:
    """Return the scaling that the request asks for in the present deployment.

    Raises: ``ProblemsError`` with PL-N008 (unknown name), PL-N011 (unknown instance), PL-N012 (not a number), PL-N013
    (below zero), PL-N014 (include and exclude contradict the request).
    """
    name = _entity(topology, str(said_entity(request)), is_host=request.parameters.get(SCALE_COMPUTE) is True)
    delta = _delta(request)
    planned = _current(topology, name) + delta
    if planned < 0:
        message = f"{-delta:,} instances of '{name}' cannot be removed: there are {planned - delta:,}"
        raise problem_error("PL-N013", message, f"give {DELTA} a number not below {delta - planned}")
    found = Scaling(name, delta, planned, tuple(names(request, INCLUDE)), tuple(names(request, EXCLUDE)))
    problems = tuple(_wrong_choice(topology, request, found))
    if problems:
        raise ProblemsError(problems)
    return found


def change_of(topology: Topology, request: Request, scaling: Scaling) -> Modification:
    """Return the modification that the scaling makes.

    Equal topologies give equal ids, so a plan already shows the ids of the added instances.
    """
    wanted = WantedCount(scaling.planned, scaling.include, scaling.exclude)
    return modify(
        topology,
        {scaling.name: wanted},
        suffixes=_seed(topology),
        counts=topology.counts,
        force_limits=request.parameters.get(FORCE_LIMITS) is True,
        yes_many=request.parameters.get(YES_MANY) is True,
    )


def problems_of(topology: Topology, request: Request) -> Iterator[Problem]:
    """Yield all problems of the request. If another modification is open, it is treated as taken back."""
    try:
        shape = topology if topology.started is None else taken_back(topology)
        scaling = read_scaling(shape, request)
        if scaling.delta:
            change_of(shape, request, scaling)
    except ProblemsError as wrong:
        yield from wrong.problems


def _entity(topology: Topology, name: str, *, is_host: bool) -> str:
    """Return the name of the node or group to scale; with ``is_host``, of the host that contains the node, if any.

    Raises: PL-N008 if there is no node or group of this name.
    """
    known = current_nodes(topology)
    if name not in known and name not in topology.blueprint.scaling_groups:
        from phaseline.lang.did_you_mean import suggestion

        listed = [*known, *topology.blueprint.scaling_groups]
        mend = suggestion(name, listed).rstrip() or f"there are: {', '.join(sorted(listed)[:SHOWN])}"
        raise problem_error("PL-N008", f"there is no node or scaling group '{name}'", mend)
    if is_host and name not in topology.blueprint.scaling_groups:
        at: str | None = name
        while at is not None:
            node = topology.nodes[known[at]]
            if node.is_host:
                return at
            at = node.container
    return name


def _delta(request: Request) -> int:
    """Return the parameter ``delta`` of the request, which is a whole number or the text of one.

    Raises: PL-N012 for any other value.
    """
    found = request.parameters.get(DELTA, 1)
    if isinstance(found, str) and NUMBER.fullmatch(found):
        return int(found)
    if found.__class__ is not int:
        mend = "give a whole number, such as 2 to add two instances, or -1 to remove one"
        raise problem_error("PL-N012", f"the parameter '{DELTA}' cannot be {found!r}", mend)
    return int(found)


def _current(topology: Topology, name: str) -> int:
    """Return the present number of instances of the node or group in every instance of its parent."""
    group = topology.blueprint.scaling_groups.get(name)
    declared = (
        topology.nodes[topology.node_number[name]].default_instances if group is None else group.default_instances
    )
    assert isinstance(declared, int), "counts are numbers when there are instances"
    return topology.counts.get(name, declared)


def _seed(topology: Topology) -> int:
    """Return the seed of new ids. It differs after each addition of instances, and between deployments."""
    from zlib import crc32

    return crc32("\0".join([*topology.ids, *topology.groups.ids]).encode())


def _wrong_choice(topology: Topology, request: Request, scaling: Scaling) -> Iterable[Problem]:
    """Yield the problems of the request's lists of instances to remove first and of instances to keep."""
    given = [which for which, ids in ((INCLUDE, scaling.include), (EXCLUDE, scaling.exclude)) if ids]
    if not given or not scaling.delta:
        return
    told = " and ".join(f"'{which}'" for which in given)
    if scaling.delta > 0:
        yield Problem("PL-N014", f"{told} cannot be given where instances are added", f"leave {told} out")
    if request.parameters.get(SCALE_COMPUTE) is True:
        mend = f"scale the host itself: -p {ENTITY}={scaling.name}, without {SCALE_COMPUTE}"
        yield Problem("PL-N014", f"{told} cannot be given with '{SCALE_COMPUTE}'", mend)
        return
    choice = _Choice(topology, scaling.name)
    unknown = [id for id in (*scaling.include, *scaling.exclude) if choice.member(id) < 0]
    for id in dict.fromkeys(unknown):
        mend = f"there are: {choice.listed()}"
        yield Problem("PL-N011", f"'{id}' is no instance of '{scaling.name}', nor within one", mend)
    if not unknown and scaling.delta < 0:
        yield from _conflicts(choice, scaling)


def _conflicts(choice: _Choice, scaling: Scaling) -> Iterable[Problem]:
    include = {choice.member(id): id for id in scaling.include}
    exclude = {choice.member(id): id for id in scaling.exclude}
    for member in include.keys() & exclude.keys():
        first, second = include[member], exclude[member]
        both = f"'{first}' is" if first == second else f"'{first}' and '{second}', which are in the same instance, are"
        yield Problem("PL-N014", f"{both} in '{INCLUDE}' and in '{EXCLUDE}'", "leave it out of one of them")
    parents = choice.parents(exclude)
    most = max(np.unique(parents, return_counts=True)[1].tolist(), default=0)
    if most and scaling.planned <= most:
        message = f"{scaling.planned:,} instances of '{scaling.name}' would remain, and {most:,} are excluded"
        others = choice.others(exclude, -scaling.delta)
        instead = f"; or name the instances to remove: -p '{INCLUDE}=[{', '.join(others)}]'" if others else ""
        yield Problem("PL-N014", message, f"exclude fewer instances, or remove fewer{instead}")


class _Choice:
    """The instances of a node or scaling group from which those to remove are chosen."""

    def __init__(self, topology: Topology, name: str) -> None:
        """Find the instances by the name of their node or group."""
        self._topology = topology
        self._members = members_of(topology, len(topology.nodes))
        groups = list(topology.groups.names)
        self._is_group = name in topology.blueprint.scaling_groups
        self._entity = len(topology.nodes) + groups.index(name) if self._is_group else topology.node_number[name]
        self._place = {id: at for at, id in enumerate(self._ids)}

    @property
    def _ids(self) -> Sequence[str]:
        return [*self._topology.ids, *self._topology.groups.ids]

    def member(self, id: str) -> int:
        """Return the member with this id; for a group, the group instance that contains it; -1 if there is none."""
        at = self._place.get(id, -1)
        while at >= 0 and self._members.entity[at] != self._entity:
            at = int(self._members.parent[at]) if self._is_group else -1
        return at if at >= 0 and self._members.is_alive[at] else -1

    def parents(self, members: Iterable[int]) -> list[int]:
        """Return the parents of these members; -1 for a member without a parent."""
        return [int(self._members.parent[member]) for member in members]

    def _alive(self) -> list[int]:
        found: list[int] = ((self._members.entity == self._entity) & self._members.is_alive).nonzero()[0].tolist()
        return found

    def listed(self) -> str:
        """Return the first few ids as text, and the number of the others."""
        alive, ids = self._alive(), self._ids
        more = f" and {len(alive) - SHOWN:,} more" if len(alive) > SHOWN else ""
        return (", ".join(ids[member] for member in alive[:SHOWN]) or "none") + more

    def others(self, excluded: Iterable[int], count: int) -> list[str]:
        """Return the ids of ``count`` instances that are not excluded.

        Return an empty list if fewer are left, or if ``count`` is more than ``SHOWN``.
        """
        left = [member for member in self._alive() if member not in set(excluded)]
        return [self._ids[member] for member in left[-count:]] if count <= min(len(left), SHOWN) else []
