"""Simulate a run of a graph, to count waves, batches and plugin calls. Every call succeeds and takes equally long.

Wave 1 contains all entries that may run at once. Each next wave contains the entries that become ready when the wave
before it is done. An entry that is never called passes in the wave of its last need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import unique
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import Mark

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.model.blueprint.blueprint import Operation
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph, LaneSpec, Step

REPEATABLE_BATCH = 1000
"""Largest number of members in a batch of repeatable calls that take one member each.

If such calls are not repeatable, a batch has at most as many members as its pool has slots.
"""


@frozen
class LaneWalk:
    """The work of one lane: the numbers of its entries, batches and plugin calls, its first and last wave (from 1)."""

    lane: LaneSpec
    entries: int
    batches: int
    calls: int
    first_wave: int
    last_wave: int


def waves(graph: Graph) -> np.ndarray:
    """Return the wave of each entry, int32; 0 for entries that need nothing and are never called.

    The needs of an entry are always in an earlier step, so one pass over the steps is enough.
    """
    wave = np.zeros(len(graph), np.int32)
    weight = ((graph.marks & Mark.ABSENT) == 0).astype(np.int32)
    for step in graph.steps:
        own = slice(step.first, step.first + step.count)
        wave[own] += weight[own]
        begin, end = graph.ptr[step.first], graph.ptr[step.first + step.count]
        if begin < end:
            degree = np.diff(graph.ptr[step.first : step.first + step.count + 1])
            np.maximum.at(wave, graph.idx[begin:end], np.repeat(wave[own], degree))
    return wave


def walk(topology: Topology, graph: Graph, wave: np.ndarray, slots: Mapping[str, int]) -> tuple[LaneWalk, ...]:
    """Return the work of each lane, ordered by the wave in which it begins.

    ``wave`` is the result of ``waves``. ``slots`` is {pool: the largest number of calls at a time}.
    """
    specs: dict[LaneSpec, int] = {}
    lane_of = np.array([specs.setdefault(policy.lane, len(specs)) for policy in graph.policies], np.int32)
    careful = {policy.lane for policy in graph.policies if not policy.repeatable}
    called = np.flatnonzero((graph.marks & Mark.ABSENT) == 0)
    lane = lane_of[graph.policy[called]]
    order = np.lexsort((wave[called], lane))
    called, lane = called[order], lane[order]
    functions = _functions(topology, graph) if any(spec.form == "bulk" for spec in specs) else None
    found = []
    bounds = np.searchsorted(lane, np.arange(len(specs) + 1)).tolist()
    for spec, number in specs.items():
        mine = called[bounds[number] : bounds[number + 1]]
        if len(mine):
            size = spec.max_batch
            if spec.form == "each":
                size = min(size, max(1, slots.get(spec.pool, 1)) if spec in careful else REPEATABLE_BATCH)
            found.append(_lane_walk(spec, mine, wave[mine], size, functions))
    return tuple(
        sorted(found, key=lambda found: (found.first_wave, found.lane.phase, found.lane.form, found.lane.pool))
    )


def _lane_walk(
    spec: LaneSpec, members: np.ndarray, wave: np.ndarray, size: int, functions: np.ndarray | None
) -> LaneWalk:
    """Return the work of one lane.

    ``members`` are its entries, ordered by wave, then position; ``wave`` has the wave of each. ``size`` is the largest
    number of members in a batch. ``functions`` is the result of ``_functions``, or None if no lane is bulk.
    """
    begin = np.flatnonzero(np.diff(wave, prepend=-1))
    counts = np.diff(begin, append=len(wave))
    batches = -(-counts // size)
    if spec.form == "each" or functions is None:
        calls = len(members)
    else:
        place = np.arange(len(members)) - np.repeat(begin, counts)
        batch = np.repeat(np.cumsum(batches) - batches, counts) + place // size
        calls = len(unique(batch * (int(functions.max()) + 1) + functions[members]))
    return LaneWalk(spec, len(members), int(batches.sum()), calls, int(wave[0]), int(wave[-1]))


def _functions(topology: Topology, graph: Graph) -> np.ndarray:
    """Return a number for the function that each entry calls, int32; 0 for an entry without a call."""
    numbers: dict[tuple[str, str], int] = {}
    found = np.zeros(len(graph), np.int32)
    tables: dict[tuple[str, SubjectKind], np.ndarray] = {}
    for step in graph.steps:
        if step.kind is SubjectKind.NONE or step.kind is SubjectKind.DEPLOYMENT:
            continue
        key = (step.phase, step.kind)
        if key not in tables:
            tables[key] = _table(topology, step, numbers)
        subject = graph.subject[step.first : step.first + step.count]
        column = topology.node if step.kind is SubjectKind.INSTANCE else topology.link
        found[step.first : step.first + step.count] = tables[key][column[subject]]
    return found


def _table(topology: Topology, step: Step, numbers: dict[tuple[str, str], int]) -> np.ndarray:
    """Return the numbers of the functions that a step calls, indexed by node, or by link for relationships."""
    operations: list[Operation | None]
    if step.kind is SubjectKind.INSTANCE:
        operations = [node.operations.get(step.phase) for node in topology.nodes]
    elif step.kind is SubjectKind.SOURCE:
        operations = [link.relationship.source_operations.get(step.phase) for link in topology.links]
    else:
        operations = [link.relationship.target_operations.get(step.phase) for link in topology.links]
    return np.array(
        [
            0
            if operation is None
            else numbers.setdefault((operation.plugin, operation.implementation), len(numbers) + 1)
            for operation in operations
        ],
        np.int32,
    )
