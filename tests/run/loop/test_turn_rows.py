"""Sorting what calls brought back: by acceptance, with the events that tell of it."""

import numpy as np
import pytest

from phaseline.calls.protocol.no_secrets import NoSecrets
from phaseline.calls.protocol.reports import CallReport
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.events import Accepted, Batch
from phaseline.model.graph.batch_members import GraphSegment, MemberColumns
from phaseline.model.graph.graph import LaneSpec, SubjectKind
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.rows import DocumentChange, EntryRemark
from phaseline.run.loop.turn_rows import BatchOrigin, Sorter


def segment(execution: int, *positions: int) -> GraphSegment:
    count = len(positions)
    numbers = np.array(positions, np.int32)
    nothing = np.zeros(count, np.int32)
    return GraphSegment(
        execution, execution, 1, numbers, SubjectKind.INSTANCE, numbers * 10, nothing, nothing, np.zeros(count, np.uint16)
    )  # fmt: skip


BATCH = Batch(5, LaneSpec("create"), 0, MemberColumns.of(segment(1, 3, 4), segment(2, 7)), 0)


def report(*kinds: OutcomeKind, documents: tuple[int, ...] = (), remarks: tuple[int, ...] = ()) -> CallReport:
    count = len(kinds)
    return CallReport(
        5,
        np.arange(count, dtype=np.int32),
        np.array(kinds, np.uint8),
        np.full(count, -1, np.int64),
        [(member, DocumentChange(1, member, {("a", "b"): member})) for member in documents],
        [(member, EntryRemark(1, member, f"no {member}")) for member in remarks],
    )


def accepted(*refused: int, of: int = 3) -> Accepted:
    members = [member for member in range(of) if member not in refused]
    return Accepted(0, 5, np.array(members, np.int32), np.array(refused, np.int32))


DONE = OutcomeKind.COMPLETED


def sorted_rows(
    told: CallReport, answer: Accepted | None, given_up: set[int] | None = None, *, phase: str = "create"
) -> Sorter:
    batch = altered(BATCH, lane=LaneSpec(phase))
    sorter = Sorter(9, NoSecrets())
    sorter.take(told, answer, BatchOrigin.of(batch), given_up or set())
    sorter.failures(batch, told, answer, lambda segment, place: int(segment.subjects[place]))
    return sorter


@pytest.mark.parametrize(("member", "execution", "position"), [(0, 1, 3), (1, 1, 4), (2, 2, 7)])
def test_a_members_place_is_found_across_segments(member: int, execution: int, position: int) -> None:
    found, place = BATCH.members.place_of(member)
    assert (found.execution, int(found.positions[place])) == (execution, position)
    assert BatchOrigin.of(BATCH).execution_of(member) == execution


@pytest.mark.parametrize("member", [-1, 3])
def test_a_member_that_is_not_there_has_no_execution(member: int) -> None:
    assert BatchOrigin.of(BATCH).execution_of(member) is None


def test_a_place_beyond_the_batch_is_a_mistake() -> None:
    with pytest.raises(IndexError):
        BATCH.members.place_of(3)


def test_what_accepted_members_brought_is_kept() -> None:
    rows = sorted_rows(report(DONE, DONE, DONE, documents=(0, 2), remarks=(1,)), accepted())
    assert [change.instance for change in rows.documents] == [0, 2]
    assert [remark.position for remark in rows.remarks] == [1]
    assert rows.events == []


def test_what_refused_members_brought_becomes_an_event_of_their_execution() -> None:
    rows = sorted_rows(report(DONE, DONE, DONE, documents=(0, 2), remarks=(0, 2)), accepted(2))
    assert [change.instance for change in rows.documents] == [0]
    assert [remark.position for remark in rows.remarks] == [0]
    (late,) = rows.events
    assert (late.execution, late.type, late.instance, late.operation, late.at) == (2, "late_result", 2, "create", 9)
    assert '{"a.b": 2}' in late.message


def test_a_late_end_that_brought_nothing_says_so_and_what_it_removed_is_told() -> None:
    changes = [DocumentChange(1, 0, {}), DocumentChange(1, 1, {("a",): 1}, (("b", "c"),))]
    brought = report(DONE, DONE, DONE)
    brought.documents.extend(enumerate(changes))
    nothing, something = sorted_rows(brought, accepted(0, 1)).events
    assert nothing.message == "A call that was given up before has ended and changed nothing"
    assert something.message == 'A call that was given up before returned: {"a": 1} and removed b.c'


def test_what_given_up_members_brought_is_stored_as_well() -> None:
    rows = sorted_rows(report(DONE, DONE, DONE, documents=(0, 2)), accepted(2), {2})
    assert [change.instance for change in rows.documents] == [0, 2]
    assert len(rows.events) == 1


def test_a_value_that_json_does_not_know_does_not_hide_the_rest() -> None:
    told = CallReport(
        5, np.array([0], np.int32), np.array([1], np.uint8), np.array([-1]),
        [(0, DocumentChange(1, 0, {("a",): {1, 2}}))],
    )  # fmt: skip
    assert "{1, 2}" in sorted_rows(told, accepted(0, of=1)).events[0].message


def test_failures_and_retries_of_accepted_members_are_told() -> None:
    told = report(OutcomeKind.FAILED, OutcomeKind.RETRY, OutcomeKind.FAILED, remarks=(0,))
    events = sorted_rows(told, accepted(2)).events
    assert [(event.type, event.message, event.instance, event.execution) for event in events] == [
        ("task_failed", "no 0", 30, 1),
        ("task_failed", "", 40, 1),
    ]


def test_a_traceback_is_logged_line_by_line_for_its_instance_and_a_request_to_be_called_again_is_no_failure() -> None:
    told = report(OutcomeKind.RETRY, OutcomeKind.RETRY, DONE)
    errors = [{"type": "KeyError", "traceback": "Traceback\n  at a\n"}, {"type": "OperationRetry", "traceback": "no"}]
    remarks = [(member, EntryRemark(7, member, "said", error)) for member, error in enumerate(errors)]
    told = CallReport(told.batch, told.members, told.kinds, told.delays, (), remarks)
    rows = sorted_rows(told, accepted())
    assert [event.type for event in rows.events] == ["task_failed", "task_rescheduled"]
    assert [(line.level, line.text, line.instance) for line in rows.logs] == [
        ("error", "Traceback", rows.events[0].instance),
        ("error", "  at a", rows.events[0].instance),
    ]


def test_that_a_hook_refuses_is_one_line_and_where_it_did_so_is_for_those_who_look_closely() -> None:
    error = {"type": "ValueError", "traceback": "Traceback\n  at a\n"}
    told = report(OutcomeKind.FAILED)
    told = CallReport(
        told.batch, told.members, told.kinds, told.delays, (), [(0, EntryRemark(7, 0, "no\nroom", error))]
    )
    rows = sorted_rows(told, accepted(), phase="hooks.pre.quota")
    found = [(line.level, line.text) for line in rows.logs]
    assert found == [("debug", "Traceback"), ("debug", "  at a"), ("error", "ValueError: no room")]


def test_completed_members_are_worth_no_event() -> None:
    rows = sorted_rows(report(DONE, OutcomeKind.AGAIN, DONE), accepted())
    assert not rows.payload(())


def test_a_report_of_a_batch_that_was_never_made_here_leaves_nothing() -> None:
    sorter = Sorter(9, NoSecrets())
    sorter.take(report(DONE, documents=(0,)), accepted(0, of=1), None, set())
    assert not sorter.payload(())
