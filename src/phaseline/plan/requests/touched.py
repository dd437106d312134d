"""Which instances a workflow takes away or stops, and which instances are behind a capability (DP7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.health.checks import ILL, CheckKind
from phaseline.plan.requests.claims import claim_of
from phaseline.plan.workflows import PLANNERS

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request
    from phaseline.model.health.checks import Checks

AS_A_WHOLE: Final = frozenset({"uninstall", "abandon", "delete"})
"""Workflows that take all instances of a deployment away, or the records of them."""
BY_CLAIM: Final = frozenset({"stop", "restart", "reinstall"})
"""Workflows that stop the instances which they claim."""
BY_PLAN: Final = frozenset({"scale", "update"})
"""Workflows whose plan decides which instances are removed."""
LIKE_CLOUDIFY: Final = frozenset({"stop", "uninstall", "update", "heal", "delete", "abandon"})
"""Workflows that Cloudify refuses, whatever they touch (``dependencies.cloudify_compat``)."""
_CHAINS: Final = ("get_attribute", "get_property")


def meant_workflow(topology: Topology, name: str) -> str:
    """Return the built-in workflow that a name of the blueprint means; the name itself for any other."""
    mapped = topology.blueprint.workflows.get(name)
    return name if mapped is None else mapped.built_in


def touched_at_once(topology: Topology, request: Request, checks: Checks) -> np.ndarray | None:
    """Return the instances (bool by number) that a workflow stops or takes away, without planning it; None for all.

    Empty for workflows that touch nothing, and for those whose plan decides (``BY_PLAN``). ``heal`` touches the claimed
    instances whose last check found them unhealthy, unless it may not reinstall.
    """
    meant = meant_workflow(topology, request.workflow)
    nothing = np.zeros(len(topology), bool)
    if meant in AS_A_WHOLE:
        return None
    if meant not in PLANNERS or (meant not in BY_CLAIM and meant != "heal"):
        return nothing
    if meant == "heal" and request.parameters.get("allow_reinstall") is False:
        return nothing
    own = claim_of(topology, altered(request, workflow=meant)).own
    claimed = np.asarray(topology.is_there).copy() if own is None else nothing
    if own is not None:
        claimed[own] = True
    if meant != "heal":
        return None if own is None else claimed
    return np.asarray(claimed & np.isin(checks.column(CheckKind.STATUS, len(topology)), ILL))


def removed(before: Topology, after: Topology) -> np.ndarray:
    """Return the instances (bool by number of ``before``) that are there before and not after."""
    count = len(before)
    return np.asarray(before.is_there[:count] & ~after.is_there[:count])


def instances_behind(topology: Topology, value: Value) -> np.ndarray | None:
    """Return the instances (bool by number) on which a capability depends; None for the whole deployment.

    Only a single ``get_attribute`` or ``get_property`` with literal arguments is that of one node.
    """
    if not isinstance(value, dict) or len(value) != 1:
        return None
    ((name, arguments),) = value.items()
    if name not in _CHAINS or not isinstance(arguments, list):
        return None
    if not all(isinstance(step, str | int) for step in arguments):
        return None
    node = topology.node_number.get(str(arguments[0]))
    return None if node is None else np.asarray(topology.node == node)
