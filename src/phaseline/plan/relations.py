"""Relationships of node templates become links, and rows between instances where rows are needed (N2, N3, decision 11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.frozen import frozen
from phaseline.model.problem import Problem, ProblemsError
from phaseline.model.topology import Link
from phaseline.plan.operations import INSTALL_RELATIONSHIP_OPERATIONS, UNINSTALL_RELATIONSHIP_OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from phaseline.model.blueprint import Node, Relationship
    from phaseline.plan.forest import Forest

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


def connect(nodes: Sequence[Node], forest: Forest, first: np.ndarray, count: np.ndarray, *, yes_many: bool) -> Rows:
    """Links of all nodes with their rows; ``first`` and ``count``: where the instances of each entity lie."""
    links = links_of(nodes, forest)
    if not yes_many:
        problems = _too_many(nodes, links, count, _blocks(links, forest, count))
        if problems:
            raise ProblemsError(problems)
    return _rows(links, first, count, _blocks(links, forest, count))


def links_of(nodes: Sequence[Node], forest: Forest, past: Collection[int] = ()) -> tuple[Link, ...]:
    """The relationships of all nodes but those that are ``past``.

    Raises: PL-N001 (unknown connection type), PL-N006 (all to one within a group).
    """
    number = {node.name: place for place, node in enumerate(nodes) if place not in past}
    problems: list[Problem] = []
    links: list[Link] = []
    for source, node in enumerate(nodes):
        for place, relationship in enumerate(() if source in past else node.relationships):
            target = number[relationship.target]
            group = -1
            if not relationship.is_containment:
                group = forest.shared_group(source, target)
                if relationship.connection_type not in CONNECTION_TYPES:
                    problems.append(_unknown_connection(node, relationship))
                elif group >= 0 and not relationship.ties_all:
                    problems.append(_one_in_group(node, relationship, forest.groups[group - forest.node_count]))
            is_rule = group < 0 and _is_rule(relationship)
            inside = group - forest.node_count if group >= 0 else -1
            links.append(Link(source, place, target, relationship, is_rule=is_rule, group=inside))
    if problems:
        raise ProblemsError(problems)
    return tuple(links)


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
    return relationship.ties_all and not any(o.is_implemented for side in sides for o in side.values())


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


def _one_in_group(node: Node, relationship: Relationship, group: str) -> Problem:
    return Problem(
        "PL-N006",
        f"'{node.name}' and '{relationship.target}' are in the scaling group '{group}' and connected all_to_one",
        "Within a scaling group write connection_type all_to_all: it stays within each instance of the group.",
        node.place,
        cloudify_class="UnsupportedAllToOneInGroup",
    )


def _blocks(links: Sequence[Link], forest: Forest, count: np.ndarray) -> np.ndarray:
    """Into how many equal parts, which know nothing of each other, sources and targets of each link fall, int64."""
    group = np.array([link.group for link in links], np.int64)
    return np.where(group < 0, 1, count[np.maximum(group + forest.node_count, 0)]) if len(links) else group


def _too_many(nodes: Sequence[Node], links: Sequence[Link], count: np.ndarray, blocks: np.ndarray) -> list[Problem]:
    """A problem when installing or uninstalling would make more than ``MAX_CALLS`` relationship calls."""
    totals = {"install": 0, "uninstall": 0}
    most: tuple[int, Link | None] = (0, None)
    for link, parts in zip(links, blocks.tolist(), strict=True):
        fan = int(count[link.target]) // max(parts, 1) if link.relationship.ties_all else 1
        pairs = int(count[link.source]) * fan
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


def _rows(links: tuple[Link, ...], first: np.ndarray, count: np.ndarray, blocks: np.ndarray) -> Rows:
    """Rows of all links at once: contained in one's container, all to one the first target, all to all each pair.

    Instances of one container or group instance lie beside each other, so that a division tells which it is.
    """
    if not links:
        nothing = np.empty(0, np.int32)
        return Rows(links, nothing, nothing, nothing)
    source = np.array([link.source for link in links])
    target = np.array([link.target for link in links])
    inside = np.array([link.relationship.is_containment for link in links])
    everyone = np.array([link.relationship.ties_all for link in links])
    rule = np.array([link.is_rule for link in links])
    parts = np.maximum(np.where(inside, count[target], blocks), 1)
    fan = np.where(everyone, count[target] // parts, np.minimum(count[target], 1))
    length = np.where(rule, 0, count[source] * fan)
    each = np.maximum(count[source] // parts, 1)
    link = np.repeat(np.arange(len(links)), length)
    place = np.arange(len(link)) - (np.cumsum(length) - length)[link]
    row_source, row_target = np.divmod(place, np.maximum(fan, 1)[link])
    part = row_source // each[link]
    return Rows(
        links,
        link.astype(np.int32),
        (first[source][link] + row_source).astype(np.int32),
        (first[target][link] + part * fan[link] + row_target).astype(np.int32),
    )
