"""Signals at the door: what sleeps finds them at its next call, whatever crashes between (spec of hooks, section 11)."""

import pytest
from tests.run.engines import ANN, Station
from tests.run.test_requests import answer, ask, code, look
from tests.run.yard import Yard, installed, phase

from phaseline.model.blueprint import Value
from phaseline.model.breakpoints import Breakpoint
from phaseline.model.rows import ExecutionRow, RequestKind, Turn
from phaseline.model.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.run.signals import SIGNALED
from phaseline.testing.builders import node

CREATE = "cloudify.interfaces.lifecycle.create"
HOUR_MS = 3_600_000


@pytest.fixture
def station() -> Station:
    return Station()


def asleep(station: Station, result: Value = None) -> tuple[ExecutionRow, dict[str, Value]]:
    """An install whose only call has said ``again``, and what a request names to mean it."""
    row = station.install(node("db", create="each_again.create"))
    one = station.find("create", "db_1")
    station.answer(one, OutcomeKind.AGAIN, delay_ms=HOUR_MS, message="not yet", result=result)
    assert station.called() == []
    if result is not None:  # as whoever called it has done
        station.deployments.data(one.graph)[one.position] = result
    return row, {"graph": one.graph, "positions": [one.position]}


def kept(station: Station, spot: dict[str, Value]) -> tuple[Value, Value]:
    """What the next call of the entry finds, and what the store has of it."""
    graph, (position,) = spot["graph"], spot["positions"]
    (note,) = [note for note in station.store.notes(graph) if note.position == position]
    return station.deployments.data(graph)[position], note.result


def test_h_a_signal_is_found_by_the_call_that_it_wakes_and_is_told(station: Station) -> None:
    row, spot = asleep(station, {"job": 4})
    assert answer(station, ask(station, RequestKind.SIGNAL, row, **spot, data={"ready": True})) == {"done": True}
    assert station.names() == [("create", "db_1")]
    wanted = {"job": 4, "signals": [{"ready": True}]}
    assert kept(station, spot) == (wanted, wanted)
    (told,) = station.events(row, SIGNALED)
    assert (told.message, told.actor, told.operation, told.instance) == ('Signal: {"ready": true}', "ann", CREATE, 0)
    (note,) = [note for note in station.store.notes(spot["graph"]) if note.result]
    assert note.message == "not yet"


def test_h_a_signal_is_stored_answered_and_told_in_the_turn_that_wakes(station: Station) -> None:
    row, spot = asleep(station)
    asked = ask(station, RequestKind.SIGNAL, row, **spot, data=1)
    (turn,) = [turn for turn in station.journal if isinstance(turn, Turn) and turn.payload.answers]
    assert [one.request for one in turn.payload.answers] == [asked]
    assert [remark.result for remark in turn.payload.remarks] == [{"signals": [1]}]
    assert [event.type for event in turn.payload.events] == [SIGNALED]
    assert [len(batch) for batch in turn.changes.opened] == [1]


def test_h_signals_that_come_before_the_call_are_kept_in_their_order(station: Station) -> None:
    row, spot = asleep(station)
    body = {"id": row.id, **spot}
    for data in ("one", None):
        station.store.ask(RequestKind.SIGNAL, row.number, {**body, "data": data}, ANN)
    look(station)
    assert kept(station, spot) == ({"signals": ["one", None]},) * 2
    assert station.names() == [("create", "db_1")]


def test_h_a_crash_between_a_signal_and_the_call_loses_neither(station: Station) -> None:
    row, spot = asleep(station, {"job": 4})
    ask(station, RequestKind.SIGNAL, row, **spot, data="go")
    station.crash()
    station.engine.recover()
    station.settle()
    assert station.names() == [("create", "db_1")]
    assert kept(station, spot)[0] == {"job": 4, "signals": ["go"]}
    assert len(station.events(row, SIGNALED)) == 1
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_h_a_signal_that_nobody_had_looked_at_is_given_once_by_the_next_engine(station: Station) -> None:
    row, spot = asleep(station)
    body = {"id": row.id, **spot, "data": "go"}
    station.store.ask(RequestKind.SIGNAL, row.number, body, ANN)
    station.crash()  # the new one takes the execution up because of the signal
    look(station)
    assert station.names() == [("create", "db_1")]
    assert kept(station, spot) == ({"signals": ["go"]},) * 2
    station.crash()
    station.engine.recover()
    look(station)
    assert kept(station, spot)[0] == {"signals": ["go"]}


def test_h_whoever_was_called_meanwhile_is_left_alone(station: Station) -> None:
    row, spot = asleep(station)
    station.wait_until_due()
    assert code(station, ask(station, RequestKind.SIGNAL, row, **spot, data=1)) == "PL-C093"
    one = station.find("create", "db_1")
    assert station.entry(one) is EntryStatus.RUNNING
    assert station.deployments.data(one.graph) == {}
    station.complete_all()
    assert code(station, ask(station, RequestKind.SIGNAL, row, **spot, data=1)) == "PL-C017"
    assert station.events(row, SIGNALED) == []


def test_h_an_operation_keeps_what_it_has_under_that_key(station: Station) -> None:
    row, spot = asleep(station, {"signals": "mine"})
    assert code(station, ask(station, RequestKind.SIGNAL, row, **spot, data=1)) == "PL-C093"
    assert kept(station, spot)[0] == {"signals": "mine"}
    assert station.called() == []


def test_h_a_phase_of_a_node_that_sleeps_finds_a_signal_as_well() -> None:
    yard = Yard(phase("A"), phase("B"), phase("Late", "Installation"))
    row = installed(yard)
    yard.answer(yard.find("A", "web_1"), OutcomeKind.AGAIN, delay_ms=HOUR_MS)
    graph, position = yard.spots("web_1")["A"]
    yard.ask(RequestKind.SIGNAL, row, graph=graph, positions=[position], data="go")
    assert yard.answer_to == {"done": True}
    assert [name for name, _ in yard.runs()[2:]] == ["A"]
    assert yard.deployments.data(graph)[position] == {"signals": ["go"]}
    (told,) = yard.events(row, SIGNALED)
    assert (told.operation, told.actor) == ("A", "ann")


def test_h_whoever_stands_at_a_breakpoint_waits_for_a_person(station: Station) -> None:
    row = station.install(node("db", create="each_again.create"), breakpoints=(Breakpoint("pre-create"),))
    (one,) = station.called()
    station.answer(one, OutcomeKind.AGAIN, delay_ms=HOUR_MS)
    spot: dict[str, Value] = {"graph": one.graph, "positions": [one.position]}
    assert code(station, ask(station, RequestKind.SIGNAL, row, **spot, data=1)) == "PL-C093"
    assert station.called() == []
