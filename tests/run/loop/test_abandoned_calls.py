"""A call that was given up and still runs: no retry overlaps with it unless it may be repeated, and a kill still reaches it."""

import pytest
from tests.run.engines import ANN, Called, Station
from tests.run.loop.test_request_reader import ask, code, look

from phaseline.model.blueprint.blueprint import Node
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.graph.status import EntryStatus, ExecutionStatus
from phaseline.model.rows.rows import ExecutionRow, RequestKind
from phaseline.plan.requests.request_problems import problem_of
from phaseline.testing.builders import node

TWO = (node("db", create="each.create", instances=2), node("web", to=["db"], create="each.create"))


@pytest.fixture
def station() -> Station:
    return Station()


def given_up(station: Station, *nodes: Node) -> tuple[ExecutionRow, list[Called]]:
    """An install of which two calls run that nobody waits for any more."""
    row = station.install(*(nodes or TWO))
    out = station.called()
    assert len(out) == 2
    ask(station, RequestKind.CANCEL, row, how="force")
    assert station.status(row) is ExecutionStatus.CANCELED
    return station.row(row), out


def retry(station: Station, row: ExecutionRow, *chosen: Called) -> int:
    if not chosen:
        return ask(station, RequestKind.RETRY, row)
    return ask(station, RequestKind.RETRY, row, graph=chosen[0].graph, positions=[one.position for one in chosen])


def test_decision_1_a_retry_is_refused_while_a_given_up_call_still_runs(station: Station) -> None:
    row, out = given_up(station)
    request = retry(station, row)
    assert code(station, request) == "PL-C028"
    problem = problem_of(station.store.answer_of(request) or {})
    assert problem is not None
    assert "'create' of db_1, db_2 was given up and still runs" in problem.message
    assert station.status(row) is ExecutionStatus.CANCELED
    assert [one.batch for one in station.called()] == [one.batch for one in out]


def test_decision_1_it_is_let_through_when_all_of_them_have_returned(station: Station) -> None:
    row, (one, two) = given_up(station)
    station.answer(one, properties={"vm": 1})
    assert code(station, retry(station, row)) == "PL-C028"
    station.answer(two)
    assert station.entry(two) is EntryStatus.UNSURE  # what comes late moves nothing (decision 2)
    retry(station, row)
    assert sorted(station.names()) == [("create", "db_1"), ("create", "db_2")]
    assert {found.generation for found in station.called()} == {1}


def test_decision_1_one_that_has_returned_may_be_retried_beside_one_that_runs(station: Station) -> None:
    row, (one, two) = given_up(station)
    station.answer(one)
    assert code(station, retry(station, row, two)) == "PL-C028"
    retry(station, row, one)
    assert station.names().count(("create", one.instance)) == 1
    assert station.status(row) is ExecutionStatus.RUNNING


def test_decision_1_what_may_be_repeated_is_not_waited_for(station: Station) -> None:
    station.declaring = lambda _: Declaration(repeatable=True)
    row, out = given_up(station)
    assert station.entry(out[0]) is EntryStatus.CANCELED
    retry(station, row)
    assert station.status(row) is ExecutionStatus.RUNNING
    assert len(station.called()) == 4


def test_a_cancel_and_a_retry_that_are_asked_at_once_do_not_overlap_either(station: Station) -> None:
    row = station.install(*TWO)
    station.store.ask(RequestKind.CANCEL, row.number, {"id": row.id, "how": "force"}, ANN)
    request = station.store.ask(RequestKind.RETRY, row.number, {"id": row.id}, ANN)
    look(station)
    assert code(station, request) == "PL-C028"


def test_a_kill_reaches_what_was_given_up_before(station: Station) -> None:
    row, out = given_up(station, node("db", create="scripts/create.sh", instances=2))
    request = ask(station, RequestKind.CANCEL, row, how="kill")
    assert (station.store.answer_of(request) or {})["done"]
    stopped = station.executor.canceled
    killed = {(batch, member) for batch, members, is_killed in stopped for member in members if is_killed}
    assert killed == {(one.batch, one.member) for one in out}
    problem = problem_of(station.store.answer_of(retry(station, row)) or {})
    assert problem is not None
    assert problem.mend.startswith("its processes are being ended;")
    for one in out:
        station.answer(one)
    assert not station.engine._outstanding.killed
    assert station.status(row) is ExecutionStatus.CANCELED


def test_a_kill_of_what_has_ended_and_runs_no_more_is_refused(station: Station) -> None:
    row, out = given_up(station)
    for one in out:
        station.answer(one)
    assert code(station, ask(station, RequestKind.CANCEL, row, how="kill")) == "PL-C017"
    assert code(station, ask(station, RequestKind.CANCEL, row, how="force")) == "PL-C017"
