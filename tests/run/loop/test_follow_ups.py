"""Outcomes that make deployments and executions in their own turn (BB1, BB2), and refusals of what cannot be made."""

from dataclasses import replace

import pytest
from tests.run.engines import ANN, Called, Station

from phaseline.model.blueprint.labels import Label, Relabelled
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.execution.execution import Request
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.causes import CauseKey, entry_key
from phaseline.model.rows.follow_ups import FollowUp
from phaseline.model.rows.rows import Actor, ExecutionRow, NewDeployment, NewExecution
from phaseline.model.rows.secrets import SecretRow, WrappedKey
from phaseline.store.sql import errors as failures
from phaseline.testing.builders import blueprint, node, topology

AGAIN, COMPLETED = OutcomeKind.AGAIN, OutcomeKind.COMPLETED
LONG_MS = 366 * 24 * 3_600_000
OUTER = node("db", create="each_again.create", start="each_again.start")
INNER = node("disk", create="each_again.create")


@pytest.fixture
def station() -> Station:
    return Station()


def cause(one: Called) -> CauseKey:
    return CauseKey("component", one.execution, entry_key(one.graph, one.position, one.generation))


def inner(station: Station, one: Called, name: str) -> NewDeployment:
    """A deployment that a call makes."""
    application = blueprint(INNER)
    place = CodeLocation("/nowhere")
    return NewDeployment(
        name, application, {}, topology(application), place, ANN, station.clock.now(), cause=cause(one)
    )


def run(station: Station, one: Called, deployment: int, **fields: object) -> FollowUp:
    """An execution of a deployment that a call starts and awaits."""
    request = replace(Request("install"), **fields)
    return FollowUp(executions=(NewExecution(deployment, request, ANN, station.clock.now(), cause=cause(one)),))


def begin(station: Station, *, instances: int = 1) -> tuple[ExecutionRow, list[Called]]:
    row = station.install(node("db", create="each_again.create", start="each_again.start", instances=instances))
    return row, station.called()


def why(station: Station, one: Called) -> str:
    return next(note.message for note in station.store.notes(one.graph) if note.position == one.position)


def executions_of(station: Station, deployment: int) -> list[ExecutionRow]:
    return list(station.store.executions(deployment))


def test_bb1_a_deployment_is_made_in_the_turn_of_the_outcome(station: Station) -> None:
    _, (one,) = begin(station)
    station.answer(one, AGAIN, delay_ms=0, follow_up=FollowUp(deployment=inner(station, one, "db-a")))
    made = station.store.deployment("db-a")
    assert made is not None
    assert [row.number for row in station.store.causes.caused("component", one.execution)] == [made.number]
    assert station.names() == [("create", "db_1")]  # called again, to find what it has made


def test_bb1_an_execution_is_made_begun_and_awaited(station: Station) -> None:
    other = station.deployment(INNER, name="other")
    row, (one,) = begin(station)
    station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, other))
    (made,) = executions_of(station, other)
    assert station.status(made) is ExecutionStatus.RUNNING
    assert station.names() == [("create", "disk_1")]
    assert [(each.execution, each.awaited) for each in station.store.causes.awaiting()] == [(row.number, made.number)]
    station.complete("create", "disk_1")
    assert station.status(made) is ExecutionStatus.COMPLETED
    assert station.names() == [("create", "db_1")]  # woken, to read how it has ended
    assert not station.store.causes.awaiting()
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED


def test_bb1_what_is_made_and_the_outcome_are_one_transaction(station: Station) -> None:
    """If the turn cannot be stored, neither is what it makes: the next owner finds the call without an outcome."""

    other = station.deployment(INNER, name="other")
    row, (one,) = begin(station)
    station.store.trouble = failures.damaged("memory", "a test")
    station.answered.add((one.batch, one.member))
    station.inbox.post(station.report(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, other)))
    with pytest.raises(ProblemsError):
        station.engine.turn()
    station.store.trouble = None
    assert not executions_of(station, other)
    station.crash()
    station.engine.recover()
    station.settle()
    assert station.names() == [("create", "db_1")]
    assert station.status(row) is ExecutionStatus.RUNNING
    assert not station.store.causes.awaiting()


def test_bb2_a_repeated_call_finds_what_it_has_made(station: Station) -> None:
    other = station.deployment(INNER, name="other")
    _, (one,) = begin(station)
    station.answer(one, AGAIN, delay_ms=10, follow_up=run(station, one, other))
    station.wait_until_due()
    again = station.find("create", "db_1")
    station.answer(again, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, other))
    assert len(executions_of(station, other)) == 1
    station.complete("create", "disk_1")
    assert station.names() == [("create", "db_1")]


def test_bb2_a_cause_tells_what_has_made_an_execution(station: Station) -> None:
    other = station.deployment(INNER, name="other")
    row, (one,) = begin(station)
    station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, other))
    (made,) = executions_of(station, other)
    (found,) = station.store.causes.of_executions([made.number, row.number])
    assert (found.number, found.is_execution, found.cause) == (made.number, True, cause(one))


def test_co4_numbers_are_free_and_handed_out_in_the_order_of_the_members(station: Station) -> None:
    station.deployment(INNER, name="x-1")
    _, calls = begin(station, instances=4)
    for one in calls:
        wanted = FollowUp(deployment=inner(station, one, "x"), is_numbered=True)
        station.answered.add((one.batch, one.member))
        station.inbox.post(station.report(one, AGAIN, delay_ms=LONG_MS, follow_up=wanted))
    station.settle()
    assert [row.name for row in station.store.deployments()] == ["app", "x-0", "x-1", "x-2", "x-3", "x-4"]


