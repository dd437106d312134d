"""The empty draft with which a graph begins: who takes part, and in which states they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.plan.draft import Draft
from phaseline.plan.participants import gather
from phaseline.plan.policies import Policies

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.execution import History, Request
    from phaseline.model.topology import Topology
    from phaseline.plan.policies import Declare


def begin(
    topology: Topology,
    request: Request,
    history: History,
    declare: Declare,
    chosen: np.ndarray,
    extra: np.ndarray,
    *,
    downwards: bool,
    with_bridges: bool = True,
) -> Draft:
    """A draft without entries. ``chosen`` and ``extra``: bool by instance number; ``downwards``: dependents come first.

    ``with_bridges``: instances between them take part too, so that they keep the order.
    """
    participants = gather(topology, chosen, extra, downwards=downwards, with_bridges=with_bridges)
    present = history.states[participants.number]
    return Draft(topology, participants, present, Policies(declare, request.retries))
