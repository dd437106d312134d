"""Entries that sleep until another execution ends (BB3): woken, canceled and resumed with it, and circles (BB4)."""

import time
from dataclasses import replace

import pytest
from tests.run.engines import Called, Station
from tests.run.loop.test_admission import begin as enter
from tests.run.loop.test_follow_ups import AGAIN, INNER, LONG_MS, OUTER, executions_of, run, why

from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.model.rows.causes import AwaitRow
from phaseline.model.rows.follow_ups import FollowUp
from phaseline.model.rows.rows import ExecutionRow, Turn
from phaseline.run.loop.awaits import Awaits
from phaseline.testing.builders import node


@pytest.fixture
def station() -> Station:
    return Station()


def nest(station: Station, *, levels: int = 2) -> list[ExecutionRow]:
    """Executions of which each awaits the next; the call of the innermost is out."""
    numbers = [station.deployment(OUTER, name=f"level{number}") for number in range(levels)]
    station.submit(numbers[0])
    for number in numbers[1:]:
        (one,) = station.called()
        station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, number))
    return [executions_of(station, number)[0] for number in numbers]


def canceled(station: Station) -> list[int]:
    """The executions that were canceled, in the order in which that was stored."""
    turns = [turn for turn in station.journal if isinstance(turn, Turn)]
    told = [event for turn in turns for event in turn.payload.events]
    return [event.execution for event in told if event.type == "workflow_cancelled"]


def test_bb3_no_thread_and_no_look_waits(station: Station) -> None:
    outer, inner = nest(station)
    turns = station.turns
    assert not station.engine.has_work
    assert station.names() == [("create", "db_1")]
    assert [one.execution for one in station.called()] == [inner.number]
    assert station.engine.wakes_at == station.clock.now() + LONG_MS
    assert station.turns == turns
    assert station.status(outer) is ExecutionStatus.RUNNING


def test_bb3_members_that_await_executions_which_end_in_one_turn_are_called_together(station: Station) -> None:
    numbers = [station.deployment(INNER, name=f"inner{number}") for number in range(3)]
    station.install(node("db", create="bulk.create", instances=3))
    for one, number in zip(station.called(), numbers, strict=True):
        station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, number))
    for one in station.called():
        station.answered.add((one.batch, one.member))
        station.inbox.post(station.report(one))
    station.settle()
    called = station.called()
    assert len(called) == 3
    assert len({one.batch for one in called}) == 1


@pytest.mark.parametrize("how", ["wait", "force", "kill"])
def test_a2_a3_a_cancel_reaches_all_that_is_awaited_and_the_innermost_ends_first(station: Station, how: str) -> None:
    rows = nest(station, levels=3)
    (one,) = station.called()
    station.engine.cancel(rows[0].number, how)
    station.settle()
    if how == "wait":
        assert {station.status(row) for row in rows} == {ExecutionStatus.CANCELING}
        station.answer(one)
    assert {station.status(row) for row in rows[:-1]} == {ExecutionStatus.CANCELED}
    assert station.status(rows[-1]) in {ExecutionStatus.CANCELED, ExecutionStatus.ATTENTION}
    assert not station.store.causes.awaiting()
    if how == "wait":
        assert canceled(station) == [row.number for row in reversed(rows)]


def test_a2_what_has_completed_is_not_called_again_after_a_cancel_and_a_retry(station: Station) -> None:
    rows = nest(station, levels=3)
    station.engine.cancel(rows[0].number)
    station.settle()
    station.complete("create", "db_1")
    counts = [len(station.store.batches(execution=row.number)) for row in rows]
    for row in reversed(rows):
        station.engine.retry(station.row(row))
        station.settle()
    station.complete_all()
    assert {station.status(row) for row in rows} == {ExecutionStatus.COMPLETED}
    innermost = station.store.batches(execution=rows[-1].number)
    assert len(innermost) == counts[-1] + 1  # only "start", which the cancel had kept from beginning


def test_co10_a_cancel_of_the_inner_alone_wakes_the_outer(station: Station) -> None:
    outer, inner = nest(station)
    station.engine.cancel(inner.number)
    station.settle()
    station.complete("create", "db_1")
    assert station.status(inner) is ExecutionStatus.CANCELED
    assert station.status(outer) is ExecutionStatus.RUNNING
    assert [one.execution for one in station.called()] == [outer.number]


def test_co10_other_branches_of_a_canceled_outer_do_not_begin(station: Station) -> None:
    other = station.deployment(INNER, name="other")
    outer = station.install(node("db", create="each.create", start="each.start"), node("web", create="each.create"))
    one = station.find("create", "db_1")
    station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, other))
    station.engine.cancel(outer.number)
    station.settle()
    station.complete("create", "web_1", "disk_1")
    assert station.status(outer) is ExecutionStatus.CANCELED
    assert not station.called()


