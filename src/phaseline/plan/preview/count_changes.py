"""Compare the topologies before and after a plan: which nodes get more or fewer instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology

MOST_NAMED = 20
"""Largest number of ids of added instances that a ``CountChange`` keeps; the bound for removed ones is equal."""


@frozen
class CountChange:
    """A node whose number of instances changes.

    ``before`` and ``after`` are its numbers of instances. ``comes`` and ``goes`` are the numbers of added and removed
    instances; ``added`` and ``removed`` hold at most ``MOST_NAMED`` of their ids.
    """

    name: str
    before: int
    after: int
    comes: int
    goes: int
    added: tuple[str, ...]
    removed: tuple[str, ...]


def resized(before: Topology, after: Topology) -> tuple[CountChange, ...]:
    """Return a change for each node with added or removed instances, in the order of node numbers.

    An instance that is in both topologies must have an equal number in both.
    """
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
