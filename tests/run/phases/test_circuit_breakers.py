"""A phase that fails too often is paused by itself, tried with one resource, and opened again (X12)."""

from tests.run.engines import all_of
from tests.run.yard import Yard, phase

from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.rows import RequestKind

FAILED = OutcomeKind.FAILED
POLICY = {"breaker_share": 0.5, "breaker_minimum": 4, "breaker_window_s": 60.0, "breaker_pause_s": 30.0}


def tripped() -> Yard:
    """Two of four have failed, three wait."""
    yard = Yard(phase("X", policy=POLICY))
    yard.start("a", "b", "c", "d")
    yard.start("e", "f", "g")
    for name in "ab":
        yard.complete("X", name)
    for name in "cd":
        yard.answer(yard.find("X", name), FAILED, message="outage")
    return yard


def test_p110_too_many_failures_pause_the_phase_and_the_others_wait() -> None:
    yard = tripped()
    assert yard.called() == []
    assert yard.stay("e") == {"X": "waiting"}
    (row,) = yard.store.paused_phases().values()
    assert row.reason == "circuit breaker: 2 of 4 failed within 60 s; the last message: outage"
    assert yard.engine.wakes_at == yard.clock.now() + 30_000


def test_p110_one_is_tried_and_opens_the_phase() -> None:
    yard = tripped()
    yard.pass_time(30)
    assert yard.names() == [("X", "e")]
    yard.complete("X", "e")
    assert yard.names() == [("X", "f"), ("X", "g")]
    assert yard.store.paused_phases() == {}


def test_p110_one_is_tried_and_fails_and_the_phase_stays_paused() -> None:
    yard = tripped()
    yard.pass_time(30)
    yard.answer(yard.find("X", "e"), FAILED, message="still")
    assert yard.called() == []
    (row,) = yard.store.paused_phases().values()
    assert row.reason == "circuit breaker: it was tried with 1 and failed; the last message: still"
    yard.pass_time(30)
    assert yard.names() == [("X", "f")]


def test_p110_a_new_process_keeps_to_the_pause_and_tries_at_its_time() -> None:
    yard = tripped()
    yard.crash()
    assert yard.called() == []
    yard.pass_time(30)
    assert yard.names() == [("X", "e")]


def test_p110_a_user_opens_it_before_its_time() -> None:
    yard = tripped()
    yard.store.unpause_phase("X")
    yard.ask(RequestKind.PAUSE, None, phase="X")
    assert yard.names() == [("X", "e"), ("X", "f"), ("X", "g")]


def test_few_failures_pause_nothing() -> None:
    yard = Yard(phase("X", policy=POLICY))
    yard.start("a", "b", "c")
    for name in "abc":
        yard.answer(yard.find("X", name), FAILED, message="no")
    assert yard.store.paused_phases() == {}
    yard.pass_time(61)
    yard.start("d", "e")
    yard.post(all_of(yard.executor.batches[max(yard.executor.batches)]))
    assert yard.store.paused_phases() == {}
