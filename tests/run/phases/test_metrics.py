"""What an engine measures of its work with phases, and what others read of it (phases.md, section 12)."""

import os

from tests.run.yard import Yard, phase

from phaseline.compat.cyclecloud.state_event import StateEvent
from phaseline.model.graph.status import OutcomeKind
from phaseline.use_cases.queries.resources.engine_metrics import ListenersNow, PoolNow, TimersNow, engine_now
from phaseline.use_cases.queries.resources.phase_activity import phases_now


def told(yard: Yard) -> None:
    """A second goes by, and the engine looks up."""
    yard.clock.advance_to(yard.clock.now() + 1_000)
    yard.engine.turn()


def test_resources_that_wait_for_a_run_to_end_have_waited_together() -> None:
    yard = Yard(phase("X"))
    yard.start("a")
    yard.start("b", "c")  # X runs: they wait for its next run
    yard.pass_time(3)
    yard.complete("X", "a")
    assert yard.runs() == [("X", ["a"]), ("X", ["b", "c"])]
    told(yard)
    now = phases_now(yard.store, yard.store.listings.phase_tables())["x"]
    assert (now.called, now.waited_ms, now.mean_wait_ms) == (3, 2 * 3_000, 2_000)
    assert (now.runs, now.run_ms) == (2, 3_000)


def test_whoever_is_called_at_once_has_not_waited() -> None:
    yard = Yard(phase("X"))
    yard.start("a", "b")
    told(yard)
    now = phases_now(yard.store, yard.store.listings.phase_tables())["x"]
    assert (now.called, now.waited_ms, now.mean_wait_ms) == (2, 0, 0)


def test_how_late_a_sleeper_is_woken() -> None:
    yard = Yard(phase("X"))
    yard.start("a")
    yard.answer(yard.find("X", "a"), OutcomeKind.AGAIN, delay_ms=5_000)
    told(yard)
    yard.clock.advance_to(yard.clock.now() + 6_000)
    yard.engine.turn()
    told(yard)
    found = engine_now(yard.store)
    assert found is not None
    assert found.timers == TimersNow(wakings=1, lag_ms=2_000, mean_lag_ms=2_000, longest_lag_ms=2_000)


def test_how_busy_an_engine_is_is_stored_at_most_once_a_second_and_only_where_it_changed() -> None:
    yard = Yard(phase("X"))
    assert engine_now(yard.store) is None
    yard.start("a")
    told(yard)
    first = engine_now(yard.store)
    assert first is not None
    assert first.pools["bulk"].busy == 1
    assert first.pools["listeners"] == PoolNow(2, 0)
    assert first.measured_at == yard.clock.now()
    yard.complete("X", "a")
    assert engine_now(yard.store) == first, "not a second later"
    told(yard)
    second = engine_now(yard.store)
    assert second is not None
    assert second.pools["bulk"] == PoolNow(first.pools["bulk"].size, 0)
    told(yard)
    assert engine_now(yard.store) == second


def test_figures_of_phases_go_on_with_the_next_engine_and_those_of_an_engine_end_with_it() -> None:
    yard = Yard(phase("X"))
    heard = yard.hear("Started")
    yard.start("a")
    yard.complete("X", "a")
    assert heard.wait(1) == [("Started", ["a"])]
    yard.engine.close(1)
    yard.store.disown()
    ended = engine_now(yard.store)
    assert ended is not None
    assert (ended.is_running, ended.listeners) == (False, ListenersNow(waiting=0, told=1, errors=0, dropped=0))
    yard.begin_engine()
    yard.start("b")
    told(yard)
    assert phases_now(yard.store, yard.store.listings.phase_tables())["x"].called == 2
    again = engine_now(yard.store)
    assert again is not None
    assert again.listeners.told == 0
    assert yard.store.measures()["engine"].body["pid"] == os.getpid()


def test_listeners_that_raise_and_events_for_which_there_was_no_room_are_counted() -> None:
    yard = Yard()
    heard = yard.hear("Started")

    def angry(event: StateEvent) -> None:
        heard(event)
        raise ValueError

    yard.source.functions["hear"] = angry
    yard.start("a")
    assert heard.wait(1) == [("Started", ["a"])]
    listeners = yard.engine.phases.listeners
    listeners.most_waiting = 0
    yard.start("b")
    yard.engine.close(5)
    yard.store.disown()
    found = engine_now(yard.store)
    assert found is not None
    assert (found.listeners.errors, found.listeners.dropped, found.listeners.told) == (1, 1, 1)


def test_a_blueprint_without_phases_measures_nothing() -> None:
    yard = Yard()
    yard.engine.turn()
    told(yard)
    assert yard.store.measures() == {}
