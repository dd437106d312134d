"""Statuses of entries with those in open calls as running."""

import numpy as np

from phaseline.model.graph.batch_members import MemberPositions
from phaseline.model.graph.status import EntryStatus, OutcomeKind
from phaseline.model.rows.rows import BatchRow, EntryStatuses

WAITING, RUNNING, COMPLETED = EntryStatus.WAITING, EntryStatus.RUNNING, EntryStatus.COMPLETED


def batch(kinds: list[int] | None, *segments: tuple[int, list[int]]) -> BatchRow:
    places = MemberPositions.of([(graph, np.array(positions, np.int32)) for graph, positions in segments])
    return BatchRow(1, "create", places, 0, 0, 0, None if kinds is None else np.array(kinds, np.uint8))


def test_members_of_an_open_batch_run() -> None:
    found = EntryStatuses.of(np.full(4, WAITING, np.uint8), 7, [batch(None, (7, [0, 2]))])
    assert found.now.tolist() == [RUNNING, WAITING, RUNNING, WAITING]
    assert found.stored.tolist() == [WAITING] * 4


def test_members_that_have_answered_run_no_more() -> None:
    answered = [OutcomeKind.PENDING, OutcomeKind.COMPLETED]
    found = EntryStatuses.of(np.array([WAITING, COMPLETED], np.uint8), 7, [batch(answered, (7, [0, 1]))])
    assert found.now.tolist() == [RUNNING, COMPLETED]


def test_members_of_other_graphs_are_left_alone() -> None:
    pending = [OutcomeKind.COMPLETED, OutcomeKind.PENDING]
    found = EntryStatuses.of(np.full(2, WAITING, np.uint8), 7, [batch(pending, (6, [0]), (7, [1]))])
    assert found.now.tolist() == [WAITING, RUNNING]


def test_an_entry_that_ran_when_a_process_died_waits() -> None:
    assert EntryStatuses.of(np.full(1, RUNNING, np.uint8), 7, []).now.tolist() == [WAITING]
