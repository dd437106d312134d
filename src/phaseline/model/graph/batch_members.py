"""Members of a batch as columns, so that a batch with entries of ten thousand executions costs little more than one of one.

Members are counted from 0. Consecutive members from one graph form a *segment*: the ``i``-th segment ends before member
``ends[i]`` and begins where the segment before it ends. Values that are equal within a segment are stored once, in
tuples by segment; all others are stored in arrays by member. Code that runs often reads the columns, other code reads
segments.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_namedtuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from phaseline.model.graph.graph import SubjectKind


class GraphSegment(NamedTuple):
    """Consecutive members of a batch that come from one graph.

    Columns by member: ``positions`` int32 (in the graph), ``subjects`` int32, ``attempts`` int32 (retries made before
    this call), ``generations`` int32 (retries by users), ``policies`` uint16 (index in the graph's table). ``kind`` is
    the kind of the subjects.
    """

    graph: int
    execution: int
    deployment: int
    positions: np.ndarray
    kind: SubjectKind
    subjects: np.ndarray
    attempts: np.ndarray
    generations: np.ndarray
    policies: np.ndarray


class MemberPositions(NamedTuple):
    """Which entries the members of a batch are, as the store keeps them: ``graphs`` and ``ends`` by segment, ``positions`` int32 by member.

    >>> places = MemberPositions.of([(7, np.array([0, 1])), (9, np.array([4]))])
    >>> places.graphs, places.ends, [(graph, at.tolist()) for graph, at in places.parts()]
    ((7, 9), (2, 3), [(7, [0, 1]), (9, [4])])
    """

    graphs: tuple[int, ...]
    ends: tuple[int, ...]
    positions: np.ndarray

    @classmethod
    def of(cls, parts: Sequence[tuple[int, np.ndarray]]) -> MemberPositions:
        """Create the columns from (graph, positions) of consecutive segments."""
        columns = [positions for _, positions in parts]
        ends = tuple(accumulate(map(len, columns)))
        joined = np.concatenate(columns).astype(np.int32) if columns else np.empty(0, np.int32)
        return cls(tuple([graph for graph, _ in parts]), ends, joined)

    def parts(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield (graph, positions) of each segment."""
        for graph, (low, high) in zip(self.graphs, pairwise((0, *self.ends)), strict=True):
            yield graph, self.positions[low:high]


class MemberColumns(NamedTuple):
    """All segments of a batch as columns: those from ``graphs`` to ``ends`` by segment, the others by member."""

    graphs: tuple[int, ...]
    executions: tuple[int, ...]
    deployments: tuple[int, ...]
    kinds: tuple[SubjectKind, ...]
    ends: tuple[int, ...]
    positions: np.ndarray
    subjects: np.ndarray
    attempts: np.ndarray
    generations: np.ndarray
    policies: np.ndarray

    @classmethod
    def of(cls, *segments: GraphSegment) -> MemberColumns:
        """Create the columns from consecutive segments."""
        by_segment = [(one.graph, one.execution, one.deployment, one.kind, len(one.positions)) for one in segments]
        graphs, executions, deployments, kinds, counts = zip(*by_segment, strict=True)
        by_member = [(one.positions, one.subjects, one.attempts, one.generations, one.policies) for one in segments]
        columns = [np.concatenate(parts) for parts in zip(*by_member, strict=True)]
        return cls(graphs, executions, deployments, kinds, tuple(accumulate(counts)), *columns)

    @property
    def places(self) -> MemberPositions:
        """Return the part of the columns that the store keeps."""
        return MemberPositions(self.graphs, self.ends, self.positions)

    def segment(self, number: int) -> GraphSegment:
        """Return the segment with this number; its columns are views of the batch's columns."""
        mine = slice(self.ends[number - 1] if number else 0, self.ends[number])
        return GraphSegment(
            self.graphs[number], self.executions[number], self.deployments[number], self.positions[mine], self.kinds[number],
            self.subjects[mine], self.attempts[mine], self.generations[mine], self.policies[mine],
        )  # fmt: skip

    def segments(self) -> list[GraphSegment]:
        """Return all segments in order."""
        return [self.segment(number) for number in range(len(self.ends))]

    def place_of(self, member: int) -> tuple[GraphSegment, int]:
        """Return (the segment that contains a member, its index there). Raises: IndexError for a number that is no member."""
        if not 0 <= member < self.ends[-1]:
            raise IndexError(member)
        number = bisect_right(self.ends, member)
        return self.segment(number), member - (self.ends[number - 1] if number else 0)
