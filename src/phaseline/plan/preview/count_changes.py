"""Changes of instance counts by node: the difference between the topologies before and after a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology

MOST_NAMED = 20
"""The most ids kept of added, and of removed instances."""


@frozen
class CountChange:
    """A node with a changed number of instances: counts of added and removed ones, and the first ids of each."""

    name: str
    before: int
    after: int
    comes: int
    goes: int
    added: tuple[str, ...]
    removed: tuple[str, ...]


def resized(before: Topology, after: Topology) -> tuple[CountChange, ...]:
    """Nodes with added or removed instances, in the order of their numbers. Instance numbers are the same in both."""
    if before is after:
        return ()
    was = np.zeros(len(after), bool)
    was[: len(before)] = before.is_there
    comes, goes = after.is_there & ~was, was & ~after.is_there
    states = (was, after.is_there, comes, goes)
    counts = [np.bincount(after.node[who], minlength=len(after.nodes)).tolist() for who in states]
    return tuple(
        CountChange(
            after.nodes[number].name,
            *(held, left, come, go),
            _named(after, comes & (after.node == number)),
            _named(after, goes & (after.node == number)),
        )
        for number, (held, left, come, go) in enumerate(zip(*counts, strict=True))
        if come or go
    )


def _named(topology: Topology, chosen: np.ndarray) -> tuple[str, ...]:
    return tuple(topology.ids[number] for number in chosen.nonzero()[0][:MOST_NAMED].tolist())
