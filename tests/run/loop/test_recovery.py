"""What another process finds after the death of the owner, and how it goes on."""

from dataclasses import replace

import numpy as np
import pytest
from tests.run.engines import ANN, Station, all_of

from phaseline.calls.protocol.reports import CallReport
from phaseline.engine.invariants import validate
from phaseline.model.blueprint.blueprint import Node
from phaseline.model.execution.events import Batch, Restored
from phaseline.model.execution.execution import StopAfter, Verdict
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import ExecutionStatus, Mark, OutcomeKind
from phaseline.model.rows.rows import DocumentChange, EntryRemark, ExecutionRow, RequestKind
from phaseline.plan.workflows import PLANNERS
from phaseline.run.loop.recovery import restore
from phaseline.run.loop.request_reader import LOOK_MS
from phaseline.testing.builders import node

FAILED, RETRY, AGAIN = OutcomeKind.FAILED, OutcomeKind.RETRY, OutcomeKind.AGAIN


@pytest.fixture
def station() -> Station:
    return Station()


def go_on(station: Station, *rows: ExecutionRow) -> None:
    """The process dies; another one takes up these executions, or all that are open."""
    station.crash()
    station.engine.recover([station.row(row) for row in rows] or None)
    station.settle()


def shared(station: Station, operation: str) -> tuple[ExecutionRow, ExecutionRow]:
    """Two executions whose only calls are in one batch."""
    first, second = (station.stored(station.deployment(node(name, create=operation), name=name)) for name in "ab")
    station.engine.submit(first)
    station.engine.submit(second)
    station.settle()
    assert len(station.executor.batches) == 1
    return first, second


def test_an_execution_that_had_not_begun_begins(station: Station) -> None:
    row = station.stored(station.deployment(node("vm", create="each.create")))
    go_on(station)
    assert station.names() == [("create", "vm_1")]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_decision_1_a_repeatable_call_in_flight_is_made_again_with_its_token(station: Station) -> None:
    row = station.install(node("vm", create="each_again.create"))
    before = station.find("create", "vm_1")
    go_on(station)
    again = station.find("create", "vm_1")
    assert station.executor.recovered == [before.batch]
    assert (again.token, again.attempt) == (before.token, 0)
    assert again.batch > before.batch
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_decision_1_a_call_that_may_not_be_repeated_waits_for_a_persons_word(station: Station) -> None:
    row = station.install(node("vm", create="each.create"), node("other", create="each_again.create"))
    before = station.find("create", "vm_1")
    go_on(station)
    assert station.names() == [("create", "other_1")]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.ATTENTION
    assert station.row(row).reason == "1 call may or may not have been carried out"
    assert station.engine.needs_attention(row.number)
    go_on(station)
    assert station.called() == []
    assert station.status(row) is ExecutionStatus.ATTENTION
    station.engine.retry(station.row(row), include_unsure=True)
    station.settle()
    assert station.find("create", "vm_1").token != before.token
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_a_person_vouches_for_what_is_unsure_after_a_crash(station: Station) -> None:
    row = station.install(node("vm", create="each.create", start="each.start"))
    before = station.find("create", "vm_1")
    station.crash()
    station.engine.complete(
        station.row(row), before.graph, np.array([before.position]), reason="it is there", actor="ann"
    )
    station.settle()
    assert station.names() == [("start", "vm_1")]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_of_a_large_batch_what_completed_is_never_called_again_and_the_rest_is(station: Station) -> None:
    row = station.install(node("vm", create="each_again.create", instances=1_500))
    (batch, *_) = station.executor.batches.values()
    assert len(batch) == 1_000
    done = np.array([0, 7, 999], np.int32)
    station.post(CallReport(batch.id, done, np.ones(3, np.uint8), np.full(3, -1, np.int64)))
    completed = {station.one(batch, member).token for member in done.tolist()}
    station.crash()
    station.engine.recover()
    called: list[str] = []
    while not station.engine.has_ended(row.number):
        station.settle()
        called += [one.token for one in station.called()]
        for held in station.executor.batches.values():
            station.inbox.post(all_of(held))
        station.executor.batches.clear()
    assert len(called) == len(set(called)) == 1_497
    assert not completed & set(called)


