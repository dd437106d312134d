"""The door between processes: what is asked is carried out and answered in one commit, or refused with the reason."""

import os
from collections.abc import Mapping

import pytest
from tests.run.engines import ANN, Station

from phaseline.model.blueprint.blueprint import Value
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.model.rows.rows import ExecutionRow, RequestKind, Turn
from phaseline.plan.requests.request_problems import problem_of
from phaseline.run.loop.request_reader import LOOK_MS
from phaseline.testing.builders import node

TWO_TIERS = (node("db", create="each.create"), node("web", to=["db"], create="each.create"))


@pytest.fixture
def station() -> Station:
    return Station()


def ask(station: Station, kind: RequestKind, row: ExecutionRow | None, **body: Value) -> int:
    """Ask, and let the owner look."""
    told = {"id": row.id, **body} if row is not None else body
    number = station.store.ask(kind, row.number if row is not None else 0, told, ANN)
    look(station)
    return number


def look(station: Station) -> None:
    station.clock.advance_to(station.clock.now() + LOOK_MS)
    station.engine.turn()
    station.settle()


def answer(station: Station, request: int) -> Mapping[str, Value]:
    found = station.store.answer_of(request)
    assert found is not None
    return found


def code(station: Station, request: int) -> str:
    problem = problem_of(answer(station, request))
    assert problem is not None
    return problem.code


def asked_install(station: Station, name: str = "app") -> ExecutionRow:
    """Stored by somebody else: the owner hears of it at the door."""
    row = station.stored(station.deployment(*TWO_TIERS, name=name))
    station.store.ask(RequestKind.START, row.number, {"id": row.id}, ANN)
    return row


def failed_install(station: Station) -> ExecutionRow:
    row = station.install(*TWO_TIERS)
    station.answer(station.find("create", "db_1"), OutcomeKind.FAILED, message="no room")
    assert station.status(row) is ExecutionStatus.FAILED
    return station.row(row)


def test_what_others_began_is_taken_up_together(station: Station) -> None:
    rows = [asked_install(station, "one"), asked_install(station, "two")]
    look(station)
    assert [one.execution for one in station.called()] == [row.number for row in rows]
    assert station.status(rows[0]) is ExecutionStatus.RUNNING
    assert [event.type for event in station.events(rows[1])] == ["workflow_started"]


def test_a_start_that_was_recovered_already_is_answered_and_begins_nothing_twice(station: Station) -> None:
    row = asked_install(station)
    station.engine.recover()
    look(station)
    assert station.names() == [("create", "db_1")]
    assert [event.type for event in station.events(row)] == ["workflow_started"]
    assert not station.store.requests()


