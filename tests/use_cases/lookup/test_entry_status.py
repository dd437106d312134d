"""Statuses of entries that are not written one by one."""

import numpy as np

from phaseline.model.graph.batch_members import MemberPositions
from phaseline.model.graph.status import EntryStatus, OutcomeKind
from phaseline.model.rows.rows import BatchRow
from phaseline.use_cases.lookup.entry_status import with_running

WAITING, RUNNING = EntryStatus.WAITING, EntryStatus.RUNNING


def batch(kinds: list[int] | None, *segments: tuple[int, list[int]]) -> BatchRow:
    places = MemberPositions.of([(graph, np.array(positions, np.int32)) for graph, positions in segments])
    return BatchRow(1, "create", places, 0, 0, 0, None if kinds is None else np.array(kinds, np.uint8))


def test_members_of_an_open_batch_run() -> None:
    found = with_running(np.full(4, WAITING, np.uint8), 7, [batch(None, (7, [0, 2]))])
    assert found.tolist() == [RUNNING, WAITING, RUNNING, WAITING]


def test_members_that_have_answered_run_no_more() -> None:
    answered = [OutcomeKind.PENDING, OutcomeKind.COMPLETED]
    statuses = np.array([WAITING, EntryStatus.COMPLETED], np.uint8)
    assert with_running(statuses, 7, [batch(answered, (7, [0, 1]))]).tolist() == [RUNNING, EntryStatus.COMPLETED]


def test_members_of_other_graphs_are_left_alone() -> None:
    pending = [OutcomeKind.COMPLETED, OutcomeKind.PENDING]
    found = with_running(np.full(2, WAITING, np.uint8), 7, [batch(pending, (6, [0]), (7, [1]))])
    assert found.tolist() == [WAITING, RUNNING]
