"""Roles of packages have limits: whether a deployment keeps to them in the shape that a workflow brings it to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.packages.package import Roles
from phaseline.model.packages.role_limits import INSTALL, beyond
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.rounds.round_preview import foresee
from phaseline.plan.stages.role_masks import RoleMasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.packages.role_limits import Count, RoleLimits
    from phaseline.model.problems.problem import Problem
    from phaseline.plan.graph.workflow import Planner
    from phaseline.plan.transforms.pipeline import Asked


def counting(topology: Topology, among: np.ndarray | None = None) -> Count:
    """How many instances of a topology have a role, be it the primary one or not. ``among``: bool by number, None: all that are."""
    masks = RoleMasks(topology)
    counted = True if among is None else among
    return lambda role: int(np.count_nonzero(masks.of(Roles(names=(role,))) & counted))


def raise_if_beyond_limits(
    limits: Sequence[RoleLimits], shape: Topology, before: Topology | None = None
) -> list[Problem]:
    """Raise what forbids a shape (PL-F069); what is only to be said of it is returned.

    ``before``: what the deployment is now; None: nothing of it is there.
    """
    problems = beyond(limits, counting(shape), None if before is None else counting(before))
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise ProblemsError(errors)
    return problems


def look_ahead(limits: Sequence[RoleLimits], planner: Planner, asked: Asked) -> None:
    """Raise what forbids the shape to which a workflow that is about to begin would bring the deployment as it is by now."""
    if asked.request.workflow == INSTALL:
        raise_if_beyond_limits(limits, asked.topology)
    else:
        foreseen = foresee(planner, asked.topology, asked.request, asked.history, asked.declare)
        raise_if_beyond_limits(limits, foreseen.topology, foreseen.before)
