"""What an engine does whose lease is late or lost (HA2)."""

import pytest
from tests.run.engines import Station
from tests.run.loop.test_request_reader import LOOK_MS

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError
from phaseline.testing.builders import node

TWO = (node("db", create="each_again.create"), node("web", to=["db"], create="each_again.create"))


@pytest.fixture
def station() -> Station:
    return Station()


def nudge(station: Station) -> None:
    """One turn that does not wait."""
    station.inbox.wake()
    station.engine.turn()


def test_ha2_while_the_lease_is_late_outcomes_are_stored_and_no_call_begins(station: Station) -> None:
    row = station.install(*TWO)
    station.lease.late = True
    station.complete("create", "db_1")
    assert station.executor.is_held
    assert not station.called()
    assert station.states(row)["db_1"] == "started"


def test_ha2_calls_begin_again_when_the_lease_is_renewed(station: Station) -> None:
    row = station.install(*TWO)
    station.lease.late = True
    station.complete("create", "db_1")
    station.lease.late = False
    nudge(station)
    station.settle()
    assert not station.executor.is_held
    assert station.names() == [("create", "web_1")]
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_ha2_a_renewed_lease_does_not_withdraw_a_request_to_leave(station: Station) -> None:
    station.install(*TWO)
    station.lease.late = True
    nudge(station)
    station.engine.interrupt()
    station.lease.late = False
    nudge(station)
    assert station.executor.is_held
    assert station.engine.leaving.is_wanted


def test_ha2_an_engine_whose_lease_is_lost_takes_in_nothing_and_ends(station: Station) -> None:
    row = station.install(*TWO)
    report = station.report(station.find("create", "db_1"))
    before = len(station.journal)
    station.lease.lost = True
    station.inbox.post(report)
    with pytest.raises(ProblemsError) as caught:
        station.engine.turn()
    assert caught.value.problems[0].code == "PL-S004"
    assert len(station.journal) == before, "it committed or called something"
    assert station.states(row)["db_1"] == "creating"


def test_ha3_a_lease_that_is_lost_during_a_commit_hands_nothing_out(station: Station) -> None:
    row = station.install(*TWO)
    report = station.report(station.find("create", "db_1"))
    batches = set(station.executor.batches)
    station.lease.lost_after = station.lease.asked + 1  # the first question of the turn still finds it held
    station.inbox.post(report)
    with pytest.raises(ProblemsError) as caught:
        station.engine.turn()
    assert caught.value.problems[0].code == "PL-S004"
    assert station.states(row)["db_1"] == "started", "the turn was committed"
    assert set(station.executor.batches) == batches


def test_ha2_an_idle_engine_notices_that_its_lease_is_lost(station: Station) -> None:
    station.install(*TWO)
    station.lease.lost = True
    station.clock.advance_to(station.clock.now() + LOOK_MS)
    with pytest.raises(ProblemsError) as caught:
        station.engine.run(lambda: False)
    assert caught.value.problems[0].code == "PL-S004"
