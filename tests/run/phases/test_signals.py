"""Signals at the door: what sleeps finds them at its next call, whatever crashes between (spec of hooks, section 11)."""

import pytest
from tests.run.engines import ANN, Station
from tests.run.loop.test_request_reader import answer, ask, code, look
from tests.run.phases.test_path_requests import data
from tests.run.yard import Yard, installed, phase

from phaseline.model.blueprint.blueprint import Value
from phaseline.model.execution.breakpoints import Breakpoint
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.model.rows.rows import ExecutionRow, RequestKind, Turn
from phaseline.plan.requests.request_problems import problem_of
from phaseline.run.phases.signals import MOST_SIGNALS, SIGNALED
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
    for said in ("one", None):
        station.store.ask(RequestKind.SIGNAL, row.number, {**body, "data": said}, ANN)
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


def test_h_a_phase_of_a_node_that_sleeps_finds_a_signal_in_its_phase_data() -> None:
    yard = Yard(phase("A"), phase("B"), phase("Late", "Installation"))
    row = installed(yard)
    yard.answer(yard.find("A", "web_1"), OutcomeKind.AGAIN, delay_ms=HOUR_MS, properties=data("A", Job=4))
    graph, position = yard.spots("web_1")["A"]
    yard.ask(RequestKind.SIGNAL, row, graph=graph, positions=[position], data="go")
    assert yard.answer_to == {"done": True}
    assert [name for name, _ in yard.runs()[2:]] == ["A"]
    assert yard.data("web_1", "A") == {"Job": 4, "signals": ["go"]}
    (told,) = yard.events(row, SIGNALED)
    assert (told.operation, told.actor) == ("A", "ann")


# resources


def asleep_in_yard(*names: str, **kept: Value) -> tuple[Yard, ExecutionRow]:
    """Resources whose phase X sleeps; ``kept``: what it keeps with each."""
    yard = Yard(phase("X"), phase("Y"))
    row = yard.start(*names)
    for name in names:
        yard.answer(yard.find("X", name), OutcomeKind.AGAIN, delay_ms=HOUR_MS, properties=data("X", **kept))
    return yard, row


def test_h_phases_of_many_resources_get_a_signal_in_one_turn_and_are_called_together() -> None:
    names = [f"n{number}" for number in range(40)]
    yard, row = asleep_in_yard(*names, Job=4)
    before, calls = len(yard.journal), len(yard.runs())
    yard.about(RequestKind.SIGNAL, "X", *names, data={"ready": True})
    (turn,) = [one for one in yard.journal[before:] if isinstance(one, Turn) and one.payload.answers]
    assert len(turn.payload.documents) == len(turn.payload.events) == len(names)
    assert [len(batch) for batch in turn.changes.opened] == [len(names)]
    assert yard.runs()[calls:] == [("X", names)]
    assert [yard.data(name, "X") for name in names] == [{"Job": 4, "signals": [{"ready": True}]}] * len(names)
    told = yard.events(row, SIGNALED)
    assert {(one.message, one.operation, one.actor) for one in told} == {('Signal: {"ready": true}', "X", "ann")}
    assert sorted(one.instance for one in told) == list(range(len(names)))


def test_h_signals_to_a_phase_are_kept_in_their_order_under_the_name_that_it_has_for_them() -> None:
    yard, row = asleep_in_yard("a", Signals=["zero"])
    graph, position = yard.spots("a")["X"]
    body: dict[str, Value] = {"id": row.id, "chosen": [[graph, [position]]]}
    for said in ("one", None):
        yard.store.ask(RequestKind.SIGNAL, row.number, {**body, "data": said}, ANN)
    look(yard)
    assert yard.data("a", "X") == {"Signals": ["zero", "one", None]}


