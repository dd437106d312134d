"""Relationships of node templates become links, and rows between instances where rows are needed (N2, N3, decision 11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.frozen import frozen
from phaseline.model.problem import Problem, ProblemsError
from phaseline.model.topology import Link
from phaseline.plan.operations import INSTALL_RELATIONSHIP_OPERATIONS, UNINSTALL_RELATIONSHIP_OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.blueprint import Node, Relationship

CONNECTION_TYPES = ("all_to_all", "all_to_one")
MAX_CALLS = 1_000_000
"""More relationship calls than this in one workflow must be asked for (decision 11)."""


@frozen
class Rows:
    """Links, and columns over relationship instances, ordered by link, source, target."""

    links: tuple[Link, ...]
    link: np.ndarray
    source: np.ndarray
    target: np.ndarray


def connect(nodes: Sequence[Node], first: np.ndarray, count: np.ndarray, *, yes_many: bool) -> Rows:
    """Links of all nodes with their rows; ``first`` and ``count``: where the instances of each node lie."""
    number = {node.name: place for place, node in enumerate(nodes)}
    problems: list[Problem] = []
    links: list[Link] = []
    for source, node in enumerate(nodes):
        for place, relationship in enumerate(node.relationships):
            if not relationship.is_containment and relationship.connection_type not in CONNECTION_TYPES:
                problems.append(_unknown_connection(node, relationship))
            links.append(Link(source, place, number[relationship.target], relationship, is_rule=_is_rule(relationship)))
    if not yes_many:
        problems += _too_many(nodes, links, count)
    if problems:
        raise ProblemsError(problems)
    return _rows(nodes, tuple(links), first, count)


def is_all_to_all(relationship: Relationship) -> bool:
    """True when every source instance is connected to every target instance."""
    return not relationship.is_containment and relationship.connection_type == "all_to_all"


def calls_of(relationship: Relationship, operations: Sequence[str]) -> int:
    """How many calls one relationship instance costs when ``operations`` of both sides run."""
    return sum(
        operation is not None and operation.is_implemented
        for name in operations
        for operation in (relationship.source_operations.get(name), relationship.target_operations.get(name))
    )


def _is_rule(relationship: Relationship) -> bool:
    """All to all with nothing to call needs no rows."""
    sides = (relationship.source_operations, relationship.target_operations)
    return is_all_to_all(relationship) and not any(o.is_implemented for side in sides for o in side.values())


def _unknown_connection(node: Node, relationship: Relationship) -> Problem:
    from difflib import get_close_matches

    wrong = str(relationship.connection_type)
    near = get_close_matches(wrong, CONNECTION_TYPES, 1, 0.4)
    return Problem(
        "PL-N001",
        f"the relationship of '{node.name}' to '{relationship.target}' has the unknown connection_type '{wrong}'",
        f"Did you mean '{near[0]}'?" if near else f"Write one of: {', '.join(CONNECTION_TYPES)}.",
        node.place,
        cloudify_class="IllegalConnectedToConnectionType",
    )


def _too_many(nodes: Sequence[Node], links: Sequence[Link], count: np.ndarray) -> list[Problem]:
    """A problem when installing or uninstalling would make more than ``MAX_CALLS`` relationship calls."""
    totals = {"install": 0, "uninstall": 0}
    most: tuple[int, Link | None] = (0, None)
    for link in links:
        pairs = int(count[link.source]) * (int(count[link.target]) if is_all_to_all(link.relationship) else 1)
        if pairs <= 1:  # cannot matter, and there may be very many such links
            continue
        calls = {
            "install": pairs * calls_of(link.relationship, INSTALL_RELATIONSHIP_OPERATIONS),
            "uninstall": pairs * calls_of(link.relationship, UNINSTALL_RELATIONSHIP_OPERATIONS),
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
            "Set the relationship's property connection_type to all_to_one, map the operation on the node instead, "
            "or say --yes-many if every pair really needs its call.",
            source.place,
        )
    ]


def _rows(nodes: Sequence[Node], links: tuple[Link, ...], first: np.ndarray, count: np.ndarray) -> Rows:
    """Rows of all links at once: contained in one's container, all to one the first target, all to all each pair."""
    if not links:
        nothing = np.empty(0, np.int32)
        return Rows(links, nothing, nothing, nothing)
    source = np.array([link.source for link in links])
    target = np.array([link.target for link in links])
    inside = np.array([link.relationship.is_containment for link in links])
    everyone = np.array([is_all_to_all(link.relationship) for link in links])
    rule = np.array([link.is_rule for link in links])
    each = np.array([nodes[link.source].default_instances for link in links], np.int64)
    fan = np.where(everyone, count[target], np.minimum(count[target], 1))
    length = np.where(rule, 0, count[source] * fan)
    link = np.repeat(np.arange(len(links)), length)
    place = np.arange(len(link)) - (np.cumsum(length) - length)[link]
    row_source, row_target = np.divmod(place, np.maximum(fan, 1)[link])
    contained = row_source // np.maximum(each, 1)[link]
    return Rows(
        links,
        link.astype(np.int32),
        (first[source][link] + row_source).astype(np.int32),
        (first[target][link] + np.where(inside[link], contained, row_target)).astype(np.int32),
    )
