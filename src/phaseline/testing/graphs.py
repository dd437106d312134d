"""Graphs for tests, written entry by entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from phaseline.model.graph.graph import Graph, LaneSpec, Policy, Step, SubjectKind
from phaseline.model.graph.status import Mark

SIMPLE = Policy(LaneSpec("call"), repeatable=True)


def graph_of(
    policy: Sequence[int],
    *,
    needs: Mapping[int, Sequence[int]] | None = None,
    policies: Sequence[Policy] = (SIMPLE,),
    marks: Mapping[int, int] | None = None,
    subjects: Sequence[int] | None = None,
    groups: Sequence[int] = (),
    name: str = "graph",
) -> Graph:
    """Return a graph with one entry for each number in ``policy``, which is an index in ``policies``.

    ``needs`` is {entry: entries that it needs}, ``marks`` {entry: marks}. ``subjects`` are by default the entries' own
    numbers, and -1 for milestones. Adjacent entries of one policy and kind form a step.
    """
    count = len(policy)
    marked = [int((marks or {}).get(entry, 0)) for entry in range(count)]
    kinds = [SubjectKind.NONE if mark & (Mark.ANY | Mark.ENDED) else SubjectKind.INSTANCE for mark in marked]
    dependents: list[list[int]] = [[] for _ in range(count)]
    for entry, wanted in sorted((needs or {}).items()):
        for need in wanted:
            dependents[need].append(entry)
    steps, first = [], 0
    for (number, kind), members in groupby(zip(policy, kinds, strict=True)):
        size = len(list(members))
        phase = policies[number].lane.phase if kind is SubjectKind.INSTANCE else "milestone"
        steps.append(Step(phase, kind, first, size))
        first += size
    own = subjects if subjects is not None else range(count)
    subject = [-1 if kind is SubjectKind.NONE else number for number, kind in zip(own, kinds, strict=True)]
    return Graph(
        name,
        tuple(steps),
        tuple(policies),
        subject=np.array(subject, np.int32),
        policy=np.array(policy, np.uint16),
        marks=np.array(marked, np.uint8),
        ptr=np.concatenate(([0], np.cumsum([len(row) for row in dependents]))).astype(np.int32),
        idx=np.array([entry for row in dependents for entry in row], np.int32),
        group=np.array(groups, np.int32),
    )
