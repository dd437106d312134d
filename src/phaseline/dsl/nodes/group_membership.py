"""Check the members of scaling groups: no cycles, one group for each member, one common container (B21).

A node whose container is in the same group is not a member itself: it is scaled with its container.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.lang.cycles import first_cycle
from phaseline.model.blueprint.blueprint import Node
from phaseline.model.blueprint.groups import NodeGroup, ScalingGroup

MAX_NESTING = 100
"""Number of levels up to which scaling groups may be nested."""


def check_membership(
    scaling: Mapping[str, ScalingGroup],
    groups: Mapping[str, NodeGroup],
    nodes: Mapping[str, Node],
    spot_of: Callable[[str], ElementPath],
    report: ProblemReport,
    *,
    is_sound: bool,
) -> dict[str, tuple[str, ...]]:
    """Return {scaling group: its members}. A member group that is not scaled is replaced by its own members.

    ``is_sound`` is True if no node contains itself. Only then are the containers of nodes examined.
    """
    members = {name: [one for one in group.members if one in nodes or one in groups] for name, group in groups.items()}
    circle = first_cycle(_reached(scaling, members))
    if circle:
        path = " → ".join([*circle, circle[0]])
        mend = "remove one of these memberships"
        report.add("PL-B155", f"groups contain one another in a circle: {path}", mend, spot_of(circle[0]).at("members"))
        return dict.fromkeys(scaling, ())
    plain = {name: found for name, found in members.items() if name not in scaling}
    direct = {name: list(_leaves(members[name], plain)) for name in scaling}
    before = report.errors_count
    around: dict[str, str] = {}
    for name, found in direct.items():
        for member in found:
            if around.setdefault(member, name) != name:
                message = f"'{member}' is a member of the scaling groups '{around[member]}' and '{name}'"
                report.add("PL-B156", message, "keep it in one of them", spot_of(name).at("members"))
    forest = _Forest(nodes, direct, around)
    for name in direct:
        if len(forest.groups(name)) == MAX_NESTING:
            message = f"the scaling group '{name}' is nested in {MAX_NESTING} other groups"
            report.add("PL-B155", message, "use fewer groups within one another", spot_of(name), point="key")
            break
    if report.errors_count > before or not is_sound:
        return {name: tuple(found) for name, found in direct.items()}
    for name in direct:
        if name not in around:
            _check_place(name, forest, spot_of, report)
    kept = forest.without_carried()
    if report.errors_count == before:
        for name in direct:
            _check_container(name, kept, nodes, spot_of, report)
    return {name: tuple(found) for name, found in kept.items()}


def _reached(scaling: Iterable[str], members: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return {group: members that are groups} for the scaling groups and all groups inside them."""
    found: dict[str, list[str]] = {}
    open_ = list(scaling)
    for name in open_:  # grows while it is walked
        if name not in found:
            found[name] = [member for member in members[name] if member in members]
            open_ += found[name]
    return found


def _leaves(members: Iterable[str], below: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield each member once; a group that is a key of ``below`` is replaced by its own members."""
    seen: set[str] = set()
    ways = [iter(members)]
    while ways:
        member = next(ways[-1], None)
        if member is None:
            ways.pop()
        elif member not in seen:
            seen.add(member)
            if member in below:
                ways.append(iter(below[member]))
            else:
                yield member


class _Forest:
    """Finds the containers of nodes, and the scaling groups that contain a node or group."""

    def __init__(self, nodes: Mapping[str, Node], direct: Mapping[str, list[str]], around: Mapping[str, str]) -> None:
        self._nodes = nodes
        self._direct = direct
        self._around = around
        self._roots: dict[str, str] = {}

    def root(self, node: str) -> str:
        """Return the outermost container of a node, or the node itself if it has no container."""
        way = [node]
        while way[-1] not in self._roots and (container := self._nodes[way[-1]].container) in self._nodes:
            way.append(str(container))
        root = self._roots.get(way[-1], way[-1])
        self._roots.update(dict.fromkeys(way, root))
        return root

    def containers(self, node: str) -> Iterator[str]:
        """Yield the containers of a node, nearest first."""
        container = self._nodes[node].container
        while container is not None and container in self._nodes:
            yield container
            container = self._nodes[container].container

    def groups(self, member: str) -> list[str]:
        """Return the scaling groups that contain a node or group, innermost first."""
        found: list[str] = []
        while len(found) < MAX_NESTING and (group := self._around.get(found[-1] if found else member)) is not None:
            found.append(group)
        return found

    def all_nodes(self, group: str) -> list[str]:
        """Return all nodes of a group, including those of the groups inside it."""
        return list(_leaves(self._direct[group], self._direct))

    def without_carried(self) -> dict[str, list[str]]:
        """Return {group: its members}, without nodes and groups that are scaled with a container in the same group."""
        kept = {name: dict.fromkeys(members) for name, members in self._direct.items()}
        around = {member: set(self.groups(member)) for member in self._around}
        for member in self._around:
            chain = [member, *self.groups(member)] if member in self._nodes else []
            for container in self.containers(member) if chain else ():
                others = around.get(container, ())
                shared = next((place for place, group in enumerate(chain) if group in others), 0) if others else 0
                if shared:
                    kept[chain[shared]].pop(chain[shared - 1], None)
                if shared == 1:
                    break  # what contains this one is looked at from there
        return {name: list(members) for name, members in kept.items()}


def _check_place(group: str, forest: _Forest, spot_of: Callable[[str], ElementPath], report: ProblemReport) -> None:
    """Report members of a group that are in different outermost containers (Cloudify error 202).

    This is allowed only if each of these containers is itself a member of the group.
    """
    members = forest.all_nodes(group)
    roots = {member: forest.root(member) for member in members}
    if len(set(roots.values())) < 2:
        return
    inside = set(members)
    for member, root in roots.items():
        if root not in inside:
            other = next(one for one in members if roots[one] != root)
            message = f"'{member}' is contained in '{root}', and '{other}' of the same scaling group '{group}' is not"
            mend = f"make '{root}' a member in place of '{member}', or put both into the same container"
            report.add("PL-B157", message, mend, spot_of(group).at("members"))
            return


def _check_container(
    group: str,
    kept: Mapping[str, list[str]],
    nodes: Mapping[str, Node],
    spot_of: Callable[[str], ElementPath],
    report: ProblemReport,
) -> None:
    """Report members of a scaling group that have different containers, because the group is multiplied in one container."""
    first: dict[str | None, str] = {}
    for member in _leaves(kept[group], kept):
        first.setdefault(nodes[member].container, member)
    if len(first) > 1:
        (one, a), (other, b) = list(first.items())[:2]
        where = [f"contained in '{name}'" if name else "in no container" for name in (one, other)]
        message = (
            f"'{a}' is {where[0]} and '{b}' is {where[1]}: the scaling group '{group}' cannot be multiplied in both"
        )
        mend = "give both nodes one container, or make the containers members instead of the nodes"
        report.add("PL-B157", message, mend, spot_of(group).at("members"))
