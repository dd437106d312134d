"""Make the empty draft from which a graph is built: only the participants and their present states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.plan.graph.call_policies import Policies
from phaseline.plan.graph.draft import GraphDraft
from phaseline.plan.graph.participants import gather

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request
    from phaseline.plan.graph.call_policies import Declare


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
    on_paths: bool = False,
) -> GraphDraft:
    """Return a draft without entries.

    ``chosen`` and ``extra`` are bool arrays indexed by instance number. With ``downwards``, dependents come first. With
    ``with_bridges``, instances on dependency paths between these take part too, to keep the order. With ``on_paths``,
    chosen instances of nodes that are resources go through the states of their path instead of the workflow's steps.
    """
    participants = gather(topology, chosen, extra, downwards=downwards, with_bridges=with_bridges)
    present = history.states[participants.number]
    walks = participants.is_chosen
    if on_paths and topology.blueprint.on_path:
        kinds = [node.type not in topology.blueprint.on_path for node in topology.nodes]
        walks = walks & np.array(kinds, bool)[participants.node]
    return GraphDraft(topology, participants, present, walks, Policies(declare, request.retries))
