"""Restrict: a person says what nobody may do with nodes and instances until it is lifted (spec of hooks, section 11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from phaseline.model.execution import Reshape
from phaseline.model.frozen import altered
from phaseline.plan import restrictions
from phaseline.plan.workflow import Parameter, Workflow
from phaseline.plan.workflows.saying import saying

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np

    from phaseline.model.execution import Request
    from phaseline.model.problem import Problem
    from phaseline.model.topology import Topology

RESTRICT = "restrict"
"""Name of the workflow, and of its round."""
RESTRICTED = "restricted"
"""Parameter: {node or id of an instance: what is forbidden of it; null: what the blueprint says}."""


def restricted(topology: Topology, request: Request) -> Reshape:
    """What is forbidden from now on."""
    told = {**topology.restricted, **_said(request)}
    kept = {name: actions for name, actions in told.items() if actions is not None}
    return Reshape(RESTRICT, altered(topology, restricted=kept))


def problems(topology: Topology, request: Request) -> Iterable[Problem]:
    """PL-P001 for whom there is not, PL-P004 for what cannot be forbidden."""
    return restrictions.wrong(topology, _said(request))


def claims(topology: Topology, request: Request) -> np.ndarray | None:
    """Those it is about, so that nothing is under way with them."""
    return restrictions.whom(topology, _said(request))


def _said(request: Request) -> Mapping[str, Sequence[str] | None]:
    return cast("Mapping[str, Sequence[str] | None]", request.parameters.get(RESTRICTED) or {})


WORDS = Parameter((dict,), "a mapping, such as '{web: [delete]}'", required=True)
WORKFLOW = Workflow(saying(RESTRICT, restricted), {RESTRICTED: WORDS}, problems=problems, claims=claims)