@pytest.mark.parametrize("crashes", ["before it is looked at", "before the call", "during the call"])
def test_h_a_signal_to_a_phase_outlives_a_crash_between_any_two_commits(crashes: str) -> None:
    yard, row = asleep_in_yard("a", "b")
    graph, position = yard.spots("a")["X"]
    if crashes == "before it is looked at":
        body: dict[str, Value] = {"id": row.id, "chosen": [[graph, [position]]], "data": "go"}
        yard.store.ask(RequestKind.SIGNAL, row.number, body, ANN)
        yard.crash()
        look(yard)
    else:
        yard.about(RequestKind.SIGNAL, "X", "a", data="go")
    for _ in range(2 if crashes == "during the call" else 1):
        yard.crash()
        assert (yard.stay("a")["X"], yard.stay("b")["X"]) == ("running", "sleeping")
        assert (yard.data("a", "X"), yard.data("b", "X")) == ({"signals": ["go"]}, {})
        assert len(yard.events(row, SIGNALED)) == 1


def test_h_nobody_gets_a_signal_that_one_of_them_cannot_take() -> None:
    yard, row = asleep_in_yard("a", "b")
    for said in ({"Name": 1, "name": 2}, {"$expr": "1 +"}):
        yard.about(RequestKind.SIGNAL, "X", "a", "b", data=said)
        assert yard.answer_to["problem"]["code"] in {"PL-R002", "PL-R005"}
    yard.pass_time(HOUR_MS / 1000)
    assert yard.stay("a")["X"] == "running"
    yard.about(RequestKind.SIGNAL, "X", "a", data="late")
    assert yard.answer_to["problem"]["code"] == "PL-C093"
    yard.answer(yard.find("X", "a"), OutcomeKind.AGAIN, delay_ms=HOUR_MS, properties=data("X", signals="mine"))
    yard.answer(yard.find("X", "b"), OutcomeKind.AGAIN, delay_ms=HOUR_MS)
    yard.about(RequestKind.SIGNAL, "X", "a", "b", data="late")
    assert yard.answer_to["problem"]["code"] == "PL-C093"
    assert (yard.data("a", "X"), yard.data("b", "X"), yard.events(row, SIGNALED)) == ({"signals": "mine"}, {}, [])
    assert yard.stay("b")["X"] == "sleeping"


def test_h_a_signal_to_a_resource_that_has_another_target_is_refused() -> None:
    yard, row = asleep_in_yard("a", "b")
    graph, position = yard.spots("a")["X"]
    yard.reach("Terminated", "a")
    yard.ask(RequestKind.SIGNAL, row, chosen=[[graph, [position]]], data="go")
    assert yard.answer_to["problem"]["code"] == "PL-C093"
    assert yard.data("a", "X") == {}


def test_h_unread_signals_have_a_bound(station: Station) -> None:
    full: list[Value] = [0] * MOST_SIGNALS
    yard, _ = asleep_in_yard("a", signals=full)
    yard.about(RequestKind.SIGNAL, "X", "a", data=1)
    assert yard.answer_to["problem"]["code"] == "PL-C093"
    row, spot = asleep(station, {"signals": full})
    assert code(station, ask(station, RequestKind.SIGNAL, row, **spot, data=1)) == "PL-C093"


def test_h_whoever_stands_at_a_breakpoint_waits_for_a_person(station: Station) -> None:
    row = station.install(node("db", create="each_again.create"), breakpoints=(Breakpoint("pre-create"),))
    (one,) = station.called()
    station.answer(one, OutcomeKind.AGAIN, delay_ms=HOUR_MS)
    spot: dict[str, Value] = {"graph": one.graph, "positions": [one.position]}
    told = problem_of(answer(station, ask(station, RequestKind.SIGNAL, row, **spot, data=1)))
    assert told is not None
    assert (told.code, told.message) == ("PL-C093", "the signal was not given: 'db_1' is stopped at pre-create")
    assert told.mend.startswith("clear it first: phaseline breakpoints clear pre-create db_1 -d ")
    assert station.called() == []