def test_co4_a_taken_name_fails_its_member_and_the_neighbours_go_on(station: Station) -> None:
    station.deployment(INNER, name="taken")
    _, (first, second) = begin(station, instances=2)
    station.answer(first, AGAIN, delay_ms=LONG_MS, follow_up=FollowUp(deployment=inner(station, first, "taken")))
    station.answer(second, AGAIN, delay_ms=LONG_MS, follow_up=FollowUp(deployment=inner(station, second, "free")))
    assert (station.entry(first), station.entry(second)) == (EntryStatus.FAILED, EntryStatus.SLEEPING)
    assert "PL-S010" in why(station, first)
    assert [row.name for row in station.store.deployments()] == ["app", "free", "taken"]


def test_bb1_a_refused_follow_up_makes_nothing_of_itself(station: Station) -> None:
    station.deployment(INNER, name="taken")
    _, (one,) = begin(station)
    secret = SecretRow("token", 1, b"x", WrappedKey(b"k", "m"), 1, "ann", 1, "ann")
    assert station.store.secrets.put(secret)
    other = replace(secret, name="fresh")
    wanted = FollowUp(deployment=inner(station, one, "new"), secrets=(other, secret))
    station.answer(one, AGAIN, delay_ms=0, follow_up=wanted)
    assert "PL-C112" in why(station, one)
    assert station.store.deployment("new") is None


def test_bb1_trouble_of_the_store_is_no_failure_of_an_entry(station: Station) -> None:
    """A disk that is full ends the turn, like any turn; the entry has not failed because of that."""
    other = station.deployment(INNER, name="other")
    _, (one,) = begin(station)
    station.store.is_troubled = True
    station.inbox.post(station.report(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, other)))
    with pytest.raises(ProblemsError, match="a test"):
        station.engine.turn()
    assert station.entry(one) is not EntryStatus.FAILED
    assert not executions_of(station, other)


def test_bb2_one_cause_may_make_a_deployment_and_an_execution(station: Station) -> None:
    other = station.deployment(INNER, name="other")
    _, (one,) = begin(station)
    wanted = replace(run(station, one, other), deployment=inner(station, one, "db-a"))
    station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=wanted)
    made = station.store.deployment("db-a")
    assert made is not None
    (row,) = executions_of(station, other)
    caused = station.store.causes.caused("component", one.execution)
    assert [(each.number, each.is_execution) for each in caused] == [(made.number, False), (row.number, True)]
    assert [each.awaited for each in station.store.causes.awaiting()] == [row.number]


def test_bb1_members_of_one_turn_read_what_they_have_made_once(station: Station) -> None:
    _, calls = begin(station, instances=50)
    for one in calls:
        station.answered.add((one.batch, one.member))
        wanted = FollowUp(deployment=inner(station, one, "x"), is_numbered=True)
        station.inbox.post(station.report(one, AGAIN, delay_ms=LONG_MS, follow_up=wanted))
    station.settle()
    assert len(station.store.deployments()) == 1 + len(calls)
    assert station.store.causes.reads == 1


def test_tn4_what_is_made_belongs_to_the_tenant_of_the_execution(station: Station) -> None:
    _, (one,) = begin(station)
    stranger = replace(inner(station, one, "db-a"), actor=Actor("eve", "another"))
    station.answer(one, AGAIN, delay_ms=0, follow_up=FollowUp(deployment=stranger))
    made = station.store.deployment("db-a")
    assert made is not None
    assert made.tenant == ANN.tenant
    assert not station.store.of("another").deployments()


def test_bb1_labels_are_changed_with_the_outcome(station: Station) -> None:
    other = station.deployment(INNER, name="other")
    station.store.labels.add(other, [Label("old", "x")])
    _, (one,) = begin(station)
    change = Relabelled((Label("new", "y"),), (Label("old", ""),))
    station.answer(one, follow_up=FollowUp(labels=((other, change),)))
    assert station.store.labels.of(other) == [Label("new", "y")]


def test_bb1_the_outcome_of_a_call_that_was_given_up_makes_nothing(station: Station) -> None:
    other = station.deployment(INNER, name="other")
    row, (one,) = begin(station)
    station.engine.cancel(row.number, "force")
    station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, other))
    assert not executions_of(station, other)
    assert not station.store.causes.awaiting()


def test_bb1_an_outcome_that_comes_twice_makes_one(station: Station) -> None:
    other = station.deployment(INNER, name="other")
    _, (one,) = begin(station)
    wanted = replace(run(station, one, other), is_awaiting=False)
    wanted = replace(wanted, executions=(replace(wanted.executions[0], cause=None),))
    report = station.report(one, COMPLETED, follow_up=wanted)
    station.answered.add((one.batch, one.member))
    station.inbox.post(report)
    station.inbox.post(report)
    station.settle()
    assert len(executions_of(station, other)) == 1


def test_bb1_what_is_not_awaited_runs_by_itself(station: Station) -> None:
    other = station.deployment(INNER, name="other")
    row, (one,) = begin(station)
    station.answer(one, COMPLETED, follow_up=replace(run(station, one, other), is_awaiting=False))
    station.complete("start", "db_1")
    assert station.status(row) is ExecutionStatus.COMPLETED
    (made,) = executions_of(station, other)
    assert station.status(made) is ExecutionStatus.RUNNING


def test_a12_a_deployment_that_contains_itself_is_refused_at_depth_8_with_the_chain(station: Station) -> None:
    levels = [station.deployment(OUTER, name=f"level{number}") for number in range(10)]
    station.submit(levels[0])
    for level in levels[1:]:
        (one,) = station.called()
        station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, level))
    assert [len(executions_of(station, level)) for level in levels] == [1] * 9 + [0]
    assert station.entry(one) is EntryStatus.FAILED
    told = why(station, one)
    assert "install-1 of level0 → install-2 of level1" in told
    assert "PL-C111" in told
