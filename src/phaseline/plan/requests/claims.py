"""Claims of executions on instances, so that executions over disjoint instances run at the same time (decision 4, W10).

An execution *owns* the instances that its workflow may change. It *leans* on the instances to which they are related,
in which they are contained, or which they contain. These must stay unchanged meanwhile, but several executions may
lean on the same instance. Two executions collide if one owns an instance that the other owns or leans on. Example:
``reinstall`` of ``web_1`` owns ``web_1`` and leans on ``host_1``. A ``reinstall`` of ``web_2`` on the same host owns
``web_2`` and leans on ``host_1``, so both run. ``stop`` of ``host_1`` owns the instance on which both lean, so it
waits for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.plan.workflows import PLANNERS, built_in

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request

NOBODY = np.empty(0, np.int64)


@frozen
class Claim:
    """The instances that an execution reserves, as ascending instance numbers.

    ``own`` are the instances that it may change; None for the whole deployment, even after its shape has changed.
    ``leans`` are those that must not change meanwhile. With ``by_resource``, the engine ensures by itself that each
    resource is in only one execution (workflow ``reach``), so two executions with it never collide.
    """

    own: np.ndarray | None
    leans: np.ndarray
    by_resource: bool = False


EVERYTHING = Claim(None, NOBODY)


def claim_of(topology: Topology, request: Request) -> Claim:
    """Return the claim of an execution of this request, in the present topology."""
    mapped = topology.blueprint.workflows.get(request.workflow)
    meant = request.workflow if mapped is None else mapped.built_in
    if meant not in PLANNERS:
        return Claim(None, NOBODY, by_resource=request.workflow == REACH_WORKFLOW)
    own = built_in(meant).claims(topology, altered(request, workflow=meant))
    if own is None or own.all():
        return EVERYTHING
    return Claim(own.nonzero()[0], (_neighbours(topology, own) & ~own).nonzero()[0])


def collide(one: Claim, other: Claim) -> bool:
    """Return True if executions with these claims must not run at the same time."""
    if one.by_resource and other.by_resource:
        return False
    if one.own is None or other.own is None:
        return all(claim.own is None or len(claim.own) > 0 for claim in (one, other))
    return _meet(one.own, other.own) or _meet(one.own, other.leans) or _meet(one.leans, other.own)


def _meet(one: np.ndarray, other: np.ndarray) -> bool:
    """Return True if two ascending columns have a number in common."""
    if not len(one) or not len(other):
        return False
    places = np.minimum(np.searchsorted(other, one), len(other) - 1)
    return bool((other[places] == one).any())


def _neighbours(topology: Topology, own: np.ndarray) -> np.ndarray:
    """Return the instances next to the instances ``own``; both are bool arrays indexed by instance number.

    Next to an instance are the instances to which it has a relationship, all instances that contain it, and all
    instances inside it.
    """
    found = np.zeros(len(topology), bool)
    found[topology.target[own[topology.source]]] = True
    found[topology.source[own[topology.target]]] = True
    concerned = np.zeros(len(topology.nodes), bool)
    concerned[topology.node[own]] = True
    for link in topology.links:
        if link.is_rule:
            for here, there in ((link.source, link.target), (link.target, link.source)):
                if concerned[here]:
                    found[topology.instances_of(there)] = True
    container = topology.container
    is_contained = container >= 0
    around, inside = container[own], own
    while len(around) or inside.any():  # one level further out and in at a time
        around = np.unique(around[around >= 0])
        inside = inside[container] & is_contained
        found[around] = True
        found |= inside
        around = container[around]
    return found
