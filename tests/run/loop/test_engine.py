"""The loop: committed before carried out, late answers, cancel, retries, interrupts, and what is left for the next owner."""

import numpy as np
import pytest
from tests.run.engines import Called, Station, all_of

from phaseline.calls.protocol.reports import NO_DELAYS, NO_KINDS, NO_MEMBERS, CallReport, only_logs
from phaseline.model.execution.events import Batch
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.model.rows.rows import DocumentChange, LogLine, Turn
from phaseline.run.loop.open_batches import TURN_ENTRIES
from phaseline.testing.builders import node, operation, relationship

CREATE = "cloudify.interfaces.lifecycle.create"
FAILED, RETRY, AGAIN, UNSURE = OutcomeKind.FAILED, OutcomeKind.RETRY, OutcomeKind.AGAIN, OutcomeKind.UNSURE
TWO_TIERS = (node("db", create="each.create"), node("web", to=["db"], create="each.create", start="each.start"))


@pytest.fixture
def station() -> Station:
    return Station()


# -- the order of things ------------------------------------------------------------------------------------------


def test_a_batch_is_stored_before_it_is_called(station: Station) -> None:
    station.install(node("web", create="bulk.create", instances=3))
    (at,) = [at for at, what in enumerate(station.journal) if isinstance(what, Batch)]
    turn = station.journal[at - 1]
    assert isinstance(turn, Turn)
    assert [batch.id for batch in turn.changes.opened] == [station.journal[at].id]


