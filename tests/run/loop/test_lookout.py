"""When the owner looks for requests: at once when it is woken, and now and then by itself."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.run.engines import ANN, BEGINNING_MS, ByHand, Station
from tests.store.builders import FakeClock

from phaseline.calls.threads.inbox import Inbox
from phaseline.model.rows.rows import RequestKind
from phaseline.ports.store import Store
from phaseline.run.loop.engine import Engine
from phaseline.run.loop.request_reader import CALM_AFTER_MS, LOOK_MS, Lookout
from phaseline.store.memory.store import MemoryStore
from phaseline.store.sqlite.store import SqliteStore
from phaseline.store.wake_ups import HEARD_MS, UNHEARD_MS
from phaseline.testing.clock import VirtualClock
from phaseline.testing.plain_services import PlainServices

AGAIN = LOOK_MS // 2


def ask(store: Store) -> int:
    return store.ask(RequestKind.PAUSE, 0, {}, ANN)


def test_a_look_is_due_at_first_and_then_after_a_while() -> None:
    lookout = Lookout(MemoryStore(FakeClock()), Inbox())
    assert lookout.is_due(7)
    assert not lookout.is_due(7 + AGAIN - 1)
    assert lookout.is_due(7 + AGAIN)
    lookout.close()
    assert not lookout.is_due(7 + 10 * AGAIN)


def test_rf6_after_a_while_a_request_makes_a_look_due_at_once() -> None:
    store, inbox = MemoryStore(FakeClock()), Inbox()
    lookout = Lookout(store, inbox)
    with lookout:
        assert lookout.is_due(0)
        ask(store)
        assert not lookout.is_woken, "a short command does not listen"
        assert lookout.is_due(AGAIN)
        ask(store)
        assert lookout.is_woken
        assert inbox.wait(0)
        assert lookout.is_due(AGAIN)
        assert not lookout.is_due(AGAIN)
        ask(store)
        lookout.close()
        assert not lookout.is_due(AGAIN), "an engine that ends looks no more"
    ask(store)
    assert store._held.wake_ups.asked() is False


class Seldom(MemoryStore):
    """A store that says how often its owner must look."""

    every_ms = 2_000

    @contextmanager
    def listen(self, wake: object) -> Iterator[int]:
        yield self.every_ms


def test_rf6_the_store_says_how_often_to_look_without_a_wake_up() -> None:
    lookout = Lookout(Seldom(FakeClock()), Inbox())
    with lookout:
        assert lookout.is_due(0)
        assert lookout.is_due(AGAIN)
        assert not lookout.is_due(AGAIN + 999)
        assert lookout.is_due(AGAIN + 1_000)
    assert lookout.is_due(AGAIN + 1_000 + AGAIN), "nothing is heard any more"


@pytest.mark.parametrize(("every_ms", "calm_ms"), [(2_000, 2_000), (HEARD_MS, HEARD_MS), (UNHEARD_MS, LOOK_MS)])
def test_rf6_an_engine_that_can_be_woken_waits_longer_when_nothing_happens(every_ms: int, calm_ms: int) -> None:
    store = Seldom(FakeClock())
    store.every_ms = every_ms
    lookout, now = Lookout(store, Inbox()), 0
    with lookout:
        assert lookout.is_due(now)
        for now in range(LOOK_MS, CALM_AFTER_MS, LOOK_MS):
            lookout.is_due(now)
            assert lookout.pause_ms == LOOK_MS
        lookout.is_due(CALM_AFTER_MS)
        assert lookout.pause_ms == calm_ms
        lookout._wake()
        assert lookout.is_due(now)
        assert lookout.pause_ms == LOOK_MS, "more may follow"


@contextmanager
def running(store: Store, clock: VirtualClock) -> Iterator[Engine]:
    """An engine that runs in a thread; its clock stands still, so it never looks by itself but at the beginning."""
    is_over = threading.Event()
    begun = threading.Event()
    engines: list[Engine] = []

    def serve() -> None:
        with store.own("a test") as lease:
            engine = Engine(store, clock, PlainServices(lambda inbox, _: ByHand(inbox, [], {"threads": 4})), lease)
            engines.append(engine)

            def is_done() -> bool:
                if engine.has_turned and not begun.is_set():
                    clock.advance_to(BEGINNING_MS + LOOK_MS)
                    begun.set()
                return is_over.is_set()

            engine.run(is_done)
            engine.close(0)

    thread = threading.Thread(target=serve)
    thread.start()
    assert begun.wait(60)
    try:
        yield engines[0]
    finally:
        is_over.set()
        engines[0].interrupt()
        thread.join()


@pytest.fixture(params=["memory", "the same object", "another object"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """The owner's store and that of whoever asks, in one process."""
    clock = FakeClock()
    if request.param == "memory":
        store = MemoryStore(clock)
        yield store, store
        return
    with closing(SqliteStore.open(tmp_path / "store.db", clock)) as owner:
        if request.param == "the same object":
            yield owner, owner
            return
        with closing(SqliteStore.open(tmp_path / "store.db", clock)) as asker:
            yield owner, asker


def test_rf6_an_idle_engine_answers_though_no_time_passes(stores: tuple[Store, Store]) -> None:
    owner, asker = stores
    answered = threading.Event()
    with running(owner, VirtualClock(BEGINNING_MS)), owner.listen_for_answers(answered.set):
        for _ in range(20):
            answered.clear()
            number = ask(asker)
            assert answered.wait(60)
            assert asker.answer_of(number) is not None


def test_rf6_a_wake_up_during_a_turn_is_not_lost() -> None:
    station = Station()
    with station.engine._lookout:
        for _ in range(2):
            station.clock.advance_to(station.clock.now() + LOOK_MS)
            station.inbox.wake()
            station.engine.turn()
        number = ask(station.store)
        station.inbox.take_all()  # as a turn does that has other things to do
        station.inbox.wake()
        station.engine.turn()
        assert station.store.answer_of(number) is not None


def until(is_so: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(HEARD_MS // 2 // 10):
        if is_so():
            return
        pause.wait(0.01)
    raise AssertionError("it does not come before an engine looks by itself")


class Unfinished(Seldom):
    """A store that has lists to write a few times."""

    every_ms = HEARD_MS
    rest = 0

    def refresh_lists(self) -> bool:
        self.rest -= 1
        return self.rest > 0


@contextmanager
def calm() -> Iterator[tuple[Engine, Unfinished]]:
    """An engine that waits as long as its store permits."""
    clock = VirtualClock(BEGINNING_MS)
    store = Unfinished(clock)
    with running(store, clock) as engine:
        until(lambda: engine._lookout._is_listening)
        clock.advance_to(BEGINNING_MS + LOOK_MS + CALM_AFTER_MS)
        until(lambda: engine._lookout.pause_ms == HEARD_MS)
        yield engine, store


def test_rf6_an_interrupt_ends_the_wait_of_a_calm_engine() -> None:
    with calm() as (engine, _):
        engine.interrupt()
        until(lambda: engine.leaving.is_held)


def test_rf5_a_calm_engine_writes_what_lists_read_soon_after_it_did_something() -> None:
    with calm() as (engine, store):
        store.rest = 3
        engine._inbox.wake()
        until(lambda: store.rest <= 0)