def test_a_sleeper_sleeps_on_with_what_its_last_call_left(station: Station) -> None:
    station.install(node("vm", create="each.create"))
    first = station.find("create", "vm_1")
    station.answer(first, AGAIN, delay_ms=60_000, result={"job": 4})
    due = station.clock.now() + 60_000
    go_on(station)
    assert station.called() == []
    assert station.engine.wakes_at == due
    station.wait_until_due()
    assert station.find("create", "vm_1").token == first.token
    assert station.deployments.data(first.graph) == {first.position: {"job": 4}}


def test_retries_made_before_a_crash_count(station: Station) -> None:
    row = station.install(node("vm", create="each_again.create"))
    station.answer(station.find("create", "vm_1"), RETRY)
    go_on(station)
    station.wait_until_due()
    again = station.find("create", "vm_1")
    assert again.attempt == 1
    station.answer(again, RETRY)
    assert station.status(row) is ExecutionStatus.FAILED


def test_failures_made_before_a_crash_count_for_on_failure_stop(station: Station) -> None:
    station = Station(slots={"threads": 1, "workers": 0})
    vms = node("vm", create="bulk.create", start="each.start", instances=4)
    row = station.install(vms, stop_after=StopAfter(failures=1))
    station.complete("create", "vm_1", "vm_2", "vm_3", "vm_4")
    station.answer(station.find("start", "vm_1"), FAILED)
    station.answer(station.find("start", "vm_2"), AGAIN, delay_ms=5_000)
    station.answer(station.find("start", "vm_3"), AGAIN, delay_ms=7_000)
    station.answer(station.find("start", "vm_4"), AGAIN, delay_ms=7_000)
    go_on(station)
    station.wait_until_due()
    station.answer(station.find("start", "vm_2"), FAILED)
    assert station.status(row) is ExecutionStatus.FAILED
    assert station.called() == []


def test_a_canceled_execution_goes_on_being_canceled(station: Station) -> None:
    row = station.install(node("vm", create="each_again.create", start="each.start"))
    station.engine.cancel(row.number)
    station.settle()
    assert station.status(row) is ExecutionStatus.CANCELING
    go_on(station)
    assert station.called() == []
    assert station.status(row) is ExecutionStatus.CANCELED


def test_the_planner_hears_of_rounds_before_the_crash(station: Station) -> None:
    row = station.install(node("vm", create="each.create", delete="each.delete"))
    station.answer(station.find("create", "vm_1"), FAILED)
    failed = station.row(row)
    wanted = replace(failed, request=replace(failed.request, clean=True))
    station.engine.retry(wanted, replan=True)
    station.settle()
    station.complete("delete", "vm_1")
    assert station.names() == [("create", "vm_1")]
    go_on(station, row)
    station.engine.retry(station.row(row), include_unsure=True)
    station.settle()
    assert station.names() == [("create", "vm_1")]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED
    assert [graph.name for graph in station.store.graphs(row.number)] == ["install", "clean-up", "install"]


def test_the_wish_for_a_clean_up_and_its_plan_are_stored_together(station: Station) -> None:
    row = station.install(node("vm", create="each.create", delete="each.delete"))
    station.answer(station.find("create", "vm_1"), FAILED)
    failed = station.row(row)
    station.engine.retry(replace(failed, request=replace(failed.request, clean=True)), replan=True)
    station.engine.turn()
    assert station.row(row).status is ExecutionStatus.RUNNING
    assert [graph.name for graph in station.store.graphs(row.number)] == ["install", "clean-up"]
    assert station.names() == [("delete", "vm_1")]
    go_on(station, row)
    station.engine.retry(station.row(row), include_unsure=True)
    station.settle()
    assert station.names() == [("delete", "vm_1")]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_a_later_retry_without_clean_up_cleans_nothing_up(station: Station) -> None:
    row = station.install(node("vm", create="each.create", delete="each.delete"))
    station.answer(station.find("create", "vm_1"), FAILED)
    for clean, names in ((True, ["delete", "create"]), (False, ["create"])):
        station.store.ask(RequestKind.RETRY, row.number, {"id": row.id, "clean": clean}, ANN)
        station.clock.advance_to(station.clock.now() + LOOK_MS)
        station.engine.turn()
        station.settle()
        for name in names[:-1]:
            station.complete(name, "vm_1")
        assert [called for called, _ in station.names()] == names[-1:]
        assert station.row(row).request.clean is clean
        station.answer(station.find("create", "vm_1"), FAILED)


