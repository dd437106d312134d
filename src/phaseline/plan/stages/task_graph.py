"""A graph of tasks under construction: blocks of vertices, one or more for each task, and edges between vertices.

A vertex is a call of a task on one instance. Edges come from the dependencies of tasks. ``chained`` adds edges that
make each instance run one task at a time, in the order of the depths. ``build_task_graph`` then makes the graph, with
each entry after its needs. A vertex is identified by its provisional position: block after block, and by instance
within a block. Entries that only connect vertices (joins, points, ends that an instance waits for) are never called.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import unique
from phaseline.lang.fast_dataclasses import frozen, mutable
from phaseline.model.graph.graph import Graph, Step, SubjectKind
from phaseline.model.graph.status import Mark
from phaseline.plan.graph.dependency_order import levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.graph.graph import Bound
    from phaseline.plan.graph.call_policies import Policies

MILESTONE = "milestone"
ABSENT = int(Mark.ABSENT)
NOBODY = np.array([-1], np.int32)
Edges = tuple[np.ndarray, np.ndarray]
Column = int | np.ndarray


@frozen
class Block:
    """The entries of one call of a task on all its instances, at consecutive positions from ``first`` on.

    ``subjects`` are int32, ascending; ``positions`` int64. ``rank`` orders tasks of equal depth; -1 for milestones.
    ``place`` is the number of calls that the task makes before this one. ``policy`` (a number of ``Policies``),
    ``marks`` and ``group`` have a value for each entry, or are one number for all entries.
    """

    phase: str
    kind: SubjectKind
    first: int
    subjects: np.ndarray
    positions: np.ndarray
    policy: Column
    marks: Column
    rank: int
    place: int = 0
    group: Column = 0

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.subjects)

    def at(self, subjects: np.ndarray) -> np.ndarray:
        """Return the positions of the entries with these subjects. All of them must be in the block."""
        found: np.ndarray = self.first + self.subjects.searchsorted(subjects)
        return found


@mutable
class TaskGraph:
    """The graph under construction: all blocks and edges added so far."""

    policies: Policies
    blocks: list[Block] = field(default_factory=list)
    edges: list[Edges] = field(default_factory=list)
    size: int = 0

    def add(
        self,
        phase: str,
        kind: SubjectKind,
        subjects: np.ndarray,
        policy: Column | None = None,
        marks: Column = ABSENT,
        *,
        rank: int = -1,
        place: int = 0,
        group: Column = 0,
    ) -> Block:
        """Append a block, and return it. ``rank`` orders tasks of equal depth; -1 for milestones."""
        count = len(subjects)
        number = self.policies.absent() if policy is None else policy
        positions = np.arange(self.size, self.size + count)
        block = Block(phase, kind, self.size, subjects, positions, number, marks, rank, place, group)
        self.blocks.append(block)
        self.size += count
        return block

    def milestone(self, sources: np.ndarray, marks: int = 0) -> np.ndarray:
        """Add an entry that waits for all ``sources``, and return its position."""
        found = self.add(MILESTONE, SubjectKind.NONE, NOBODY, marks=ABSENT | marks).positions
        self.tie(sources, found)
        return found

    def tie(self, sources: np.ndarray, targets: np.ndarray) -> None:
        """Make each target wait for each source.

        If there are several sources and several targets, one milestone between them replaces an edge for each pair.
        """
        if not len(sources) or not len(targets):
            return
        if len(sources) > 1 and len(targets) > 1:
            sources = self.milestone(sources)
        count = max(len(sources), len(targets))
        if len(sources) < count:
            sources = sources.repeat(count)
        if len(targets) < count:
            targets = targets.repeat(count)
        self.edges.append((sources, targets))

    def tie_pairs(self, sources: np.ndarray, targets: np.ndarray) -> None:
        """Make target i wait for source i, for each i."""
        if len(sources):
            self.edges.append((sources, targets))

    def joined(self) -> Edges:
        """Return all edges as (sources, targets)."""
        nothing = np.empty(0, np.int64)
        if len(self.edges) != 1:
            sources, targets = zip(*self.edges, strict=True) if self.edges else ((), ())
            self.edges = [(np.concatenate([nothing, *sources]), np.concatenate([nothing, *targets]))]
        return self.edges[0]

    def depths(self) -> np.ndarray:
        """Return the depth of each vertex, int32; -1 for a vertex in a circle or behind one."""
        return levels(self.size, *self.joined())


def chained(graph: TaskGraph, rows: Sequence[Sequence[Block]], depth: np.ndarray, ordered: int) -> np.ndarray:
    """Make each instance run its tasks one at a time: a task begins when the task before it has ended, with any result.

    ``rows`` holds the calls of each task, in order. Tasks with a rank below ``ordered`` already wait for all calls of
    the task before them, so they get no more edges. A milestone is added before each task that must wait; return the
    vertices that wait for these milestones.
    """
    called = [row for row in rows if row and row[0].kind is SubjectKind.INSTANCE]
    if not called:
        return np.empty(0, np.int64)
    head = np.concatenate([row[0].positions for row in called])
    tail = np.concatenate([row[-1].positions for row in called])
    owner = np.concatenate([row[0].subjects for row in called])
    rank = np.repeat([row[0].rank for row in called], [len(row[0]) for row in called])
    order = np.lexsort((rank, depth[head], owner))
    follows = owner[order][1:] == owner[order][:-1]
    follows &= rank[order][1:].clip(rank[order][:-1]) >= ordered
    before, behind = tail[order][:-1][follows], head[order][1:][follows]
    source, target = graph.joined()
    known = _among(before * graph.size + behind, source * graph.size + target)
    before, waits = before[~known], np.asarray(behind[~known])
    if len(before):
        ends = graph.add(MILESTONE, SubjectKind.NONE, np.full(len(before), -1), marks=ABSENT | Mark.ENDED).positions
        graph.tie_pairs(before, ends)
        graph.tie_pairs(ends, waits)
    return waits


def build_task_graph(
    graph: TaskGraph, name: str, depth: np.ndarray, behind: np.ndarray, bounds: tuple[Bound, ...] = ()
) -> Graph:
    """Return the finished graph. ``depth`` has the depth of each vertex.

    ``behind`` is the result of ``chained``; each milestone of ``chained`` comes just before the vertex that waits for
    it.
    """
    blocks, size = graph.blocks, graph.size
    lengths = [len(block) for block in blocks]
    rank = np.repeat([block.rank for block in blocks], lengths)
    place = np.repeat([block.place + 1 for block in blocks], lengths)
    deep = np.zeros(size, np.int64)
    deep[: len(depth)] = depth
    for block in blocks:
        if block.place:  # later calls of a task come after its first call
            deep[block.first : block.first + len(block)] = depth[block.first - block.place * len(block) :][: len(block)]
    if len(behind):
        deep[-len(behind) :], rank[-len(behind) :], place[-len(behind) :] = depth[behind], rank[behind], 0
    number = np.repeat(np.arange(len(blocks)), lengths)
    number[rank < 0] = -1  # milestones of one depth are one step
    order = np.lexsort((np.arange(size), place, rank, deep))
    position = np.empty(size, np.int64)
    position[order] = np.arange(size)
    ptr, idx = _adjacency(size, *graph.joined(), position)
    policy = _spread([block.policy for block in blocks], lengths)
    final = np.array([graph.policies.final(one, (), ()) for one in range(int(policy.max()) + 1)])
    return Graph(
        name,
        _steps(blocks, number[order], np.stack([deep, rank, place])[:, order], lengths, order),
        graph.policies.table(),
        subject=np.concatenate([block.subjects for block in blocks])[order].astype(np.int32),
        policy=final[policy[order]].astype(np.uint16),
        marks=_spread([block.marks for block in blocks], lengths)[order].astype(np.uint8),
        ptr=ptr,
        idx=idx,
        group=_spread([block.group for block in blocks], lengths)[order if bounds else order[:0]].astype(np.int32),
        bounds=bounds,
    )


def _steps(
    blocks: Sequence[Block], number: np.ndarray, keys: np.ndarray, lengths: Sequence[int], order: np.ndarray
) -> tuple[Step, ...]:
    """Return the steps. A step has neighbouring entries of one block and one depth, or the milestones of one depth."""
    breaks = (number[1:] != number[:-1]) | (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    first = [0, *(breaks.nonzero()[0] + 1).tolist()]
    block_of = np.repeat(np.arange(len(blocks)), lengths)[order[first]].tolist()
    counts = np.diff([*first, len(number)]).tolist()
    return tuple(
        Step(blocks[block].phase, blocks[block].kind, begin, count)
        for block, begin, count in zip(block_of, first, counts, strict=True)
    )


def _adjacency(
    size: int, source: np.ndarray, target: np.ndarray, position: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    keys = unique(position[source] * size + position[target])
    begin, end = np.divmod(keys, size)
    ptr = np.zeros(size + 1, np.int32)
    np.cumsum(np.bincount(begin, minlength=size), out=ptr[1:])
    return ptr, end.astype(np.int32)


def _spread(values: Sequence[Column], lengths: Sequence[int]) -> np.ndarray:
    """Return the values of all blocks as one column with a value for each entry, int64."""
    found = np.repeat([value if isinstance(value, int) else 0 for value in values], lengths)
    first = 0
    for value, length in zip(values, lengths, strict=True):
        if not isinstance(value, int):
            found[first : first + length] = value
        first += length
    return found


def _among(keys: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return for each key whether it is in ``known``, bool.

    Sorting nearly sorted numbers is ten times as fast as ``numpy.isin``.
    """
    ordered = np.append(unique(known), -1)
    found: np.ndarray = ordered[ordered[:-1].searchsorted(keys)] == keys
    return found
