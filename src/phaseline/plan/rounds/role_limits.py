"""Check that the topology to which a workflow leads respects the limits of package roles."""

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
    """Return a function that takes a role and returns how many instances have it, including the primary instance.

    ``among`` marks the instances to count, bool by instance number; None means all existing instances.
    """
    masks = RoleMasks(topology)
    counted = True if among is None else among
    return lambda role: int(np.count_nonzero(masks.of(Roles(names=(role,))) & counted))


def raise_if_beyond_limits(
    limits: Sequence[RoleLimits], shape: Topology, before: Topology | None = None
) -> list[Problem]:
    """Raise PL-F069 if limits forbid a topology; return the problems of limits that only warn.

    ``before`` is the present topology, or None if the deployment is new.
    """
    problems = beyond(limits, counting(shape), None if before is None else counting(before))
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise ProblemsError(errors)
    return problems


def look_ahead(limits: Sequence[RoleLimits], planner: Planner, asked: Asked) -> None:
    """Raise PL-F069 if the workflow that is about to begin would lead to a topology that a limit forbids."""
    if asked.request.workflow == INSTALL:
        raise_if_beyond_limits(limits, asked.topology)
    else:
        foreseen = foresee(planner, asked.topology, asked.request, asked.history, asked.declare)
        raise_if_beyond_limits(limits, foreseen.topology, foreseen.before)
