"""Nodes of blueprints that are resources: their states in the words of those whose nodes are not (decision 15)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.state_steps import state_numbers
from phaseline.model.states import InstanceState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.topology import Topology

STARTED, TERMINATED = "Started", "Terminated"
"""The usual target of an install, and the target of every uninstall."""


def as_life_cycle(topology: Topology, states: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """The states (uint8 by instance number), of those on paths ``started`` who has arrived and ``deleted`` who is terminated.

    ``names``: what the states of the deployment are called.
    """
    on_path = topology.blueprint.on_path
    if not on_path:
        return states
    numbers = state_numbers(names)
    found = states.copy()
    targets = [one.target if (one := on_path.get(node.type)) is not None else "" for node in topology.nodes]
    arrived = np.array([numbers.get(target, -1) for target in targets], np.int16)[topology.node]
    is_resource = np.array([bool(target) for target in targets], bool)[topology.node]
    found[states == arrived] = InstanceState.STARTED
    found[is_resource & (states == numbers.get(TERMINATED, -1))] = InstanceState.DELETED
    return found
