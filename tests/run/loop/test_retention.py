"""What is old goes by itself: in slices, by the clock, and never while anything is to be done at once."""

import pytest
from tests.run.engines import Station
from tests.store import builders as a

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.maintenance import Purged, PurgeRules
from phaseline.model.rows.rows import LogLine, RequestAnswer, TurnPayload
from phaseline.run.loop.retention import EVERY_MS, FIRST_MS, REST_MS, Retention, RetentionAges
from phaseline.store.memory.purge import REMOVED_TOGETHER
from phaseline.store.memory.store import MemoryStore
from phaseline.testing.builders import node
from phaseline.testing.plain_services import PlainServices

DAY_MS = 86_400_000
MANY = 2 * REMOVED_TOGETHER + 50


@pytest.fixture
def station() -> Station:
    return Station()


def ended(station: Station, count: int, *, lines: int = 0) -> None:
    """Executions of one deployment that have ended now, the first of which is its install."""
    number = station.deployment(node("db"), name="old")
    rows = [station.stored(number, "install")]
    for row in rows:
        turn = TurnPayload(answers=[RequestAnswer(one.number) for one in station.store.requests()])
        station.store.commit(a.turn(station.clock.now(), turn, executions=(done(row.number),)))
    for _ in range(count):
        row = station.stored(number, "heal")
        payload = TurnPayload(logs=[LogLine(row.number, 1, "info", "x")] * lines)
        station.store.commit(a.turn(station.clock.now(), payload, executions=(done(row.number),)))


def done(number: int) -> object:
    return a.status(number, ExecutionStatus.COMPLETED)


def turn_after(station: Station, ms: int) -> None:
    station.clock.advance_to(station.clock.now() + ms)
    station.inbox.wake()
    station.engine.turn()


def left(station: Station) -> int:
    return len(station.store.executions())


def keep(station: Station, **ages: int) -> None:
    """Give the engine ages from which on it removes what has ended."""
    engine = station.engine
    engine.retention = Retention(station.store, engine._services, station.clock.now, RetentionAges(**ages))


def services(station: Station) -> PlainServices:
    found = station.engine._services
    assert isinstance(found, PlainServices)
    return found


def test_without_an_age_nothing_is_ever_removed(station: Station) -> None:
    ended(station, 3)
    for _ in range(3):
        turn_after(station, 365 * DAY_MS)
    assert left(station) == 4


def test_what_is_older_goes_soon_after_the_start_and_then_every_hour(station: Station) -> None:
    keep(station, executions_ms=DAY_MS)
    turn_after(station, 0)
    ended(station, 3)
    turn_after(station, DAY_MS)
    turn_after(station, REST_MS)
    assert left(station) == 4, "a day old, not older"
    ended_at = station.clock.now()
    turn_after(station, EVERY_MS - REST_MS)
    turn_after(station, REST_MS)
    assert left(station) == 1, "the install of the deployment stays"
    assert services(station).purges == [(Purged(executions=3), "")]
    assert station.clock.now() == ended_at + EVERY_MS


def test_an_engine_begins_nothing_of_it_in_its_first_second(station: Station) -> None:
    ended(station, 3)
    station.clock.advance_to(station.clock.now() + 2 * DAY_MS)
    keep(station, executions_ms=DAY_MS)
    turn_after(station, 0)
    turn_after(station, FIRST_MS - 1)
    assert left(station) == 4
    turn_after(station, 1)
    assert left(station) == 1


def test_an_execution_waits_for_one_slice_at_most(station: Station) -> None:
    ended(station, MANY)
    station.clock.advance_to(station.clock.now() + 2 * DAY_MS)
    keep(station, executions_ms=DAY_MS)
    turn_after(station, 0)
    row = station.install(node("web", create="each.create"))
    before = left(station)
    counts = []
    turn_after(station, FIRST_MS)
    while left(station) > 2:
        counts.append(before - left(station))
        before = left(station)
        for _ in range(3):
            turn_after(station, 0)
        assert left(station) == before, "between two slices there are turns only"
        turn_after(station, REST_MS)
    assert max(counts) == REMOVED_TOGETHER
    assert len(counts) == 2
    assert station.names() == [("create", "web_1")]
    station.answer(station.find("create", "web_1"))
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_the_loop_waits_no_longer_than_until_the_next_slice(station: Station) -> None:
    now = station.clock.now()
    keeper = Retention(station.store, services(station), station.clock.now, RetentionAges(lines_ms=DAY_MS))
    assert keeper.due_at is None
    keeper.look(now)
    assert keeper.due_at == now + FIRST_MS
    keeper.look(now + FIRST_MS, is_leaving=True)
    assert keeper.due_at == now + FIRST_MS + REST_MS, "an engine that leaves does not turn all the time"


def test_old_lines_go_and_their_executions_stay(station: Station) -> None:
    ended(station, 2, lines=5)
    station.clock.advance_to(station.clock.now() + 2 * DAY_MS)
    keep(station, lines_ms=DAY_MS)
    for _ in range(2):
        turn_after(station, FIRST_MS)
    assert [len(station.store.logs(row.number)) for row in station.store.executions()] == [0, 1, 1]
    assert services(station).purges == [(Purged(logs=8), "")]


def test_an_engine_that_leaves_removes_nothing(station: Station) -> None:
    ended(station, 2)
    station.clock.advance_to(station.clock.now() + 2 * DAY_MS)
    keep(station, executions_ms=DAY_MS)
    turn_after(station, 0)
    station.engine.interrupt()
    turn_after(station, FIRST_MS)
    assert left(station) == 3
    station.engine.go_on()
    turn_after(station, 0)
    assert left(station) == 3
    station.engine.close(0)
    turn_after(station, FIRST_MS)
    assert left(station) == 3


class Damaged(MemoryStore):
    """A store in which old rows cannot be read."""

    begun = 0

    def purging(self, rules: PurgeRules) -> "Damaged":  # type: ignore[override]  # a purge that fails
        self.begun += 1
        return self

    def slice(self) -> Purged:
        raise problem_error("PL-S003", "the store is damaged: a row", "restore the file from a backup")


def test_a_row_that_cannot_be_read_ends_the_round_and_not_the_engine(station: Station) -> None:
    store, told = Damaged(station.clock), services(station)
    keeper = Retention(store, told, station.clock.now, RetentionAges(executions_ms=DAY_MS))
    keeper.look(0)
    keeper.look(FIRST_MS)
    ((removed, trouble),) = told.purges
    assert (removed, trouble[:7]) == (Purged(), "PL-S003")
    keeper.look(FIRST_MS + EVERY_MS - 1)
    assert store.begun == 1
    keeper.look(FIRST_MS + EVERY_MS)
    assert store.begun == 2


def test_an_age_before_the_beginning_of_time_removes_nothing() -> None:
    store = MemoryStore(a.FakeClock())
    services = PlainServices(lambda *_: None)  # type: ignore[arg-type,return-value]  # no call is made
    keeper = Retention(store, services, lambda: 5, RetentionAges(10, 10))
    assert keeper._rules(5) == PurgeRules(0, 0)