def test_the_answer_is_committed_with_what_was_asked_for(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    request = ask(station, RequestKind.CANCEL, row, how="force")
    (turn,) = [turn for turn in station.journal if isinstance(turn, Turn) and turn.payload.answers]
    assert [answer.request for answer in turn.payload.answers] == [request]
    assert turn.changes.executions[0].status is ExecutionStatus.CANCELING
    assert station.status(row) is ExecutionStatus.CANCELED
    assert answer(station, request) == {"done": True}


def test_a_request_is_left_to_the_next_owner(station: Station) -> None:
    row = asked_install(station)
    request = station.store.ask(RequestKind.CANCEL, row.number, {"id": row.id}, ANN)
    station.crash()
    look(station)
    assert answer(station, request) == {"done": True}
    assert station.status(row) is ExecutionStatus.CANCELED
    assert not station.called()


def test_what_has_ended_cannot_be_canceled(station: Station) -> None:
    row = failed_install(station)
    assert code(station, ask(station, RequestKind.CANCEL, row)) == "PL-C017"


def test_a_retry_goes_on_and_a_second_one_of_the_same_look_does_no_harm(station: Station) -> None:
    row = failed_install(station)
    first = station.store.ask(RequestKind.RETRY, row.number, {"id": row.id}, ANN)
    second = ask(station, RequestKind.RETRY, row)
    assert (answer(station, first), answer(station, second)) == ({"done": True}, {"done": True})
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED
    assert code(station, ask(station, RequestKind.RETRY, row)) == "PL-C017"


def test_a_retry_of_some_names_graph_and_positions(station: Station) -> None:
    row = failed_install(station)
    graph = station.store.graphs(row.number)[-1].id
    request = ask(station, RequestKind.RETRY, row, graph=graph, positions=[0])
    assert answer(station, request) == {"done": True}
    assert len(station.names()) <= 1


def test_of_two_ended_executions_of_a_deployment_one_look_reopens_only_one(station: Station) -> None:
    first = failed_install(station)
    second = station.stored(first.deployment)
    station.engine.submit(second)
    station.settle()
    station.answer(station.find("create", "db_1"), OutcomeKind.FAILED)
    asked = station.store.ask(RequestKind.RETRY, first.number, {"id": first.id}, ANN)
    refused = ask(station, RequestKind.RETRY, second)
    assert answer(station, asked) == {"done": True}
    assert code(station, refused) == "PL-C016"


def test_complete_by_hand_carries_reason_and_actor(station: Station) -> None:
    row = failed_install(station)
    graph = station.store.graphs(row.number)[-1].id
    failed: list[Value] = [
        at for at, status in enumerate(station.store.statuses(graph)) if status == EntryStatus.FAILED
    ]
    ask(station, RequestKind.COMPLETE, row, graph=graph, positions=failed, reason="looked at it")
    told = station.events(row, "completed_by_hand")
    assert [(event.actor, "looked at it" in event.message) for event in told] == [("ann", True)]


def test_wake_lets_sleepers_try_now(station: Station) -> None:
    row = station.install(*TWO_TIERS)
    station.answer(station.find("create", "db_1"), OutcomeKind.AGAIN, delay_ms=3_600_000)
    assert not station.called()
    ask(station, RequestKind.WAKE, row, graph=station.store.graphs(row.number)[-1].id)
    assert station.names() == [("create", "db_1")]


def test_nobody_asks_about_an_execution_that_is_not_there(station: Station) -> None:
    assert code(station, ask(station, RequestKind.CANCEL, None, id="install-99")) == "PL-C011"


def test_a_stop_is_meant_for_one_process(station: Station) -> None:
    request = ask(station, RequestKind.STOP, None, pid=os.getpid() + 1)
    assert answer(station, request) == {"done": False}
    assert not station.engine.is_asked_to_stop


def test_rf7_a_stop_names_the_holder_of_the_lease_whatever_its_process_id_is(station: Station) -> None:
    others = ask(station, RequestKind.STOP, None, holder="another", pid=os.getpid())
    assert answer(station, others) == {"done": False}
    assert not station.engine.is_asked_to_stop
    ours = ask(station, RequestKind.STOP, None, holder=station.lease.holder, pid=os.getpid() + 1)
    assert answer(station, ours) == {"done": True}
    assert station.engine.is_asked_to_stop


def test_asked_to_stop_the_loop_waits_for_calls_no_longer_than_the_drain_time(station: Station) -> None:
    station.install(*TWO_TIERS)
    station.executor.running = 1
    request = ask(station, RequestKind.STOP, None, pid=os.getpid(), drain_s=2.0)
    assert answer(station, request) == {"done": True}
    station.clock.advance_to(station.clock.now() + 2_000)
    station.engine.run(lambda: False)
    assert station.executor.is_held


def test_an_engine_is_idle_when_only_people_can_go_on(station: Station) -> None:
    station.install(*TWO_TIERS)
    assert not station.engine.is_idle
    station.answer(station.find("create", "db_1"), OutcomeKind.UNSURE)
    assert station.engine.is_idle


def test_an_engine_without_phase_plugins_has_nothing_to_read_anew(station: Station) -> None:
    assert answer(station, ask(station, RequestKind.RELOAD, None)) == {"done": False}