def test_an_outcome_its_data_and_what_follows_from_it_are_one_transaction(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    station.answer(station.find("create", "db_1"), properties={"ip": "10.0.0.1"})
    (turn,) = [turn for turn in station.journal if isinstance(turn, Turn) and turn.payload.documents]
    assert turn.changes.closed
    assert [len(batch) for batch in turn.changes.opened] == [1]
    assert station.document(row, "db_1") == {"ip": "10.0.0.1"}


def test_an_install_ends_when_its_last_call_does(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    assert station.names() == [("create", "db_1")]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED
    assert station.engine.has_ended(row.number)
    assert set(station.states(row).values()) == {"started"}


def test_w12_an_execution_tells_its_beginning_and_end(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    station.complete_all()
    assert [(event.type, event.message, event.actor) for event in station.events(row)] == [
        ("workflow_started", "Starting 'install' workflow execution", "ann"),
        ("workflow_succeeded", "'install' workflow execution succeeded", "ann"),
    ]


def test_w12_a_failure_is_told_with_operation_instance_and_message(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    station.answer(station.find("create", "db_1"), RETRY, message="no route")
    station.wait_until_due()
    station.answer(station.find("create", "db_1"), RETRY, message="no route to host")
    told = [(event.type, event.message, event.instance, event.operation) for event in station.events(row)[1:]]
    assert told == [
        ("task_failed", "no route", 0, CREATE),
        ("task_failed", "no route to host", 0, CREATE),
        ("workflow_failed", told[-1][1], -1, ""),
    ]
    assert "1 operation failed" in told[-1][1]


def test_a_failed_relationship_operation_is_told_for_the_side_that_was_called(station: Station) -> None:
    linked = relationship("db", source={"establish": "each.establish"}, to={"establish": "each.establish"})
    row = station.install(node("db"), node("web", linked))
    while out := station.called():
        station.answer(out[0], FAILED)
    names = station.store.topology(row.deployment).ids
    assert {names[event.instance] for event in station.events(row, "task_failed")} == {"db_1", "web_1"}


def test_log_lines_are_stored_as_they_come_and_move_nothing(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    (one,) = station.called()
    station.post(only_logs(one.batch, [LogLine(row.number, 7, "info", "<out> halfway", 0)]))
    assert [line.text for line in station.store.logs(row.number)] == ["<out> halfway"]
    assert station.called() == [one]


def test_data_saved_in_the_middle_of_a_call_is_stored_while_it_goes_on(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    (one,) = station.called()
    station.post(station.report(one, OutcomeKind.PENDING, properties={"vm": 7}))
    assert station.document(row, "db_1") == {"vm": 7}
    assert station.entry(one) < EntryStatus.COMPLETED
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


# -- late, twice, foreign -----------------------------------------------------------------------------------------


def test_a_double_answer_moves_nothing_and_its_data_is_kept_with_the_events(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    first = station.find("create", "db_1")
    station.answer(first, properties={"vm": 1})
    station.post(station.report(first, FAILED, properties={"vm": 2}, message="late"))
    assert station.document(row, "db_1") == {"vm": 1}
    assert station.names() == [("create", "web_1")]
    (late,) = station.events(row, "late_result")
    assert '"vm": 2' in late.message
    assert (late.instance, late.operation) == (0, CREATE)
    assert not station.events(row, "task_failed")


def test_a_double_answer_of_a_batch_that_goes_on_is_kept_with_the_events_too(station: Station) -> None:
    row = station.install(node("web", create="bulk.create", instances=2))
    first = station.find("create", "web_1")
    station.answer(first, properties={"vm": 1})
    station.post(station.report(first, properties={"vm": 2}))
    assert station.document(row, "web_1") == {"vm": 1}
    assert len(station.events(row, "late_result")) == 1
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_data_that_comes_after_the_outcome_is_stored_and_told(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    first = station.find("create", "db_1")
    station.answer(first, RETRY, message="timed out after 5 s")
    late = [(0, DocumentChange(row.deployment, 0, {("vm",): 9}))]
    station.post(CallReport(first.batch, NO_MEMBERS, NO_KINDS, NO_DELAYS, late))
    assert station.document(row, "db_1") == {"vm": 9}
    assert len(station.events(row, "late_result")) == 1


def test_answers_for_members_and_batches_that_nobody_has_are_dropped(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    one = station.find("create", "db_1")
    numbers = np.array([0, 5, -1], np.int32)
    change = DocumentChange(row.deployment, 0, {("vm",): 9})
    foreign = CallReport(one.batch, numbers[1:], np.ones(2, np.uint8), np.full(2, -1), [(5, change)], logs=())
    station.post(foreign)
    station.post(CallReport(999, numbers[:1], np.ones(1, np.uint8), np.full(1, -1), [(0, change)]))
    assert station.names() == [("create", "db_1")]
    assert station.document(row, "db_1") == {}


# -- interrupt ----------------------------------------------------------------------------------------------------


def test_an_interrupt_begins_nothing_and_awaits_what_runs(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    station.executor.running = 1
    station.engine.interrupt()
    one = station.find("create", "db_1")

    def come_back() -> bool:
        if station.executor.is_held and station.executor.running:
            station.executor.running = 0
            station.inbox.post(station.report(one))
        return station.engine.has_ended(row.number)

    station.engine.run(come_back)
    assert station.executor.is_held
    assert station.entry(one) is EntryStatus.COMPLETED
    assert [found for found in station.called() if found != one] == []
    assert station.status(row) is ExecutionStatus.RUNNING


def test_an_interrupt_that_is_taken_back_lets_calls_begin_again(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    station.executor.running = 1
    station.engine.interrupt()
    station.engine.run(lambda: station.executor.is_held)
    station.executor.running = 0
    station.complete("create", "db_1")
    one = [found for found in station.called() if found.instance != "db_1"]
    assert (one, station.engine.is_calling) == ([], False)
    station.engine.go_on()
    station.settle()
    assert not station.executor.is_held
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_an_engine_that_leaves_awaits_no_call_that_was_given_up(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    station.executor.running = 1  # and never comes back
    station.engine.cancel(row.number, "force")
    station.engine.interrupt()
    looks = iter(range(100))
    station.engine.run(lambda: next(looks, None) is None)
    assert next(looks, None) is not None, "it came to its end by itself"
    assert station.status(row) is ExecutionStatus.CANCELED


def test_closing_stores_what_comes_back_while_the_executor_ends(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    one = station.find("create", "db_1")
    station.executor.at_stop = [station.report(one, properties={"vm": 1})]
    station.engine.close(0)
    assert station.executor.is_stopped
    assert station.entry(one) is EntryStatus.COMPLETED
    assert station.document(row, "db_1") == {"vm": 1}
    assert len(station.executor.batches) == 1


def test_what_had_not_begun_when_an_engine_left_is_not_in_doubt(station: Station) -> None:
    row = station.install(node("vm", create="each.create", instances=3))
    begun, *others = station.called()
    given_back = [station.report(other, AGAIN, delay_ms=0) for other in others]
    station.executor.at_stop = [station.report(begun), *given_back]
    station.engine.close(0)
    station.crash()
    station.engine.recover()
    station.settle()
    assert station.names() == [("create", "vm_2"), ("create", "vm_3")]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_an_execution_that_ends_with_the_last_report_has_ended(station: Station) -> None:
    row = station.install(node("vm", create="each.create"))
    (one,) = station.called()
    station.executor.at_stop = [station.report(one)]
    station.engine.close(0)
    assert station.engine.has_ended(row.number)
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_run_turns_until_it_is_enough(station: Station) -> None:
    row = station.stored(station.deployment(node("vm")))
    station.engine.submit(row)
    station.engine.run(lambda: station.engine.has_ended(row.number))
    assert station.status(row) is ExecutionStatus.COMPLETED
    assert not station.engine.has_work


def test_one_turn_takes_no_more_than_its_share_of_what_came(station: Station) -> None:
    station = Station(slots={"threads": 1, "workers": 0})
    row = station.install(node("vm", create="each_again.create", instances=24_000))
    while not station.engine.has_ended(row.number):
        for batch in station.executor.batches.values():
            station.inbox.post(all_of(batch))
        station.executor.batches.clear()
        station.settle()
    taken = [
        sum(int((closed.kinds > 0).sum()) for closed in turn.changes.closed)
        for turn in station.journal
        if isinstance(turn, Turn)
    ]
    assert sum(taken) == 24_000
    assert max(taken) <= TURN_ENTRIES


# -- lanes --------------------------------------------------------------------------------------------------------


def regions(station: Station) -> list[set[str]]:
    return [
        {found.instance for found in station.called() if found.batch == batch} for batch in station.executor.batches
    ]


def test_a_batch_key_keeps_regions_apart(station: Station) -> None:
    here = node("here", create="keyed.create", instances=3, properties={"region": "north"})
    there = node("there", create="keyed.create", instances=2, properties={"region": "south"})
    also = node("also", create="keyed.create", properties={"region": "north"})
    row = station.install(here, there, also)
    assert sorted(map(sorted, regions(station))) == [["also_1", "here_1", "here_2", "here_3"], ["there_1", "there_2"]]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_a_graph_that_is_gone_before_its_keys_are_asked_for_does_no_harm(station: Station) -> None:
    row = station.stored(station.deployment(node("vm", create="keyed.create", properties={"region": "north"})))
    station.engine.submit(row)
    while not any(isinstance(what, Turn) and what.changes.graphs for what in station.journal):
        station.engine.turn()
    station.settle()
    failed = station.called()[0]
    station.answer(failed, FAILED)
    station.engine.retry(station.row(row))
    station.engine.cancel(row.number)
    station.engine.retry(station.row(row), replan=True)
    station.settle()
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


# -- looking ------------------------------------------------------------------------------------------------------


def test_progress_tells_what_fails_and_why(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    station.answer(station.find("create", "db_1"), RETRY, message="no route")
    progress = station.engine.progress(row.number)
    assert progress is not None
    (failing,) = progress.failing
    assert (failing.instance, failing.message, failing.attempts, failing.max_retries) == ("db_1", "no route", 1, 1)
    assert failing.due == progress.next_wake == station.clock.now() + 15_000
    assert (progress.ended, progress.total, progress.calls) == (0, 3, 1)


def test_nothing_is_told_of_an_execution_that_is_not_at_hand(station: Station) -> None:
    assert station.engine.progress(7) is None
    assert not station.engine.needs_attention(7)


def test_only_so_many_messages_are_kept_in_memory(station: Station) -> None:
    row = station.install(node("vm", create="bulk_again.create", instances=2_500))
    (batch,) = station.executor.batches.values()
    remarks = [
        (member, station.report(one, message=f"no {member}").remarks[0][1])
        for member, one in enumerate(station.called())
    ]
    report = all_of(batch)
    failed = CallReport(batch.id, report.members, np.full(len(batch), FAILED, np.uint8), report.delays, (), remarks)
    station.post(failed)
    assert station.status(row) is ExecutionStatus.FAILED
    assert len(station.events(row, "task_failed")) == 2_500


def test_w4_a_member_whose_outcome_cannot_be_known_waits_for_a_person(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    one: Called = station.find("create", "db_1")
    station.answer(one, UNSURE)
    assert station.status(row) is ExecutionStatus.ATTENTION
    assert station.engine.needs_attention(row.number)
    assert not station.engine.has_ended(row.number)


def test_a_script_or_function_that_may_not_be_repeated_gets_no_more_calls_than_can_run(station: Station) -> None:
    station = Station(slots={"threads": 3, "workers": 2})
    script = operation(CREATE, "scripts/create.sh")
    station.install(node("fn", create="each.create", instances=9), node("sh", create=script, instances=9))
    assert sorted(phase[1].partition("_")[0] for phase in station.names()) == ["fn"] * 3 + ["sh"] * 2


def test_a_retry_calls_at_once_what_sleeps_between_its_tries(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    station.answer(station.find("create", "db_1"), RETRY, message="no route")
    assert station.names() == []
    station.engine.retry(station.row(row), actor="bob")
    station.settle()
    assert station.names() == [("create", "db_1")]