def test_an_ended_execution_is_reopened_by_a_retry(station: Station) -> None:
    row = station.install(node("vm", create="each.create"))
    failed = station.find("create", "vm_1")
    station.answer(failed, FAILED)
    station.crash()
    station.engine.retry(station.row(row))
    station.settle()
    assert station.find("create", "vm_1").generation == 1
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_taking_up_twice_is_taking_up_once(station: Station) -> None:
    row = station.install(node("vm", create="each_again.create", instances=3))
    station.crash()
    for _ in range(2):
        station.engine.recover([station.row(row)])
    station.settle()
    station.engine.recover([station.row(row)])
    station.settle()
    assert len(station.called()) == 3
    assert len(station.events(row, "workflow_resumed")) == 1
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_what_this_engine_is_calling_is_no_orphan(station: Station) -> None:
    row = station.install(node("vm", create="each.create"))
    station.engine.recover()
    station.settle()
    assert station.executor.recovered == []
    assert station.status(row) is ExecutionStatus.RUNNING


# -- a batch of two executions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["bulk.create", "bulk_again.create"])
def test_a_batch_of_two_executions_is_settled_for_both(station: Station, operation: str) -> None:
    rows = shared(station, operation)
    go_on(station)
    repeatable = operation == "bulk_again.create"
    assert len(station.called()) == (2 if repeatable else 0)
    expected = ExecutionStatus.RUNNING if repeatable else ExecutionStatus.ATTENTION
    assert [station.status(row) for row in rows] == [expected, expected]


@pytest.mark.parametrize("has_crashed", [False, True])
@pytest.mark.parametrize("operation", ["bulk.create", "bulk_again.create"])
def test_the_members_of_an_execution_that_is_taken_up_later_are_not_forgotten(
    station: Station, operation: str, has_crashed: bool
) -> None:
    first, second = shared(station, operation)
    go_on(station, first)
    (row,) = [row for row in station.store.batches(only_open=True) if row.id == 1]
    assert row.kinds is not None
    assert row.kinds.tolist()[1] == OutcomeKind.PENDING
    if operation == "bulk_again.create":
        station.complete_all()
    if has_crashed:
        station.crash()
    station.engine.recover([station.row(second)])
    station.settle()
    if operation == "bulk.create":
        assert station.called() == []
        assert station.status(second) is ExecutionStatus.ATTENTION
    else:
        assert station.names() == [("create", "b_1")]
        station.complete_all()
        assert station.status(second) is ExecutionStatus.COMPLETED
        assert station.status(first) is ExecutionStatus.COMPLETED
    assert not [row for row in station.store.batches(only_open=True) if row.id == 1]


def test_what_of_a_shared_batch_was_answered_before_the_crash_stays_answered(station: Station) -> None:
    first, second = shared(station, "bulk.create")
    station.complete("create", "a_1")
    go_on(station, second)
    go_on(station)
    assert station.status(first) is ExecutionStatus.COMPLETED
    assert station.status(second) is ExecutionStatus.ATTENTION


def test_a_crash_after_each_commit_of_an_install_ends_well(station: Station) -> None:
    nodes = (
        node("db", create="bulk_again.create", start="each_again.start"),
        node("web", to=["db"], create="each_again.create", instances=2),
    )
    row = station.install(*nodes)
    for _ in range(100):
        if station.status(row).is_ended:
            break
        if station.called():
            station.answer(station.called()[0])
        go_on(station)
    assert station.status(row) is ExecutionStatus.COMPLETED
    assert set(station.states(row).values()) == {"started"}


def test_what_was_called_before_the_crash_is_known_as_begun_where_conditions_are_asked() -> None:
    def conditional(*asked: object) -> Graph | Verdict:
        answer = PLANNERS["install"](*asked)
        return replace(answer, marks=answer.marks | Mark.CONDITIONAL) if isinstance(answer, Graph) else answer

    station = Station(planners={"install": conditional})
    row = station.install(node("vm", create="each_again.create", start="each_again.start"))
    (begun,) = (segment.positions.tolist() for segment in station.executor.batches[1].segments)
    station.crash()
    orphans = station.store.batches(only_open=True)
    engine = station.engine
    events = restore(station.store, engine.planning, engine.deployments, [station.row(row)], orphans, (), {})
    (found,) = (event.begun.tolist() for event in events if isinstance(event, Restored))
    assert found == begun
    assert begun


