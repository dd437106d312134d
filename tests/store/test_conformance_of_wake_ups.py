"""What every store promises about wake-ups (RF6): whoever listens is called after the commit, and only then."""

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.store import builders as a

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import RequestAnswer, RequestKind, TurnPayload
from phaseline.ports.store import Store
from phaseline.store.wake_ups import HEARD_MS

BESIDE = replace(a.REQUEST, workflow="heal")


class Listener:
    """Notes how many requests the store holds whenever it is woken."""

    def __init__(self, store: Store) -> None:
        self.store, self.found = store, []

    def __call__(self) -> None:
        self.found.append(len(self.store.requests()))


def create_deployment(store: Store, _: int) -> object:
    return store.create_deployment(a.deployment("more"), a.execution())


def create_execution(store: Store, number: int) -> object:
    return store.create_execution(a.execution(number, BESIDE), beside=lambda _: True)


def ask(store: Store, _: int) -> object:
    return store.ask(RequestKind.PAUSE, 0, {}, a.ANN)


@pytest.mark.parametrize("act", [create_deployment, create_execution, ask])
def test_rf6_a_stored_request_wakes_whoever_listens(store: Store, act: Callable[[Store, int], object]) -> None:
    number, _ = store.create_deployment(a.deployment())
    listener = Listener(store)
    with store.listen(listener):
        act(store, number)
        assert listener.found == [1]
        act_again = store.ask(RequestKind.PAUSE, 0, {}, a.ANN)
        assert act_again
        assert listener.found == [1, 2]
    store.ask(RequestKind.PAUSE, 0, {}, a.ANN)
    assert listener.found == [1, 2], "it listens no longer"


def test_rf6_what_is_no_request_wakes_nobody(store: Store) -> None:
    listener = Listener(store)
    with store.listen(listener):
        number, _ = store.create_deployment(a.deployment())
        store.create_execution(a.execution(number), asks=False)
        store.pause_phase("Acme", a.ANN, "")
    assert listener.found == []


def test_rf6_a_transaction_that_is_undone_wakes_nobody(store: Store) -> None:
    listener = Listener(store)
    number, _ = store.create_deployment(a.deployment())
    store.create_execution(a.execution(number), asks=False)

    def ask_and_collide() -> None:
        with store.as_one():
            ask(store, 0)
            store.create_execution(a.execution(number))

    with store.listen(listener), pytest.raises(ProblemsError):
        ask_and_collide()
    with store.listen(listener), pytest.raises(LookupError):
        store.ask(RequestKind.WAKE, 99, {}, a.ANN)
    assert listener.found in ([], [1]), "a store in memory stores at once, and undoes it"
    assert store.requests() == []


def test_rf6_requests_of_one_transaction_are_seen_by_whoever_is_woken(store: Store) -> None:
    listener = Listener(store)
    with store.listen(listener), store.as_one():
        ask(store, 0)
        ask(store, 0)
    assert listener.found[-1] == 2


def test_rf6_the_listener_is_told_how_often_to_look_by_itself(store: Store) -> None:
    with store.listen(lambda: None) as every_ms:
        assert 0 < every_ms <= HEARD_MS


def test_rf6_an_answer_wakes_whoever_waits_for_answers(store: Store) -> None:
    number, run = a.installed(store)
    heard: list[object] = []
    request = store.requests()[0].number
    with store.own("test"), store.listen_for_answers(lambda: heard.append(store.answer_of(request))):
        store.commit(a.turn(executions=(a.status(run, ExecutionStatus.RUNNING),)))
        assert heard == []
        store.commit(a.turn(payload=TurnPayload(answers=[RequestAnswer(request, {"done": True})])))
        assert heard == [{"done": True}]
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(answers=[RequestAnswer(store.ask(RequestKind.PAUSE, 0, {}, a.ANN))])))
    assert len(heard) == 1
    assert number


def test_rf6_a_wake_up_comes_from_the_thread_that_asks_and_holds_nothing(store: Store) -> None:
    """The listener may read the store, and so may another thread that it waits for."""
    found: list[int] = []

    def wake() -> None:
        thread = threading.Thread(target=lambda: found.append(len(store.requests())))
        thread.start()
        thread.join()

    with store.listen(wake):
        ask(store, 0)
    assert found == [1]
