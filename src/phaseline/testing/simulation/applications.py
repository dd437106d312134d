"""Random applications: a few nodes with operations of all kinds, and relationships to nodes created before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.testing.builders import CONNECTED_TO, CONTAINED_IN, blueprint, full_name, node, operation, relationship

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Blueprint, Node, Operation, Relationship
    from phaseline.testing.simulation.faults import Dice

DECLARATIONS = {
    "bulk": Declaration(bulk=True),
    "bulk_again": Declaration(bulk=True, repeatable=True),
    "small_again": Declaration(bulk=True, repeatable=True, max_batch=2, concurrency=3),
    "keyed": Declaration(bulk=True, batch_key="properties.region"),
    "each": Declaration(),
    "each_again": Declaration(repeatable=True),
    "foreign": Declaration(flavour="cloudify"),
}
"""{first part of an implementation: its declaration}"""
KINDS = tuple(sorted(DECLARATIONS))
TASK = Declaration(flavour="task")
"""The declaration of functions that carry out tasks of packages."""

OPERATIONS = ("precreate", "create", "configure", "start", "poststart", "prestop", "stop", "delete", "postdelete")
MOST_NODES = 4
PLUGINS = 2
MOST_INSTANCES = 3


def declare(mapped: Operation) -> Declaration:
    """Return the declaration of the function of a simulated operation."""
    return DECLARATIONS.get(mapped.implementation.partition(".")[0], TASK)


def draw_application(dice: Dice) -> Blueprint:
    """Return a blueprint of one to ``MOST_NODES`` nodes."""
    nodes: list[Node] = []
    for number in range(dice.random.randint(1, MOST_NODES)):
        nodes.append(_draw_node(dice, f"n{number}", [known.name for known in nodes]))
    return blueprint(*nodes)


def _draw_node(dice: Dice, name: str, earlier: list[str]) -> Node:
    relationships: list[Relationship] = []
    if earlier and dice.happens(0.5):
        relationships.append(relationship(dice.one(*earlier), CONTAINED_IN, **_sides(dice)))
    relationships.extend(
        relationship(target, CONNECTED_TO, connection_type=dice.one("all_to_all", "all_to_one"), **_sides(dice))
        for target in earlier
        if dice.happens(0.3)
    )
    instances = dice.random.randint(1, MOST_INSTANCES)
    plugin = int(name[1:]) % PLUGINS
    mapped: dict[str, Any] = {short: _draw_operation(dice, short, plugin) for short in OPERATIONS if dice.happens(0.45)}
    return node(name, *relationships, instances=instances, properties={"region": dice.one("a", "b")}, **mapped)


def _draw_operation(dice: Dice, short: str, plugin: int) -> Operation:
    """Return a random operation.

    ``plugin`` is part of the function's name, so that nodes with different plugins have different functions in one lane.
    """
    name = full_name(short)
    retries, timeout = dice.one(None, 0, 1, -1), dice.one(None, None, 2.0)
    if dice.happens(0.2):
        return operation(name, f"scripts/{short}.sh", max_retries=retries, timeout_s=timeout)
    kind = dice.one(*KINDS)
    return operation(
        name,
        f"{kind}.{short}_{plugin}",
        max_retries=retries,
        timeout_s=timeout,
        timeout_recoverable=dice.happens(0.5),
        retry_interval_s=dice.one(None, 0.5),
    )


def _sides(dice: Dice) -> dict[str, Any]:
    """Return random operations for both ends of a relationship, as keyword arguments of ``builders.relationship``."""
    names = ("preconfigure", "establish", "unlink")
    return {
        side: {name: f"{dice.one(*KINDS)}.{name}" for name in names if dice.happens(0.2)} for side in ("source", "to")
    }
