"""What users ask of a running engine: cancel, retry, complete by hand."""

import numpy as np
import pytest
from tests.run.engines import Station, all_of

from phaseline.model.execution.execution import RetryPolicy, StopAfter
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.testing.builders import node

CREATE = "cloudify.interfaces.lifecycle.create"
FAILED, RETRY, AGAIN = OutcomeKind.FAILED, OutcomeKind.RETRY, OutcomeKind.AGAIN
TWO_TIERS = (node("db", create="each.create"), node("web", to=["db"], create="each.create", start="each.start"))


@pytest.fixture
def station() -> Station:
    return Station()


# -- cancel -------------------------------------------------------------------------------------------------------


def test_decision_2_cancel_awaits_what_runs_and_begins_nothing(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    one = station.find("create", "db_1")
    station.engine.cancel(row.number)
    station.settle()
    assert station.status(row) is ExecutionStatus.CANCELING
    assert station.executor.canceled == [(one.batch, [one.member], False)]
    station.answer(one, properties={"vm": 1})
    assert station.status(row) is ExecutionStatus.CANCELED
    assert station.document(row, "db_1") == {"vm": 1}
    assert station.called() == []
    assert station.events(row)[-1].message == "'install' workflow execution cancelled"


@pytest.mark.parametrize(("how", "is_killed"), [("force", False), ("kill", True)])
def test_decision_2_force_and_kill_wait_for_nothing(station: Station, how: str, is_killed: bool) -> None:
    row = station.install(*TWO_TIERS)
    one = station.find("create", "db_1")
    station.engine.cancel(row.number, how)
    station.settle()
    assert station.status(row) is ExecutionStatus.CANCELED
    assert station.entry(one) is EntryStatus.UNSURE
    assert station.executor.canceled == [(one.batch, [one.member], is_killed)]


@pytest.mark.parametrize("kind", [OutcomeKind.COMPLETED, FAILED, OutcomeKind.PENDING])
def test_decision_2_what_a_given_up_call_returns_is_stored_and_moves_nothing(
    station: Station, kind: OutcomeKind
) -> None:
    row = station.install(*TWO_TIERS)
    one = station.find("create", "db_1")
    station.engine.cancel(row.number, "force")
    station.settle()
    station.post(station.report(one, kind, properties={"vm": 1}))
    assert station.document(row, "db_1") == {"vm": 1}
    assert len(station.events(row, "late_result")) == 1
    assert station.entry(one) is EntryStatus.UNSURE
    assert station.status(row) is ExecutionStatus.CANCELED


def test_what_a_given_up_call_returns_after_a_retry_is_only_told(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    one = station.find("create", "db_1")
    station.engine.cancel(row.number, "force")
    station.settle()
    station.engine.retry(station.row(row), include_unsure=True)
    station.settle()
    station.post(station.report(one, properties={"vm": 1}))
    assert station.document(row, "db_1") == {}
    assert len(station.events(row, "late_result")) == 1
    (again,) = [found for found in station.called() if found.batch != one.batch]
    assert (again.instance, again.generation) == ("db_1", 1)


def test_a_batch_of_two_executions_loses_only_the_members_of_the_canceled_one(station: Station) -> None:
    rows = [station.stored(station.deployment(node("vm", create="bulk.create"), name=name)) for name in ("a", "b")]
    for row in rows:
        station.engine.submit(row)
    station.settle()
    (batch,) = station.executor.batches.values()
    assert len(batch) == 2
    station.engine.cancel(rows[0].number, "force")
    station.settle()
    station.post(all_of(batch))
    assert [station.status(row) for row in rows] == [ExecutionStatus.CANCELED, ExecutionStatus.COMPLETED]


# -- retries ------------------------------------------------------------------------------------------------------


def test_w3_a_retry_keeps_its_token_counts_its_attempt_and_waits_its_interval(station: Station) -> None:
    station.install(*TWO_TIERS)
    first = station.find("create", "db_1")
    station.answer(first, RETRY)
    assert station.called() == []
    assert station.engine.wakes_at == station.clock.now() + 15_000
    station.wait_until_due()
    again = station.find("create", "db_1")
    assert (again.attempt, again.token) == (1, first.token)


def test_w3_the_last_retry_is_a_failure_and_what_depends_on_it_is_skipped(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    station.answer(station.find("create", "db_1"), RETRY)
    station.wait_until_due()
    station.answer(station.find("create", "db_1"), RETRY)
    assert station.status(row) is ExecutionStatus.FAILED
    assert station.called() == []


def test_again_holds_no_slot_is_no_failure_and_leaves_its_result(station: Station) -> None:
    station = Station(slots={"threads": 1, "workers": 0})
    station.install(node("vm", create="each.create", instances=2))
    first = station.find("create", "vm_1")
    station.answer(first, AGAIN, delay_ms=60_000, result={"job": 1}, message="not there yet")
    assert station.names() == [("create", "vm_2")]
    station.complete("create", "vm_2")
    assert station.engine.wakes_at == station.clock.now() + 60_000
    station.wait_until_due()
    again = station.find("create", "vm_1")
    assert (again.attempt, again.token) == (0, first.token)
    (note,) = station.store.notes(again.graph)
    assert (note.result, note.message) == ({"job": 1}, "not there yet")


def test_a_users_retry_has_new_tokens_and_the_attempts_of_a_first_call(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    station.answer(station.find("create", "db_1"), RETRY)
    station.wait_until_due()
    failed = station.find("create", "db_1")
    station.answer(failed, FAILED)
    station.engine.retry(station.row(row), actor="bob")
    station.settle()
    again = station.find("create", "db_1")
    assert (again.attempt, again.generation, again.position) == (0, 1, failed.position)
    assert station.row(row).attempt == 1
    assert [event.actor for event in station.events(row, "retried")] == ["bob"]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_a_retry_of_some_leaves_the_others_as_they_are(station: Station) -> None:
    row = station.install(node("vm", create="each.create", instances=2))
    failed = station.called()
    for one in failed:
        station.answer(one, FAILED)
    station.engine.retry(station.row(row), graph=failed[0].graph, positions=np.array([failed[1].position]))
    station.settle()
    assert station.names() == [("create", "vm_2")]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.FAILED


def test_w8_a_retry_with_clean_up_first_takes_away_what_is_half_made(station: Station) -> None:
    half = node("db", create="each.create", delete="each.delete", start="each.start")
    row = station.install(half, node("web", to=["db"], create="each.create"))
    station.answer(station.find("create", "db_1"), FAILED)
    assert station.states(row)["db_1"] == "creating"
    failed = station.row(row)
    wanted = type(failed)(
        **{name: getattr(failed, name) for name in failed.__slots__}
        | {"request": type(failed.request)("install", clean=True, retries=RetryPolicy(0))}
    )
    station.engine.retry(wanted, include_unsure=True, replan=True)
    station.settle()
    assert station.names() == [("delete", "db_1")]
    station.complete("delete", "db_1")
    assert station.names() == [("create", "db_1")]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED
    assert [graph.name for graph in station.store.graphs(row.number)] == ["install", "clean-up", "install"]


def test_complete_by_hand_lets_go_on_what_waited_and_is_told(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    failed = station.find("create", "db_1")
    station.answer(failed, FAILED)
    station.engine.complete(
        station.row(row), failed.graph, np.array([failed.position]), reason="made by hand", actor="bob"
    )
    station.settle()
    (told,) = station.events(row, "completed_by_hand")
    assert (told.message, told.actor) == ("Task completed by hand: made by hand", "bob")
    assert (told.instance, told.operation) == (0, CREATE)
    assert station.names() == [("create", "web_1")]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED
    assert set(station.states(row).values()) == {"started"}


def test_on_failure_stop_begins_nothing_more_after_the_first_failure(station: Station) -> None:
    station = Station(slots={"threads": 2, "workers": 0})
    row = station.install(node("vm", create="each.create", instances=5), stop_after=StopAfter(failures=0))
    first, second = station.called()
    station.answer(first, FAILED)
    assert station.called() == [second]
    station.answer(second)
    assert station.status(row) is ExecutionStatus.FAILED
    assert station.called() == []


def test_on_failure_continue_lets_independent_instances_go_on(station: Station) -> None:
    station = Station(slots={"threads": 1, "workers": 0})
    row = station.install(node("vm", create="each.create", instances=3))
    station.answer(station.find("create", "vm_1"), FAILED)
    assert station.names() == [("create", "vm_2")]
    station.complete_all()
    assert station.states(row) == {"vm_1": "creating", "vm_2": "started", "vm_3": "started"}
    assert station.status(row) is ExecutionStatus.FAILED
