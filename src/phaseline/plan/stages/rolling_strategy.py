"""The strategy of a group of tasks: only a limited number of its instances run their tasks at a time (F44).

As in Fuel, an instance has its turn for all of its tasks up to the next point between stages: with ``one_by_one``, the
second instance begins when the first one has run all of them. Whether a task has failed does not matter; the group's
fault tolerance limits the failures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import Mark
from phaseline.plan.stages.task_graph import ABSENT, MILESTONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.plan.stages.task_graph import Block, TaskGraph


def take_turns(
    graph: TaskGraph, rows: Sequence[Sequence[Block]], segments: Sequence[int], members: np.ndarray, at_once: int
) -> None:
    """Make each instance of a group wait until the instance ``at_once`` places before it has ended its tasks.

    The group's instances are ordered by number; the result of the tasks does not matter. ``rows`` holds the calls of
    each task, in order. ``segments`` has a number for each task, equal for tasks between the same two points.
    ``members`` marks the instances of the group, bool by instance number.
    """
    for segment in sorted(set(segments)):
        called = [row for row, of in zip(rows, segments, strict=True) if of == segment and _is_on_instances(row)]
        if not called:
            continue
        owner = np.concatenate([row[0].subjects for row in called])
        inside = members[owner]
        heads = np.concatenate([row[0].positions for row in called])[inside]
        tails = np.concatenate([row[-1].positions for row in called])[inside]
        who, turn = np.unique(owner[inside], return_inverse=True)
        waiting = len(who) - at_once
        if waiting <= 0:
            continue
        ends = graph.add(MILESTONE, SubjectKind.NONE, np.full(waiting, -1), marks=ABSENT | Mark.ENDED).positions
        is_waited_for, waits = turn < waiting, turn >= at_once
        graph.tie_pairs(tails[is_waited_for], ends[turn[is_waited_for]])
        graph.tie_pairs(ends[turn[waits] - at_once], heads[waits])


def _is_on_instances(row: Sequence[Block]) -> bool:
    return bool(row) and row[0].kind is SubjectKind.INSTANCE