def test_co10_the_time_limit_of_the_outer_cancels_what_it_awaits(station: Station) -> None:
    other = station.deployment(INNER, name="other")
    outer = station.install(OUTER, timeout_s=60.0)
    (one,) = station.called()
    station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, other))
    station.wait_until_due()
    (inner,) = executions_of(station, other)
    assert station.status(inner) is ExecutionStatus.CANCELING
    station.complete("create", "disk_1")
    assert station.status(inner) is ExecutionStatus.CANCELED
    assert station.status(outer).is_ended


def test_co10_a_cancel_reaches_an_inner_execution_that_waits_in_its_queue(station: Station) -> None:
    number = station.deployment(INNER, name="busy")
    first = station.submit(number)
    outer = station.install(OUTER)
    one = station.find("create", "db_1")
    station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, number))
    (_, second) = executions_of(station, number)
    assert station.status(second) is ExecutionStatus.QUEUED
    station.engine.cancel(outer.number)
    station.settle()
    assert station.status(second) is ExecutionStatus.CANCELED
    assert station.status(outer) is ExecutionStatus.CANCELED
    assert station.status(first) is ExecutionStatus.RUNNING


def test_co8_a_time_out_fails_the_entry_and_the_inner_goes_on(station: Station) -> None:
    other = station.deployment(INNER, name="other")
    station.install(OUTER)
    (one,) = station.called()
    station.answer(one, AGAIN, delay_ms=5_000, follow_up=run(station, one, other))
    station.wait_until_due()
    station.answer(station.find("create", "db_1"), OutcomeKind.FAILED, message="timed out")
    (inner,) = executions_of(station, other)
    assert station.status(inner) is ExecutionStatus.RUNNING


def test_co13_the_depth_is_that_of_the_longest_chain_above(station: Station) -> None:
    """An execution may be awaited by several; the shortest way up is not what counts."""
    rows = nest(station, levels=3)
    (entry,) = station.engine.awaits._by_execution[rows[0].number]
    station.engine.awaits.load([AwaitRow(*entry, rows[2].number, 0)], lambda _number: True)
    assert station.engine.awaits.depth(rows[2].number, 8) == [row.number for row in rows]


def test_co13_the_depth_is_found_though_a_wait_left_by_a_retry_leads_back(station: Station) -> None:
    """An entry keeps its waits between its failure and its next call; a circle of such waits is no reason to hang."""
    rows = nest(station, levels=3)
    awaits = station.engine.awaits
    (entry,) = awaits._by_execution[rows[1].number]
    awaits.load([AwaitRow(*entry, rows[0].number, 0)], lambda _number: True)
    assert len(awaits.depth(rows[1].number, 8)) == 9


def test_bb3_thousands_of_waits_of_one_execution_take_no_look_at_each_other(station: Station) -> None:
    """Linear: 20,000 entries of one execution begin to wait, and are told, within seconds on any machine."""
    awaits = Awaits(station.engine.scheduler, station.engine.claims)
    began = time.process_time()
    for place in range(20_000):
        awaits.begin((1, 1, place), [100 + place], 5)
        awaits.begin((1, 1, place), [100 + place], 5)
    changes = awaits.changes()
    assert changes is not None
    assert len(changes.new) == 20_000
    for place in range(20_000):
        awaits.told(100 + place)
    assert time.process_time() - began < 5
    assert not awaits


# -- the next owner -----------------------------------------------------------------------------------------------


def test_co12_the_next_owner_goes_on_with_all_levels(station: Station) -> None:
    rows = nest(station, levels=3)
    station.complete("create", "db_1")
    station.crash()
    station.engine.recover()
    station.settle()
    (one,) = station.called()
    assert (one.phase, one.execution) == ("start", rows[-1].number)


def test_bb3_recovery_wakes_who_waits_for_what_has_ended(station: Station) -> None:
    """The news is stored in the turn in which the awaited execution ends; a crash right after it loses nothing."""
    outer, inner = nest(station)
    station.complete("create", "db_1")
    one = station.find("start", "db_1")
    station.answered.add((one.batch, one.member))
    station.inbox.post(station.report(one))
    while station.status(inner) is ExecutionStatus.RUNNING:
        station.engine.turn()
    station.crash()
    station.engine.recover()
    station.settle()
    assert [one.execution for one in station.called()] == [outer.number]


def test_co12_a_canceling_outer_ends_under_the_next_owner_when_its_inner_has(station: Station) -> None:
    outer, inner = nest(station)
    station.engine.cancel(outer.number)
    station.settle()
    station.crash()
    station.engine.recover()
    station.settle()
    assert not station.called()
    assert canceled(station) == [inner.number, outer.number]


