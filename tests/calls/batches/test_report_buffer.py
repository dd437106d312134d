"""Outcomes are posted in company, the last one of a batch at once, and each member once."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tests.run.worlds import PATIENCE_S, World, make_blueprint, silenced

from phaseline.calls.batches.batch_handover import BatchHandover
from phaseline.calls.batches.report_buffer import ReportBuffer
from phaseline.calls.protocol.call import COMPLETED, Outcome
from phaseline.calls.protocol.reports import POST_AT, CallReport, all_completed
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.follow_ups import FollowUp
from phaseline.model.rows.rows import DocumentChange, LogLine
from phaseline.testing.builders import node

CHANGE = DocumentChange(1, 0, {("a",): 1})


@pytest.fixture
def world(tmp_path: Path):
    made = World(tmp_path, make_blueprint(node("vm", create="cloud.create", instances=2500)))
    yield made
    made.close()


@pytest.fixture
def poster(world: World):
    made = ReportBuffer(world.inbox)
    yield made
    made.stop()


def reports(world: World, count: int) -> list[CallReport]:
    """Reports until so many members have come."""
    found: list[CallReport] = []
    until = time.monotonic() + PATIENCE_S
    while sum(len(report.members) for report in found) < count:
        assert time.monotonic() < until
        world.inbox.wait(100)
        found += world.inbox.take_all()
    return found


def test_the_last_member_of_a_batch_is_posted_at_once(world: World, poster: ReportBuffer) -> None:
    handover = BatchHandover(world.batch(0), world.deployments)
    poster.outcome(handover, 0, COMPLETED)
    (report,) = world.inbox.take_all()
    assert report.members.tolist() == [0]
    assert report.kinds.tolist() == [OutcomeKind.COMPLETED]


def test_an_outcome_waits_for_company_but_not_long(world: World, poster: ReportBuffer) -> None:
    handover = BatchHandover(world.batch(0, 1, 2), world.deployments)
    with silenced(poster.alarms):
        poster.outcome(handover, 0, COMPLETED)
        poster.outcome(handover, 1, Outcome(OutcomeKind.AGAIN, 5))
        assert not world.inbox.take_all()
    (report,) = reports(world, 2)
    assert report.delays.tolist() == [-1, 5]


def test_a_thousand_outcomes_do_not_wait(world: World, poster: ReportBuffer) -> None:
    handover = BatchHandover(world.batch(*range(2500)), world.deployments)
    for member in range(POST_AT):
        poster.outcome(handover, member, COMPLETED)
    assert max(len(report.members) for report in reports(world, POST_AT)) <= POST_AT


def test_a_second_outcome_of_a_member_moves_nothing_but_its_data_is_kept(world: World, poster: ReportBuffer) -> None:
    handover = BatchHandover(world.batch(0, 1), world.deployments)
    poster.outcomes(handover, all_completed(1, np.array([0], np.int32)))
    poster.outcome(handover, 0, Outcome(OutcomeKind.FAILED), [(0, CHANGE)])
    poster.outcomes(handover, all_completed(1, np.array([0, 1], np.int32)))
    found = reports(world, 2)
    assert [report.members.tolist() for report in found if len(report.members)] == [[0], [1]]
    assert [change for report in found for _, change in report.documents] == [CHANGE]


def test_lines_come_before_the_outcome_of_their_batch(world: World, poster: ReportBuffer) -> None:
    handover = BatchHandover(world.batch(0, 1), world.deployments)
    poster.log(handover, LogLine(1, 2, "info", "begun"))
    poster.outcomes(handover, all_completed(1, np.array([0, 1], np.int32)))
    found = reports(world, 2)
    assert [len(report.logs) for report in found] == [1, 0]


def test_noted_data_is_told_apart_from_outcomes(world: World, poster: ReportBuffer) -> None:
    handover = BatchHandover(world.batch(0), world.deployments)
    poster.note(handover, 0, [(0, CHANGE)])
    (report,) = world.inbox.take_all()
    assert report.is_noted
    assert handover.left == 1


def test_alarms_ring_in_their_order(poster: ReportBuffer) -> None:
    rung: list[str] = []
    done = threading.Event()
    with silenced(poster.alarms):
        poster.alarms.set(0.001, lambda: rung.append("late"))
        poster.alarms.set(-1, lambda: rung.append("early"))
        poster.alarms.set(0.001, lambda: (rung.append("last"), done.set())[0])
        poster.alarms.set(3_600, lambda: rung.append("not yet"))
    assert done.wait(PATIENCE_S)
    assert rung == ["early", "late", "last"]


def test_members_of_several_functions_are_grouped_in_order(tmp_path: Path) -> None:
    nodes = [node("a", create="cloud.one"), node("b", create="cloud.two"), node("c", create="cloud.one"), node("d")]
    world = World(tmp_path, make_blueprint(*nodes))
    groups = BatchHandover(world.batch(2, 1, 0, 3), world.deployments).groups()
    assert [(group.implementation, group.members.tolist()) for group in groups] == [
        ("cloud.one", [0, 2]),
        ("cloud.two", [1]),
        ("", [3]),
    ]
    world.close()


def test_bb1_what_an_outcome_makes_is_posted_with_it_and_once(world: World, poster: ReportBuffer) -> None:
    handover, made = BatchHandover(world.batch(0, 1), world.deployments), FollowUp(awaits=(7,))
    with silenced(poster.alarms):
        poster.outcome(handover, 0, Outcome(OutcomeKind.AGAIN, 5, follow_up=made))
        poster.outcome(handover, 0, Outcome(OutcomeKind.AGAIN, 5, follow_up=made))
        poster.flush()
    (report,) = world.inbox.take_all()
    assert list(report.follow_ups) == [(0, made)]
    late = altered(all_completed(handover.batch.id, np.array([0, 1], np.int32)), follow_ups=[(0, made), (1, made)])
    poster.outcomes(handover, late)
    (report,) = world.inbox.take_all()
    assert report.members.tolist() == [1]
    assert list(report.follow_ups) == [(1, made)]
