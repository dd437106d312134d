"""Build a graph from chosen instances and a sequence, by applying the transforms in the order that all workflows share.

Example, an install of ``web``, which depends on ``db``: ``begin`` gathers both, ``db`` one level before ``web``.
``append_sequence`` adds the entries of their operations, ``carry_states`` attaches the instance states to entries,
``chain_entries`` and ``wait_for_targets`` add the edges, and ``assemble`` makes the graph.

Callers that install one blueprint many times, and tests, often build an equal graph again. So the last graphs are kept
together with all their inputs (``_Woven``), except ids of instances, which no transform reads. Equal inputs give the
kept graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.plan.graph.assembly import assemble
from phaseline.plan.transforms import endings, state_paths
from phaseline.plan.transforms.chain import chain_entries
from phaseline.plan.transforms.dependency_edges import wait_for_sources, wait_for_targets
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
    """The arguments with which the engine calls a planner, as one value."""

    topology: Topology
    request: Request
    history: History
    declare: Declare


@frozen
class Walk:
    """How a graph handles its chosen instances: the sequence that each runs, and the order between the instances.

    With ``downwards``, dependents come first, as in uninstall. With ``tolerant``, failures are ignored. With ``once``,
    nothing is retried. ``intact`` are relationship operations that instances which are not chosen call, for their
    relationships to chosen instances and for the relationships numbered ``between``. They run after the chosen
    instances are installed, or before they are removed; before a removal their failures are ignored (W24). With
    ``on_paths``, nodes that are resources go through the states of their path instead. Without ``in_order``, all
    instances run at once. With ``however``, instances that wait for a chosen instance continue even if it has failed.
    Its failure is a result for a later round, so ``stop_after`` does not count it.
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
"""Number of graphs kept; the one that was unused for longest is dropped first."""
MOST_ENTRIES = 1_000
"""Graphs with more entries than this, or of deployments with more instances, are not kept."""
SHAPE = ("node", "index", "container", "host", "link", "source", "target", "group", "gone")
"""Columns of a topology that a graph depends on."""


@frozen
class _Woven:
    """A kept graph with all inputs from which it was built, and the declarations that its operations had then."""

    graph: Graph
    asked: Asked
    name: str
    chosen: np.ndarray
    walk: Walk
    declared: Many[tuple[Operation, Declaration]]

    def is_for(self, asked: Asked, name: str, chosen: np.ndarray, walk: Walk) -> bool:
        """Return True if these inputs give the kept graph.

        Nodes and steps are compared by identity, the rest by value.
        """
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
    """The graphs that were built last. Callers share them, so their columns are read-only."""

    def __init__(self) -> None:
        self._last: tuple[_Woven, ...] = ()

    def find(self, asked: Asked, name: str, chosen: np.ndarray, walk: Walk) -> Graph | None:
        """Return the kept graph that was built from equal inputs; None if there is none."""
        for number, one in enumerate(self._last):
            if one.is_for(asked, name, chosen, walk):
                if number:
                    self._last = (one, *(other for other in self._last if other is not one))
                return one.graph
        return None

    def keep(self, woven: _Woven) -> None:
        """Keep a graph as the one used last, and make its columns read-only."""
        graph = woven.graph
        for column in (graph.subject, graph.policy, graph.marks, graph.ptr, graph.idx, graph.group):
            column.flags.writeable = False
        self._last = (woven, *self._last[: MOST_KEPT - 1])


_KEPT = _Kept()


def _are_same(one: np.ndarray, other: np.ndarray) -> bool:
    return one is other or np.array_equal(one, other)


def weave(asked: Asked, name: str, chosen: np.ndarray, walk: Walk) -> Graph:
    """Return the graph called ``name`` in which the chosen instances (bool by instance number) run ``walk``."""
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
    """Return True if comparing all inputs with those of kept graphs is faster than building the graph."""
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
        draft = endings.end_however(draft)
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
