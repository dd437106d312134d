"""From chosen instances and what each of them goes through to a graph: the transforms in the order that all workflows share.

Walk of an install of ``web`` and ``db``: ``begin`` gathers both, ``db`` one level before ``web``; ``lay_sequence`` gives them
the entries of their operations, ``carry_states`` puts the states on these, ``chain_entries`` and the waits draw the
edges, ``assemble`` lays it all out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.frozen import altered, frozen
from phaseline.plan.assembly import assemble
from phaseline.plan.transforms.chain import chain_entries
from phaseline.plan.transforms.endings import end_however
from phaseline.plan.transforms.intact import NO_ROWS, concerned, lay_intact
from phaseline.plan.transforms.selected import begin
from phaseline.plan.transforms.sequences import lay_sequence
from phaseline.plan.transforms.states import carry_states
from phaseline.plan.transforms.waits import wait_for_sources, wait_for_targets

if TYPE_CHECKING:
    from phaseline.model.execution import History, Request
    from phaseline.model.graph import Graph
    from phaseline.model.topology import Topology
    from phaseline.plan.policies import Declare
    from phaseline.plan.sequence import Relate, Sequence


@frozen
class Asked:
    """What a planner is asked with."""

    topology: Topology
    request: Request
    history: History
    declare: Declare


@frozen
class Walk:
    """What the chosen go through, one after the other in the order of their dependencies.

    ``downwards``: dependents first, as in uninstall. ``tolerant``: failures are ignored; ``once``: nothing is tried again.
    ``intact``: what others run for their relationships to the chosen, once they are up or before they go, and for those
    ``between`` themselves; downwards their failures are always ignored (W24). ``on_paths``: nodes that are resources go through the states of their path instead.
    ``in_order`` False: all at once. ``however``: who waits for one of the chosen goes on however its sequence has ended; what
    fails is an answer that is acted upon in a later round, so it is nothing that ``stop_after`` counts.
    """

    sequence: Sequence
    downwards: bool = False
    tolerant: bool = False
    once: bool = False
    intact: tuple[Relate, ...] = ()
    between: np.ndarray = NO_ROWS
    on_paths: bool = False
    in_order: bool = True
    however: bool = False


def weave(asked: Asked, name: str, chosen: np.ndarray, walk: Walk) -> Graph:
    """The graph ``name`` of the chosen instances (bool by number)."""
    topology, request, history = asked.topology, asked.request, asked.history
    on_paths = walk.on_paths and bool(topology.blueprint.on_path)
    extra = np.zeros_like(chosen)
    for relate in walk.intact:
        extra |= concerned(topology, chosen, relate.operation, walk.between)
    draft = begin(
        topology,
        request,
        history,
        asked.declare,
        chosen,
        extra,
        downwards=walk.downwards,
        with_bridges=walk.in_order,
        on_paths=on_paths,
    )
    breaks = request.breakpoints
    draft = lay_sequence(draft, walk.sequence, tolerant=walk.tolerant, once=walk.once, breakpoints=breaks)
    if on_paths:
        from phaseline.plan.transforms.on_paths import Manner, lay_paths, tie_phases

        manner = Manner(downwards=walk.downwards, tolerant=walk.tolerant, once=walk.once, breakpoints=breaks)
        draft = lay_paths(draft, walk.sequence, history.paths, manner)
    if walk.however:
        draft = end_however(draft)
    for relate in walk.intact:
        draft = lay_intact(draft, relate, walk.between, tolerant=walk.downwards)
    draft = carry_states(draft)
    draft = chain_entries(draft)
    if on_paths:
        draft = tie_phases(draft)
    if walk.in_order:
        draft = wait_for_sources(draft) if walk.downwards else wait_for_targets(draft)
    stop = request.stop_after
    graph = assemble(draft, name, by_node=stop is not None and stop.share is not None)
    if walk.however and stop is not None:
        return altered(graph, group=np.full(len(graph), -1, np.int32))
    return graph