# -- circles ------------------------------------------------------------------------------------------------------


def waiting_for(station: Station, one: Called, row: ExecutionRow) -> EntryStatus:
    station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=FollowUp(awaits=(row.number,)))
    return station.entry(one)


def test_a15_a_circle_of_awaits_is_named_within_one_turn(station: Station) -> None:
    first = station.submit(station.deployment(node("a", create="each.create"), name="first"))
    second = station.submit(station.deployment(node("b", create="each.create"), name="second"))
    a, b = station.find("create", "a_1"), station.find("create", "b_1")
    assert waiting_for(station, a, second) is EntryStatus.SLEEPING
    turns = station.turns
    station.answered.add((b.batch, b.member))
    station.inbox.post(station.report(b, AGAIN, delay_ms=LONG_MS, follow_up=FollowUp(awaits=(first.number,))))
    station.engine.turn()
    assert station.turns == turns + 1
    assert station.entry(b) is EntryStatus.FAILED
    told = why(station, b)
    assert f"{second.id} of second → {first.id} of first → {second.id} of second" in told
    assert "PL-C110" in told


def test_bb4_an_execution_cannot_await_one_that_would_queue_behind_it(station: Station) -> None:
    row = station.install(OUTER)
    (one,) = station.called()
    station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, row.deployment))
    assert station.entry(one) is EntryStatus.FAILED
    assert "PL-C110" in why(station, one)
    assert executions_of(station, row.deployment) == [station.row(row)]


def test_bb4_a_circle_over_a_queue_is_found(station: Station) -> None:
    """Outer awaits an execution that would queue behind one that awaits the outer."""
    number = station.deployment(node("b", create="each.create"), name="second")
    outer = station.install(OUTER)
    station.submit(number)
    one, b = station.find("create", "db_1"), station.find("create", "b_1")
    assert waiting_for(station, b, outer) is EntryStatus.SLEEPING
    station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, number))
    assert station.entry(one) is EntryStatus.FAILED
    assert "PL-C110" in why(station, one)
    assert len(executions_of(station, number)) == 1


def test_bb4_a_queued_execution_that_comes_into_a_circle_fails_with_its_name(station: Station) -> None:
    """Both ways of waiting are as a former engine has left them; the circle closes when the queue moves."""
    station.deployment(node("a", start="each_again.start"), node("b", start="each_again.start"), name="two")
    first, second = enter(station, "start", "a_1"), enter(station, "start", "b_1")
    outer = station.install(OUTER)
    queued = enter(station, "restart")
    b, db = station.find("start", "b_1"), station.find("create", "db_1")
    for one in (b, db):
        station.answer(one, AGAIN, delay_ms=LONG_MS)
    rows = [AwaitRow(b.execution, b.graph, b.position, outer.number, 0)]
    rows += [AwaitRow(db.execution, db.graph, db.position, queued.number, 0)]
    station.engine.awaits.load(rows, lambda _number: True)
    assert station.status(queued) is ExecutionStatus.QUEUED
    station.complete("start", "a_1")
    assert station.status(first) is ExecutionStatus.COMPLETED
    assert station.status(queued) is ExecutionStatus.FAILED
    told = station.row(queued).reason
    assert "PL-C110" in told
    assert f"{queued.id} of two → {second.id} of two → {outer.id} of app → {queued.id} of two" in told
    assert station.names() == [("create", "db_1")]


def test_bb4_with_force_there_is_no_queue_and_no_circle(station: Station) -> None:
    row = station.install(OUTER)
    (one,) = station.called()
    station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, row.deployment, if_busy="force"))
    assert station.entry(one) is EntryStatus.SLEEPING


def test_bb4_an_entry_that_no_longer_sleeps_closes_no_circle(station: Station) -> None:
    first = station.submit(station.deployment(node("a", create="each.create"), name="first"))
    second = station.submit(station.deployment(node("b", create="each.create"), name="second"))
    a, b = station.find("create", "a_1"), station.find("create", "b_1")
    station.answer(a, AGAIN, delay_ms=10, follow_up=FollowUp(awaits=(second.number,)))
    station.wait_until_due()
    station.answer(station.find("create", "a_1"), OutcomeKind.FAILED)
    assert waiting_for(station, b, first) is not EntryStatus.FAILED


def test_bb3_a_wait_for_what_has_ended_already_is_over_at_once(station: Station) -> None:
    ended = station.submit(station.deployment(INNER, name="ended"))
    station.complete("create", "disk_1")
    station.install(OUTER)
    (one,) = station.called()
    station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=FollowUp(awaits=(ended.number,)))
    assert station.names() == [("create", "db_1")]
    assert not station.store.causes.awaiting()
    assert replace(one, batch=0) == replace(station.called()[0], batch=0)
