"""Members of a batch as columns, so that ten thousand executions in one batch cost hardly more than one.

Members are counted from 0. Consecutive members from one graph are a *segment*: the ``i``-th ends before member ``ends[i]``
and begins where the one before it ends. Values common to a segment are kept once for each segment, in tuples; values that
differ are kept in arrays by member. Hot code reads the columns; code that needs one member asks for its segment.
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

    Columns in member order: ``positions`` int32 in the graph, ``subjects`` int32, ``attempts`` int32
    (retries made before this call), ``generations`` int32 (retries by users), ``policies`` uint16 (into the
    graph's table). ``kind`` is that of their step.
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
        """Of (graph, positions) one behind the other."""
        columns = [positions for _, positions in parts]
        ends = tuple(accumulate(map(len, columns)))
        joined = np.concatenate(columns).astype(np.int32) if columns else np.empty(0, np.int32)
        return cls(tuple([graph for graph, _ in parts]), ends, joined)

    def parts(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield (graph, positions) by segment."""
        for graph, (low, high) in zip(self.graphs, pairwise((0, *self.ends)), strict=True):
            yield graph, self.positions[low:high]


class MemberColumns(NamedTuple):
    """The columns of ``GraphSegment``: those from ``graphs`` to ``ends`` by segment, the others by member."""

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
        """Of these segments one behind the other."""
        by_segment = [(one.graph, one.execution, one.deployment, one.kind, len(one.positions)) for one in segments]
        graphs, executions, deployments, kinds, counts = zip(*by_segment, strict=True)
        by_member = [(one.positions, one.subjects, one.attempts, one.generations, one.policies) for one in segments]
        columns = [np.concatenate(parts) for parts in zip(*by_member, strict=True)]
        return cls(graphs, executions, deployments, kinds, tuple(accumulate(counts)), *columns)

    @property
    def places(self) -> MemberPositions:
        """What the store keeps of them."""
        return MemberPositions(self.graphs, self.ends, self.positions)

    def segment(self, number: int) -> GraphSegment:
        """Return one of the segments; its columns are parts of these."""
        mine = slice(self.ends[number - 1] if number else 0, self.ends[number])
        return GraphSegment(
            self.graphs[number], self.executions[number], self.deployments[number], self.positions[mine], self.kinds[number],
            self.subjects[mine], self.attempts[mine], self.generations[mine], self.policies[mine],
        )  # fmt: skip

    def segments(self) -> list[GraphSegment]:
        """Return all of them, in order."""
        return [self.segment(number) for number in range(len(self.ends))]

    def place_of(self, member: int) -> tuple[GraphSegment, int]:
        """Return (the segment that contains a member, its place there). Raises: IndexError for a member outside of the batch."""
        if not 0 <= member < self.ends[-1]:
            raise IndexError(member)
        number = bisect_right(self.ends, member)
        return self.segment(number), member - (self.ends[number - 1] if number else 0)
