"""``--on-failure rollback``: what a failed install has made is taken away again, in the same execution, which can be tried again."""

import pytest
from tests.run.engines import Station

from phaseline.model.execution.execution import Request, StopAfter
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.model.rows.rows import ExecutionRow
from phaseline.plan.requests.request_validation import check
from phaseline.testing.builders import node

OPERATIONS = {"create": "each.create", "start": "each.start", "stop": "each.stop", "delete": "each.delete"}
DB = node("db", **OPERATIONS)
WEB = node("web", to=["db"], **OPERATIONS)
NOTE = node("note", to=["web"])
TAKEN_BACK = {"take_back": True, "stop_after": StopAfter(failures=0)}


@pytest.fixture
def station() -> Station:
    return Station()


def failed_at(station: Station, operation: str) -> ExecutionRow:
    """An install whose ``web`` fails there for good."""
    row = station.install(DB, WEB, NOTE, **TAKEN_BACK)
    while ("web_1", operation) not in [(one.instance, one.phase) for one in station.called()]:
        station.answer(station.called()[0])
    station.answer(station.find(operation, "web_1"), OutcomeKind.FAILED, message="no room")
    return row


def done(station: Station) -> list[tuple[str, str]]:
    """Answer all calls; their names in order."""
    made = []
    while out := station.called():
        made += [(one.phase, one.instance) for one in out]
        for one in out:
            station.answer(one)
    return made


def test_what_was_made_is_taken_away_and_nothing_is_stopped_that_had_not_begun_to_start(station: Station) -> None:
    row = failed_at(station, "create")
    assert done(station) == [("delete", "web_1"), ("stop", "db_1"), ("delete", "db_1")]
    assert station.status(row) is ExecutionStatus.FAILED
    assert station.row(row).reason.endswith("what it had made was taken back")
    assert {station.states(row)[id] for id in ("db_1", "web_1")} == {"deleted"}
    assert station.states(row)["note_1"] == "uninitialized"


def test_what_had_begun_to_start_is_stopped(station: Station) -> None:
    failed_at(station, "start")
    assert done(station)[:2] == [("stop", "web_1"), ("delete", "web_1")]


def test_what_was_there_before_stays(station: Station) -> None:
    deployment = station.install(DB, WEB, NOTE).deployment
    done(station)
    station.submit(deployment, "uninstall", parameters={"node_ids": ["web"]})
    done(station)
    row = station.submit(deployment, "install", **TAKEN_BACK)
    station.answer(station.find("create", "web_1"), OutcomeKind.FAILED, message="no room")
    assert done(station) == [("delete", "web_1")]
    assert station.states(row)["db_1"] == "started"


def test_failures_on_the_way_back_are_ignored_and_told(station: Station) -> None:
    row = failed_at(station, "create")
    station.answer(station.find("delete", "web_1"), OutcomeKind.FAILED, message="stuck")
    done(station)
    assert "as far as it could be: 1 failure was ignored" in station.row(row).reason


def test_a_retry_installs_anew(station: Station) -> None:
    row = failed_at(station, "create")
    done(station)
    station.engine.retry(station.row(row))
    station.settle()
    assert done(station) == [("create", "db_1"), ("start", "db_1"), ("create", "web_1"), ("start", "web_1")]
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_the_way_back_survives_a_crash(station: Station) -> None:
    row = failed_at(station, "create")
    station.answer(station.find("delete", "web_1"))
    station.crash()
    station.engine.recover()
    station.settle()
    station.engine.retry(station.row(row), include_unsure=True)
    station.settle()
    done(station)
    assert station.states(row)["db_1"] in {"deleted", "started"}
    assert station.status(row).is_ended


def test_who_cancels_wants_no_way_back(station: Station) -> None:
    row = station.install(DB, WEB, NOTE, **TAKEN_BACK)
    station.engine.cancel(row.number)
    done(station)
    assert station.status(row) is ExecutionStatus.CANCELED
    assert station.states(row)["db_1"] != "deleted"


def test_workflows_that_make_nothing_refuse_it(station: Station) -> None:
    row = station.install(DB, WEB, NOTE)
    problems = check(station.store.topology(row.deployment), Request("uninstall", take_back=True))
    assert [problem.code for problem in problems] == ["PL-P035"]
