"""Refusing what would do with instances that which is forbidden of them (``model.deployment.restrictions``), all of it at once and before anything runs.

Whoever asks for a workflow is refused by ``refusals``; planners ask again when their turn has come, for a blueprint may have come between. What
is taken back because it failed is nobody's wish, and is not restricted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.deployment.restrictions import DELETE, REPLACE
from phaseline.plan.graph import selection
from phaseline.plan.graph.restrictions import as_mask, forbidden, refuse
from phaseline.plan.topology import modification_lifecycle, scale_request
from phaseline.plan.topology.restriction_checks import refuse_revision, whom, wrong
from phaseline.plan.workflows import heal, update_or_reinstall

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request
    from phaseline.model.problems.problem import Problem

__all__ = ["forbidden", "refusals", "refuse", "refuse_revision", "whom", "wrong"]
"""What workflows of plugins find in ``phaseline.planning.restrictions``."""


def refusals(topology: Topology, request: Request) -> tuple[Problem, ...]:
    """PL-P049 for each node of which the request would do what is forbidden. An update says it when its blueprint is known."""
    return tuple(forbidden(topology, _asked_for(topology, request)))


def _asked_for(topology: Topology, request: Request) -> Mapping[str, np.ndarray]:
    """{action: with whom it is to be done} as far as the request alone says it."""
    parameters = request.parameters
    match request.workflow:
        case "uninstall" | "reinstall":
            return {DELETE if request.workflow == "uninstall" else REPLACE: selection.choose(topology, request)}
        case "heal":
            is_forced = parameters.get(heal.FORCE_REINSTALL) is True
            return {REPLACE: heal.with_contained(topology, heal.select(topology, request))} if is_forced else {}
        case "scale":
            shape = topology if topology.started is None else modification_lifecycle.taken_back(topology)
            found = scale_request.read_scaling(shape, request)
            gone = scale_request.change_of(shape, request, found).removed.changed if found.delta < 0 else ()
            return {DELETE: as_mask(topology, gone)}
        case "update":
            said = parameters.get(update_or_reinstall.REINSTALL_LIST)
            names = [said] if isinstance(said, str) else said if isinstance(said, list) else []
            return {REPLACE: as_mask(topology, [topology.number_of[str(name)] for name in names])}
    return {}
