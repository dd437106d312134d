"""Turn relationships of node templates into links between nodes, and into rows between instances (N2, N3, decision 11).

A link whose instances are all related, and whose operations call nothing, needs no rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.deployment.topology import Link
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.plan.graph.operation_names import INSTALL_RELATIONSHIP_OPERATIONS, UNINSTALL_RELATIONSHIP_OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from phaseline.model.blueprint.blueprint import Node, Relationship
    from phaseline.plan.topology.containment_tree import Forest

CONNECTION_TYPES = ("all_to_all", "all_to_one")
MAX_CALLS = 1_000_000
"""Largest number of relationship calls in one workflow without a confirmation by the user (decision 11)."""


@frozen
class RelationshipRows:
    """The links of a topology, and columns of their relationship instances, ordered by link, source and target."""

    links: tuple[Link, ...]
    link: np.ndarray
    source: np.ndarray
    target: np.ndarray


@frozen
class _Links:
    """The links of a topology, as columns indexed by link.

    ``parts`` is the number of equal, independent parts into which the instances of both nodes are divided, int64.
    ``inside`` marks containment, ``everyone`` marks all to all, ``rule`` marks links without rows; all bool.
    """

    links: tuple[Link, ...]
    source: np.ndarray
    target: np.ndarray
    parts: np.ndarray
    inside: np.ndarray
    everyone: np.ndarray
    rule: np.ndarray


def connect(
    nodes: Sequence[Node], forest: Forest, first: np.ndarray, count: np.ndarray, *, yes_many: bool
) -> RelationshipRows:
    """Return the links of all nodes with their rows.

    ``first`` and ``count`` have, for each entity of the forest, the number of its first instance, and its number of
    instances.

    Raises: PL-P002 for too many relationship calls.
    """
    links = links_of(nodes, forest)
    if not links:
        nothing = np.empty(0, np.int32)
        return RelationshipRows(links, nothing, nothing, nothing)
    columns = _columns(links, forest, count)
    if not yes_many:
        problems = _too_many(nodes, columns, count)
        if problems:
            raise ProblemsError(problems)
    return _rows(columns, first, count)


def links_of(nodes: Sequence[Node], forest: Forest, past: Collection[int] = ()) -> tuple[Link, ...]:
    """Return the links of all nodes except the ``past`` ones, one for each relationship of a template.

    Raises: PL-N001 (unknown connection type), PL-N006 (all to one within a group).
    """
    number = {node.name: place for place, node in enumerate(nodes) if place not in past}
    ties_of = _TiesOf()
    problems: list[Problem] = []
    links: list[Link] = []
    for source, node in enumerate(nodes):
        for place, relationship in enumerate(() if source in past else node.relationships):
            target = number[relationship.target]
            ties = ties_of(relationship)
            group = -1
            if not ties.is_containment:
                if forest.groups:
                    group = forest.shared_group(source, target)
                if relationship.connection_type not in CONNECTION_TYPES:
                    problems.append(_unknown_connection(node, relationship))
                elif group >= 0 and not ties.all:
                    problems.append(_one_in_group(node, relationship, forest.groups[group - forest.node_count]))
            inside = group - forest.node_count if group >= 0 else -1
            links.append(Link(source, place, target, relationship, group < 0 and ties.need_no_rows, inside))
    if problems:
        raise ProblemsError(problems)
    return tuple(links)


def calls_of(relationship: Relationship, operations: Sequence[str]) -> int:
    """Return the number of calls that ``operations`` of both sides make for one relationship instance."""
    return sum(
        operation is not None and operation.is_implemented
        for name in operations
        for operation in (relationship.source_operations.get(name), relationship.target_operations.get(name))
    )


class _Ties(NamedTuple):
    """How a relationship connects the instances of both nodes. All to all without calls needs no rows."""

    is_containment: bool
    all: bool
    need_no_rows: bool


class _TiesOf:
    """Function that takes a relationship and returns how it connects instances.

    Relationships of one type, often ten thousand, share their mappings of operations and are inspected only once.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, int, str], _Ties] = {}

    def __call__(self, one: Relationship) -> _Ties:
        sides = (one.source_operations, one.target_operations)
        key = (id(one.type_hierarchy), id(sides[0]), id(sides[1]), one.connection_type)
        known = self._known.get(key)
        if known is None:
            calls = any(operation.is_implemented for side in sides for operation in side.values())
            known = self._known[key] = _Ties(one.is_containment, one.ties_all, one.ties_all and not calls)
        return known


