"""Refuse a request whose action is forbidden for some of its instances (``model.deployment.restrictions``).

``refusals`` reports all forbidden actions when a request is made. Planners check again when they run, because the
blueprint may have changed in between. Taking back a failure is never refused, because no user has asked for it.
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
"""The names that ``phaseline.planning.restrictions`` offers to workflows of plugins."""


def refusals(topology: Topology, request: Request) -> tuple[Problem, ...]:
    """Return PL-P049 for each node for which the request's action is forbidden.

    Of an update, only the list of instances to reinstall is checked here, the rest when its blueprint is known.
    """
    return tuple(forbidden(topology, _asked_for(topology, request)))


def _asked_for(topology: Topology, request: Request) -> Mapping[str, np.ndarray]:
    """Return {action: affected instances, bool by number}, as far as the request alone determines them."""
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
