"""From chosen instances and what each of them goes through to a graph: the transforms in the order that all workflows share.

Walk of an install of ``web`` and ``db``: ``begin`` gathers both, ``db`` one level before ``web``; ``append_sequence`` gives them
the entries of their operations, ``carry_states`` puts the states on these, ``chain_entries`` and the waits draw the
edges, ``assemble`` lays it all out.

The same is woven again and again: by whoever installs one blueprint many times, and by tests. All that a graph depends on is
compared with what the last graphs were woven of, ids of instances aside, which no transform looks at (``_Woven``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.plan.graph.assembly import assemble
from phaseline.plan.transforms import state_paths
from phaseline.plan.transforms.chain import chain_entries
from phaseline.plan.transforms.dependency_edges import wait_for_sources, wait_for_targets
from phaseline.plan.transforms.endings import end_however
from phaseline.plan.transforms.intact_neighbours import NO_ROWS, append_intact, concerned
from phaseline.plan.transforms.selected import begin
from phaseline.plan.transforms.sequences import append_sequence
from phaseline.plan.transforms.states import carry_states

if TYPE_CHECKING:
    from collections.abc import Sequence as Many

    from phaseline.model.blueprint.blueprint import Operation
    from phaseline.model.blueprint.operation_declaration import Declaration
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare
    from phaseline.plan.graph.lifecycle_sequence import Relate, Sequence


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


MOST_KEPT = 16
"""So many graphs are kept, those that were asked for last."""
MOST_ENTRIES = 1_000
"""Larger graphs, and those of larger deployments, are not."""
SHAPE = ("node", "index", "container", "host", "link", "source", "target", "group", "gone")
"""Columns of a topology that a graph is made of."""


@frozen
class _Woven:
    """A graph, all that it was woven of, and what its operations said of themselves when they were asked."""

    graph: Graph
    asked: Asked
    name: str
    chosen: np.ndarray
    walk: Walk
    declared: Many[tuple[Operation, Declaration]]

    def is_for(self, asked: Asked, name: str, chosen: np.ndarray, walk: Walk) -> bool:
        """Whether it is what would be woven of these. Nodes are the same objects, and so are the steps; the rest is compared."""
        own, other = self.asked.topology, asked.topology
        if name != self.name or len(own.nodes) != len(other.nodes) or walk.sequence is not self.walk.sequence:
            return False
        mine, wanted = self.asked.request, asked.request
        return (
            all(one is another for one, another in zip(own.nodes, other.nodes, strict=True))
            and walk == self.walk
            and (mine.retries, mine.stop_after, mine.breakpoints)
            == (wanted.retries, wanted.stop_after, wanted.breakpoints)
            and own.links == other.links
            and all(_are_same(getattr(own, column), getattr(other, column)) for column in SHAPE)
            and _are_same(self.chosen, chosen)
            and _are_same(self.asked.history.states, asked.history.states)
            and all(asked.declare(operation) == said for operation, said in self.declared)
        )


class _Kept:
    """The last graphs. Whoever changed one would change it for others, so their columns cannot be written."""

    def __init__(self) -> None:
        self._last: tuple[_Woven, ...] = ()

    def find(self, asked: Asked, name: str, chosen: np.ndarray, walk: Walk) -> Graph | None:
        """The graph that was woven of the same."""
        for number, one in enumerate(self._last):
            if one.is_for(asked, name, chosen, walk):
                if number:
                    self._last = (one, *(other for other in self._last if other is not one))
                return one.graph
        return None

    def keep(self, woven: _Woven) -> None:
        """Keep one more."""
        graph = woven.graph
        for column in (graph.subject, graph.policy, graph.marks, graph.ptr, graph.idx, graph.group):
            column.flags.writeable = False
        self._last = (woven, *self._last[: MOST_KEPT - 1])


_KEPT = _Kept()


def _are_same(one: np.ndarray, other: np.ndarray) -> bool:
    return one is other or np.array_equal(one, other)


def weave(asked: Asked, name: str, chosen: np.ndarray, walk: Walk) -> Graph:
    """The graph ``name`` of the chosen instances (bool by number)."""
    if not _is_simple(asked, walk):
        return _woven(asked, name, chosen, walk)
    found = _KEPT.find(asked, name, chosen, walk)
    if found is not None:
        return found
    declared: dict[int, tuple[Operation, Declaration]] = {}

    def declare(operation: Operation) -> Declaration:
        said = asked.declare(operation)
        declared[id(operation)] = operation, said
        return said

    graph = _woven(altered(asked, declare=declare), name, chosen, walk)
    if len(graph) <= MOST_ENTRIES:
        states = altered(asked.history, states=asked.history.states.copy())
        _KEPT.keep(_Woven(graph, altered(asked, history=states), name, chosen.copy(), walk, tuple(declared.values())))
    return graph


def _is_simple(asked: Asked, walk: Walk) -> bool:
    """Whether all that a graph depends on can be compared in less time than it takes to weave it."""
    topology = asked.topology
    return (
        len(topology) <= MOST_ENTRIES
        and walk.between is NO_ROWS
        and not any(relate.only is not None for relate in walk.intact)
        and not (walk.on_paths and topology.blueprint.on_path)
    )


def _woven(asked: Asked, name: str, chosen: np.ndarray, walk: Walk) -> Graph:
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
    draft = append_sequence(draft, walk.sequence, tolerant=walk.tolerant, once=walk.once, breakpoints=breaks)
    if on_paths:
        manner = state_paths.StatePathOptions(
            downwards=walk.downwards, tolerant=walk.tolerant, once=walk.once, breakpoints=breaks
        )
        draft = state_paths.append_paths(draft, walk.sequence, history.paths, manner)
    if walk.however:
        draft = end_however(draft)
    for relate in walk.intact:
        draft = append_intact(draft, relate, walk.between, tolerant=walk.downwards)
    draft = carry_states(draft)
    draft = chain_entries(draft)
    if on_paths:
        draft = state_paths.tie_phases(draft)
    if walk.in_order:
        draft = wait_for_sources(draft) if walk.downwards else wait_for_targets(draft)
    stop = request.stop_after
    graph = assemble(draft, name, by_node=stop is not None and stop.share is not None)
    if walk.however and stop is not None:
        return altered(graph, group=np.full(len(graph), -1, np.int32))
    return graph