def _unknown_connection(node: Node, relationship: Relationship) -> Problem:
    from phaseline.lang.did_you_mean import suggestion

    wrong = str(relationship.connection_type)
    return Problem(
        "PL-N001",
        f"the relationship of '{node.name}' to '{relationship.target}' has the unknown connection_type '{wrong}'",
        suggestion(wrong, CONNECTION_TYPES).rstrip() or f"write one of: {', '.join(CONNECTION_TYPES)}",
        node.place,
        cloudify_class="IllegalConnectedToConnectionType",
    )


def _one_in_group(node: Node, relationship: Relationship, group: str) -> Problem:
    return Problem(
        "PL-N006",
        f"'{node.name}' and '{relationship.target}' are in the scaling group '{group}' and connected all_to_one",
        "within a scaling group write connection_type all_to_all: it stays within each instance of the group",
        node.place,
        cloudify_class="UnsupportedAllToOneInGroup",
    )


def _columns(links: tuple[Link, ...], forest: Forest, count: np.ndarray) -> _Links:
    ties_of = _TiesOf()
    ties = [ties_of(link.relationship) for link in links]
    group = np.array([link.group for link in links], np.int64)
    return _Links(
        links,
        source=np.array([link.source for link in links]),
        target=np.array([link.target for link in links]),
        parts=np.where(group < 0, 1, count[np.maximum(group + forest.node_count, 0)]),
        inside=np.array([one.is_containment for one in ties]),
        everyone=np.array([one.all for one in ties]),
        rule=np.array([link.is_rule for link in links]),
    )


def _too_many(nodes: Sequence[Node], columns: _Links, count: np.ndarray) -> list[Problem]:
    """Return a problem if installing or uninstalling would make more than ``MAX_CALLS`` relationship calls."""
    totals = {"install": 0, "uninstall": 0}
    most: tuple[int, Link | None] = (0, None)
    fan = np.where(columns.everyone, count[columns.target] // np.maximum(columns.parts, 1), 1)
    pairs = count[columns.source] * fan
    for place in (pairs > 1).nonzero()[0].tolist():  # single pairs may be very many and cannot matter
        link, number_of_pairs = columns.links[place], int(pairs[place])
        calls = {
            "install": number_of_pairs * calls_of(link.relationship, INSTALL_RELATIONSHIP_OPERATIONS),
            "uninstall": number_of_pairs * calls_of(link.relationship, UNINSTALL_RELATIONSHIP_OPERATIONS),
        }
        for workflow, number in calls.items():
            totals[workflow] += number
        most = max(most, (max(calls.values()), link), key=lambda found: found[0])
    workflow = max(totals, key=totals.__getitem__)
    if totals[workflow] <= MAX_CALLS or most[1] is None:
        return []
    source, target = nodes[most[1].source], nodes[most[1].target]
    return [
        Problem(
            "PL-P002",
            f"'{workflow}' would make {totals[workflow]:,} calls of relationship operations, "
            f"most of them between '{source.name}' ({count[most[1].source]:,} instances) and "
            f"'{target.name}' ({count[most[1].target]:,} instances)",
            "set the relationship's property connection_type to all_to_one, map the operation on the node instead, "
            "or give --yes-many if every pair really needs its call",
            source.place,
        )
    ]


def _rows(columns: _Links, first: np.ndarray, count: np.ndarray) -> RelationshipRows:
    """Return the rows of all links: to a source's container, to the first target (all to one), or to every target.

    Instances in one container or group instance have consecutive numbers, so a division finds the container.
    """
    source, target = columns.source, columns.target
    parts = np.maximum(np.where(columns.inside, count[target], columns.parts), 1)
    fan = np.where(columns.everyone, count[target] // parts, np.minimum(count[target], 1))
    length = np.where(columns.rule, 0, count[source] * fan)
    each = np.maximum(count[source] // parts, 1)
    link = np.repeat(np.arange(len(source)), length)
    place = np.arange(len(link)) - (np.cumsum(length) - length)[link]
    row_source, row_target = np.divmod(place, np.maximum(fan, 1)[link])
    part = row_source // each[link]
    return RelationshipRows(
        columns.links,
        link.astype(np.int32),
        (first[source][link] + row_source).astype(np.int32),
        (first[target][link] + part * fan[link] + row_target).astype(np.int32),
    )