# calls that run in another process and survive their engine (RF7, HA4)


def survivor(station: Station, *nodes: Node) -> tuple[ExecutionRow, Batch]:
    """An execution whose first batch runs elsewhere when the next engine takes over."""
    row = station.install(*nodes)
    (batch,) = station.executor.batches.values()
    go_on_beside(station, batch)
    return row, batch


def go_on_beside(station: Station, batch: Batch, *rows: ExecutionRow) -> None:
    """The process dies; the next engine's executor says that this batch still runs."""
    station.crash()
    station.executor.elsewhere.add(batch.id)
    station.engine.recover([station.row(row) for row in rows] or None)
    station.settle()


def outcome(batch: Batch, kind: OutcomeKind = OutcomeKind.COMPLETED, **brought: object) -> CallReport:
    """What the first member of a batch brings that this engine has not handed over."""
    segment = batch.segments[0]
    documents = [(0, DocumentChange(segment.deployment, int(segment.subjects[0]), {("made",): True}))]
    remarks = [(0, EntryRemark(segment.graph, int(segment.positions[0]), str(brought.get("message", ""))))]
    column = np.array([kind], np.uint8)
    return CallReport(batch.id, np.zeros(1, np.int32), column, np.full(1, -1, np.int64), documents, remarks)


def test_ha4_a_call_that_runs_elsewhere_is_not_made_again_and_its_outcome_counts(station: Station) -> None:
    row, batch = survivor(station, node("vm", create="each.create", start="each.start"))
    assert station.called() == []
    assert station.status(row) is ExecutionStatus.RUNNING
    station.post(outcome(batch))
    assert station.document(row, "vm_1") == {"made": True}
    assert station.names() == [("start", "vm_1")]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_ha4_a_failure_of_a_call_that_ran_elsewhere_is_reported_like_any_other(station: Station) -> None:
    row, batch = survivor(station, node("vm", create="each.create"))
    station.post(outcome(batch, FAILED, message="no room"))
    assert station.status(row) is ExecutionStatus.FAILED
    assert ["no room" in event.message for event in station.events(row, "task_failed")] == [True]


def test_ha4_only_what_does_not_run_elsewhere_is_lost(station: Station) -> None:
    row = station.install(node("a", create="each_again.create"), node("b", create="bulk_again.create"))
    (bulk,) = (batch for batch in station.executor.batches.values() if batch.lane.form == "bulk")
    go_on_beside(station, bulk)
    assert station.names() == [("create", "a_1")]
    assert station.status(row) is ExecutionStatus.RUNNING
    station.post(outcome(bulk))
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_ha4_calls_that_run_elsewhere_for_two_executions_survive_although_one_is_loaded_later(station: Station) -> None:
    first, second = shared(station, "bulk_again.create")
    (batch,) = station.executor.batches.values()
    go_on_beside(station, batch, first)
    station.engine.recover([station.row(second)])
    station.settle()
    assert station.called() == []
    station.post(all_of(batch))
    station.complete_all()
    assert [station.status(row) for row in (first, second)] == [ExecutionStatus.COMPLETED] * 2


def test_ha8_calls_that_run_elsewhere_count_in_their_lane_and_its_pool(station: Station) -> None:
    rows = [station.install(node("vm", create="bulk_again.create"))]
    (batch,) = station.executor.batches.values()
    go_on_beside(station, batch)
    rows.append(station.submit(station.deployment(node("vm", create="bulk_again.create"), name="other")))
    assert station.called() == [], "a bulk operation has one call at a time"
    validate(station.engine.scheduler)
    station.post(outcome(batch))
    station.complete_all()
    assert {station.status(row) for row in rows} == {ExecutionStatus.COMPLETED}


def test_ha4_a_call_that_ran_elsewhere_can_be_canceled(station: Station) -> None:
    row, batch = survivor(station, node("vm", create="each_again.create"))
    station.engine.cancel(row.number)
    station.settle()
    assert station.executor.canceled == [(batch.id, [0], False)]
    station.post(outcome(batch, AGAIN))
    assert station.status(row) is ExecutionStatus.CANCELED


def test_ha4_what_ends_between_two_takeovers_is_lost(station: Station) -> None:
    row, _ = survivor(station, node("vm", create="each_again.create"))
    go_on(station)
    assert station.names() == [("create", "vm_1")]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED
