"""H28: an execution whose time is over is canceled, with that as its reason; what still runs has a grace."""

import numpy as np
import pytest
from tests.run.engines import Station

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.execution.execution import History, Request, Round, Verdict
from phaseline.model.execution.pre_post import DeploymentCallKind, PinnedHookClass, PrePost
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.plan.rounds.pre_post_rounds import surrounded
from phaseline.testing.builders import blueprint, node, topology

TWO = (node("db", create="each.create"), node("web", to=["db"], create="each.create"))
CANCELED, CANCELING, COMPLETED = ExecutionStatus.CANCELED, ExecutionStatus.CANCELING, ExecutionStatus.COMPLETED


@pytest.fixture
def station() -> Station:
    return Station()


def test_h28_what_is_not_done_in_time_is_canceled_and_calls_that_run_are_awaited(station: Station) -> None:
    row = station.install(*TWO, timeout_s=60)
    began = station.clock.now()
    station.wait_until_due()
    assert station.clock.now() - began == 60_000
    assert station.status(row) is CANCELING
    one = station.find("create", "db_1")
    assert station.executor.canceled == [(one.batch, [one.member], False)]
    station.answer(one, properties={"vm": 1})
    assert station.status(row) is CANCELED
    assert station.row(row).reason.startswith("timed out after 60 s: ")
    assert station.document(row, "db_1") == {"vm": 1}


def test_h28_what_still_runs_when_the_grace_is_over_is_given_up_and_ended(station: Station) -> None:
    row = station.install(*TWO, timeout_s=60)
    one = station.find("create", "db_1")
    station.wait_until_due()
    began = station.clock.now()
    station.wait_until_due()
    assert station.clock.now() - began == 240_000
    assert station.status(row) is CANCELED
    assert station.entry(one) is EntryStatus.UNSURE
    assert station.executor.canceled[-1] == (one.batch, [one.member], True)
    assert station.engine.wakes_at is None


def test_h28_what_is_done_in_time_is_as_if_there_had_been_no_limit(station: Station) -> None:
    row = station.install(*TWO, timeout_s=60)
    station.complete_all()
    assert (station.status(row), station.engine.wakes_at) == (COMPLETED, None)


def test_h28_whoever_cancels_first_has_canceled_it(station: Station) -> None:
    row = station.install(*TWO, timeout_s=60)
    station.engine.cancel(row.number)
    station.settle()
    station.wait_until_due()
    station.complete_all()
    assert station.status(row) is CANCELED
    assert "timed out" not in station.row(row).reason


@pytest.mark.parametrize("when", ["before", "in the grace"])
def test_h28_the_time_goes_on_through_a_crash(station: Station, when: str) -> None:
    row = station.install(
        node("db", create="each_again.create"), node("web", to=["db"], create="each_again.create"), timeout_s=60
    )
    began = station.clock.now()
    if when == "in the grace":
        station.wait_until_due()
    station.crash()
    station.engine.recover()
    station.settle()
    if when == "before":
        station.wait_until_due()
        assert station.clock.now() - began == 60_000
    for one in station.called():
        station.answer(one)
    assert station.status(row) is CANCELED
    assert station.row(row).reason.startswith("timed out after 60 s")


def test_h28_a_retry_has_the_whole_time_again(station: Station) -> None:
    row = station.install(*TWO, timeout_s=60)
    station.wait_until_due()
    station.complete("create", "db_1")
    assert station.status(row) is CANCELED
    station.clock.advance_to(station.clock.now() + 1_000_000)
    station.engine.retry(station.row(row))
    station.settle()
    began = station.clock.now()
    assert station.names() == [("create", "web_1")]
    station.wait_until_due()
    assert station.clock.now() - began == 60_000
    station.answer(station.find("create", "web_1"), OutcomeKind.COMPLETED)
    assert station.status(row) is COMPLETED or station.row(row).reason.startswith("timed out")


def test_h28_sleepers_of_it_are_not_awaited(station: Station) -> None:
    row = station.install(node("db", create="each.create"), timeout_s=60)
    station.answer(station.find("create", "db_1"), OutcomeKind.AGAIN, delay_ms=500_000)
    station.wait_until_due()
    assert station.status(row) is CANCELED


def test_h28_post_hooks_are_told_that_the_time_was_over() -> None:
    around = PrePost((PinnedHookClass("a", "made.up:A", "CREATE"),))
    planner = surrounded(lambda *_: Verdict(CANCELED, "1 step was canceled"), around)
    rounds = (Round("pre hooks", 0, {"completed": 1}), Round("install", 0, {"canceled": 1}))
    app = topology(blueprint(node("db")))
    for is_timed_out, why in ((True, DeploymentCallKind.TIMED_OUT), (False, DeploymentCallKind.CANCELED)):
        history = History(np.zeros(1, np.uint8), rounds, canceled=True, is_timed_out=is_timed_out)
        answer = planner(app, Request("install"), history, lambda _: Declaration())
        assert isinstance(answer, Graph)
        assert answer.name.startswith("post hooks")
        assert answer.subject[answer.subject >= 0].tolist() == [why]
