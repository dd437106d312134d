"""The content of a diagram: nodes and their relationships, of a plan, a deployment or a blueprint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.plan.preview.plan_text import INTERFACES, LIFECYCLES, RELATIONSHIP_TYPES

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Node
    from phaseline.plan.preview.plan_summary import NodePlan, PlanSummary


@frozen
class DrawnNode:
    """A box of a diagram, for one node in one round of a plan.

    ``name`` is unique within its ``round``. ``lines`` are further lines of text. ``sign`` is the node's change in a
    plan, such as ``+``; otherwise empty.
    """

    name: str
    type: str
    lines: tuple[str, ...] = ()
    sign: str = ""
    round: int = 0


@frozen
class DrawnEdge:
    """An arrow of a diagram, from the source of a relationship to its target, which are nodes of one ``round``."""

    source: str
    target: str
    type: str
    round: int = 0


@frozen
class Drawing:
    """A diagram.

    ``rounds`` are the titles of its parts, one for each round of a plan; empty if there is only one part.
    """

    title: str
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    rounds: tuple[str, ...] = ()


def of_plan(title: str, summaries: Sequence[PlanSummary]) -> Drawing:
    """Return the drawing of a plan: the nodes of each round with their calls."""
    nodes: list[DrawnNode] = []
    edges: list[DrawnEdge] = []
    for number, summary in enumerate(summaries):
        nodes += [_planned(node, number) for node in summary.nodes]
        known = {node.name for node in summary.nodes}
        edges += [
            DrawnEdge(node.name, one.target, _short_type(one.type), number)
            for node in summary.nodes
            for one in node.relationships
            if one.target in known
        ]
    total = len(summaries)
    rounds = [f"round {number} of {total}: {one.workflow}" for number, one in enumerate(summaries, 1)]
    return Drawing(title, tuple(nodes), tuple(edges), tuple(rounds) if total > 1 else ())


def of_nodes(title: str, nodes: Iterable[Node], lines: Mapping[str, Sequence[str]]) -> Drawing:
    """Return the drawing of nodes of a blueprint with their relationships.

    ``lines`` is {node: further lines of text}.
    """
    kept = list(nodes)
    known = {node.name for node in kept}
    return Drawing(
        title,
        tuple([DrawnNode(node.name, node.type, tuple(lines.get(node.name, ()))) for node in kept]),
        tuple(
            [
                DrawnEdge(node.name, one.target, _short_type(one.type))
                for node in kept
                for one in node.relationships
                if one.target in known
            ]
        ),
    )


def _planned(node: NodePlan, number: int) -> DrawnNode:
    count = [f"× {node.count:,}"] if node.count else []
    calls = [_short(operation.name) for operation in node.operations]
    return DrawnNode(node.name, node.type, (*count, *calls), node.sign, number)


def _short_type(type_name: str) -> str:
    return type_name.removeprefix(RELATIONSHIP_TYPES)


def _short(operation: str) -> str:
    name = operation.removeprefix(INTERFACES)
    for prefix in LIFECYCLES:
        name = name.removeprefix(prefix)
    return name
