"""Calls begin only while the lease of their engine is held."""

import threading

from tests.run.leases import ScriptedLease

from phaseline.run.executors.thread_executor import CallGate

PATIENCE_S = 60.0


def asked(gate: CallGate) -> tuple[threading.Thread, list[bool]]:
    """A thread that asks whether its call may begin, and its answers."""
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(gate.may_begin()))
    thread.start()
    return thread, answers


def until_asked(lease: ScriptedLease, times: int) -> None:
    pause = threading.Event()
    for _ in range(int(PATIENCE_S * 100)):
        if lease.asked >= times:
            return
        pause.wait(0.01)
    raise AssertionError("the gate does not ask")


def test_without_a_lease_or_with_a_good_one_calls_begin_at_once() -> None:
    assert CallGate().may_begin()
    lease = ScriptedLease()
    assert CallGate(lease).may_begin()
    assert lease.asked == 1


def test_ha2_a_call_waits_while_the_lease_is_late_and_begins_when_it_is_renewed() -> None:
    lease = ScriptedLease(late=True)
    thread, answers = asked(CallGate(lease))
    until_asked(lease, 3)
    assert answers == []
    lease.late = False
    thread.join(PATIENCE_S)
    assert answers == [True]


def test_ha3_a_call_does_not_begin_once_the_lease_is_lost() -> None:
    lease = ScriptedLease(late=True)
    thread, answers = asked(CallGate(lease))
    until_asked(lease, 3)
    lease.lost = True
    thread.join(PATIENCE_S)
    assert answers == [False]


def test_a_call_that_waits_does_not_keep_the_engine_from_ending() -> None:
    gate = CallGate(ScriptedLease(late=True))
    thread, answers = asked(gate)
    gate.close()
    thread.join(PATIENCE_S)
    assert answers == [False]
