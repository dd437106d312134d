"""What an engine takes from its process and reports to it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.store import builders as a
from tests.store.engines import ScriptedExecutor, turn

from phaseline.model.rows.rows import EventRow
from phaseline.run.loop.engine import Engine
from phaseline.store.memory.store import MemoryStore
from phaseline.testing.clock import VirtualClock
from phaseline.testing.plain_services import PlainServices


class NotingServices(PlainServices):
    """Services that note what the engine reports."""

    def __init__(self) -> None:
        super().__init__(ScriptedExecutor)
        self.types: list[str] = []
        self.turns = 0

    def events_stored(self, engine: Engine, events: Sequence[EventRow]) -> None:
        self.types += [event.type for event in events]

    def turn_ended(self, engine: Engine) -> None:
        self.turns += 1


@contextmanager
def engine_with(services: PlainServices) -> Iterator[Engine]:
    clock = VirtualClock(1_000)
    store = MemoryStore(clock, identity="store")
    a.installed(store)
    with store.own("a test") as lease:
        yield Engine(store, clock, services, lease)


def test_an_engine_reports_its_turns_and_the_events_it_stored() -> None:
    services = NotingServices()
    with engine_with(services) as engine:
        engine.recover()
        assert isinstance(engine.executor, ScriptedExecutor)
        turn(engine, engine.executor, 5)
    assert services.turns == 5
    assert services.types[0] == "workflow_started"


def test_a_reload_answers_with_what_the_process_has_done() -> None:
    with engine_with(PlainServices(ScriptedExecutor)) as engine:
        assert engine.reload() == {"done": False}
    with engine_with(PlainServices(ScriptedExecutor, reloaded=lambda: {"done": True, "phases": 3})) as engine:
        assert engine.reload() == {"done": True, "phases": 3}
