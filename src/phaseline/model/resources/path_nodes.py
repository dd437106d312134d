"""Nodes of blueprints that are resources: convert their states on a path to states of the life cycle (decision 15)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.resources.state_graph_names import state_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.deployment.topology import Topology

STARTED, TERMINATED = "Started", "Terminated"
"""The usual target of an install, and the target of every uninstall."""


def targets_of(topology: Topology) -> list[str]:
    """Return the target state of each node's path, by node number; empty for a node without a path."""
    on_path = topology.blueprint.on_path
    return [one.target if (one := on_path.get(node.type)) is not None else "" for node in topology.nodes]


def as_life_cycle(topology: Topology, states: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return the states (uint8 by instance number) as life-cycle states: ``started`` at the target, ``deleted`` if terminated.

    Only states of nodes on paths change. ``names`` are the names of the deployment's states.
    """
    return arrived(targets_of(topology), topology.node, states, names) if topology.blueprint.on_path else states


def arrived(targets: Sequence[str], node: np.ndarray, states: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return what ``as_life_cycle`` returns, from ``targets`` by node number and ``node`` (int32) by instance number."""
    numbers = state_numbers(names)
    found = states.copy()
    there = np.array([numbers.get(target, -1) for target in targets], np.int16)[node]
    is_resource = np.array([bool(target) for target in targets], bool)[node]
    found[states == there] = InstanceState.STARTED
    found[is_resource & (states == numbers.get(TERMINATED, -1))] = InstanceState.DELETED
    return found
