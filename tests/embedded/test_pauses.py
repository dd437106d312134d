"""Whoever waits for an answer is woken by an engine of its process, and looks often at first."""

import threading

import pytest
from tests.store import builders as a

from phaseline.embedded.pauses import FIRST_S, GROWTH, Pauses
from phaseline.model.rows.rows import RequestAnswer, RequestKind, TurnPayload
from phaseline.store.memory.store import MemoryStore


def test_pauses_grow_to_the_longest_one() -> None:
    pauses = Pauses(MemoryStore(a.FakeClock()), 2 * FIRST_S)
    found, short = [], []
    with pauses:
        for _ in range(4):
            found.append(pauses._next_s)
            short.append(pauses.is_short)
            pauses.wait()
    assert short == [False, True, False, False]
    assert found == [FIRST_S, GROWTH * FIRST_S, 2 * FIRST_S, 2 * FIRST_S]


def test_rf6_an_answer_of_an_engine_of_this_process_ends_a_pause() -> None:
    store = MemoryStore(a.FakeClock())
    number = store.ask(RequestKind.PAUSE, 0, {}, a.ANN)

    def answer() -> None:
        with store.own("test"):
            store.commit(a.turn(payload=TurnPayload(answers=[RequestAnswer(number)])))

    thread = threading.Thread(target=answer)
    with Pauses(store, 3_600) as pauses:
        pauses._next_s = 3_600
        thread.start()
        pauses.wait()
        assert store.answer_of(number) is not None
    thread.join()


def test_whatever_is_raised_in_between_ends_the_listening() -> None:
    store = MemoryStore(a.FakeClock())
    with pytest.raises(RuntimeError), Pauses(store, 1):
        raise RuntimeError
    assert store._held.wake_ups._for_answers == []
