"""Decide whether a workflow may be started on a deployment in its present state (B23)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.deployment.instance_states import InstanceState as State

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Availability
    from phaseline.model.deployment.topology import Topology

GONE = (State.UNINITIALIZED, State.DELETED)
FOR_WHAT_RUNS = frozenset({"update", "scale", "heal", "restore"})
"""Workflows that would find suspended instances unhealthy, or change them while they are unreachable."""


def unavailable(rules: Availability, topology: Topology, states: np.ndarray) -> str:
    """Return why the workflow may not be started; empty if it may. ``states`` is uint8, indexed by instance number."""
    if not rules.available:
        return "the blueprint makes it never available"
    if rules.node_instances_active and activity(states).isdisjoint(rules.node_instances_active):
        started = int((states == State.STARTED).sum())
        wanted = " or ".join(f"'{word}'" for word in rules.node_instances_active)
        return f"{started:,} of {len(states):,} instances are started, and it is for deployments of which {wanted} are active"
    types = set(rules.node_types_required)
    if types and not any(types.intersection(node.type_hierarchy) for node in topology.nodes):
        return f"it needs a node of type {' or '.join(sorted(types))}, and there is none"
    return ""


def suspended_count(workflow: str, topology: Topology, states: np.ndarray) -> int:
    """Return the number of suspended instances that keep the workflow from being started; 0 if it may be started."""
    return int(((states == State.SUSPENDED) & topology.is_there).sum()) if workflow in FOR_WHAT_RUNS else 0


def activity(states: np.ndarray) -> set[str]:
    """Return which of the words ``all``, ``partial`` and ``none`` describe how many instances are started.

    ``partial`` means that at least one instance exists and not all are started. Without any instance both ``all`` and
    ``none`` are true.

    >>> sorted(activity(np.array([State.STARTED, State.CREATED], np.uint8)))
    ['partial']
    """
    started = states == State.STARTED
    found = set()
    if started.all():
        found.add("all")
    if not started.any():
        found.add("none")
    if not started.all() and not np.isin(states, GONE).all():
        found.add("partial")
    return found
