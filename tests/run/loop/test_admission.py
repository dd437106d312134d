"""Executions of one deployment: those over other instances run side by side, those that collide wait in order (decision 4)."""

from dataclasses import replace

import pytest
from tests.run.engines import ANN, Station
from tests.run.loop.test_request_reader import ask, look

from phaseline.model.execution.execution import Request
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.model.rows.rows import ConcurrencyRule, ExecutionRow, NewExecution, RequestKind
from phaseline.plan.requests.request_problems import problem_of
from phaseline.run.loop.admission import Claims
from phaseline.run.loop.request_reader import LOOK_MS
from phaseline.testing.builders import blueprint, node, scaled, topology
from phaseline.use_cases.lookup.blocking_executions import still_calling

HOST = node("host", instances=2, stop="each.stop", start="each.start")
APP = node("app", on="host", start="each.start", stop="each.stop")


def anyway(_other: ExecutionRow) -> bool:
    return True


@pytest.fixture
def station() -> Station:
    found = Station()
    found.install(HOST, APP)
    found.complete_all()
    return found


def begin(
    station: Station, workflow: str, *ids: str, beside: ConcurrencyRule = anyway, **fields: object
) -> ExecutionRow:
    """Store and submit an execution on some instances of the only deployment; none: on all."""
    request = replace(Request(workflow, {"node_instance_ids": list(ids)} if ids else {}), **fields)
    new = NewExecution(1, request, ANN, station.clock.now())
    row = station.store.create_execution(new, beside=beside)
    station.engine.submit(row)
    station.settle()
    return row


def test_w10_disjoint_executions_run_side_by_side(station: Station) -> None:
    first, second = begin(station, "stop", "app_1"), begin(station, "stop", "app_2")
    assert [one.execution for one in station.called()] == [first.number, second.number]
    station.complete_all()
    assert {station.status(row) for row in (first, second)} == {ExecutionStatus.COMPLETED}


def test_w10_who_collides_waits_and_says_on_whom(station: Station) -> None:
    first, second = begin(station, "stop", "app_1"), begin(station, "start")
    assert station.status(second) is ExecutionStatus.QUEUED
    assert station.engine.progress(second.number) is None
    station.complete_all()
    assert station.status(second) is ExecutionStatus.COMPLETED
    assert [event.message for event in station.events(second)][:2] == [
        f"Waiting for {first.id}",
        "Starting 'start' workflow execution",
    ]


def test_w10_nobody_is_overtaken_by_those_who_came_later(station: Station) -> None:
    first, second, third = begin(station, "stop", "app_1"), begin(station, "restart"), begin(station, "stop", "app_2")
    assert list(station.engine.claims.chain(third.number)) == [second.number, first.number]
    station.answer(station.find("stop", "app_1"))
    assert {one.execution for one in station.called()} == {second.number}
    station.complete_all()
    ended = [station.row(row).ended_at for row in (first, second, third)]
    assert ended == sorted(ended)
    assert all(station.status(row) is ExecutionStatus.COMPLETED for row in (first, second, third))


def test_bb4_who_must_wait_for_another_one_than_before_may_be_refused() -> None:
    """An update has related two nodes while an execution waited: it must wait for one that it did not collide with."""
    apart = topology(blueprint(node("app", start="each.start"), node("web", start="each.start")))
    related = topology(blueprint(node("app", start="each.start"), node("web", to=["app"], start="each.start")))
    present, begun, asked = [apart], [], []
    claims = Claims(lambda _number: present[0], begun.append, lambda _number: False)
    station = Station()
    number = station.deployment(node("app"), node("web"))

    def row(*nodes: str) -> ExecutionRow:
        request = Request("restart", {"node_ids": list(nodes)})
        return station.store.create_execution(NewExecution(number, request, ANN, 0), beside=anyway)

    web, app, waiting = row("web"), row("app"), row("app")
    assert [claims.come(one) for one in (web, app, waiting)] == [True, True, False]
    assert list(claims.ahead_of(waiting)) == [app.number]
    present[0] = related

    def refuse(one: ExecutionRow) -> bool:
        asked.append((one.number, list(claims.ahead_of(one))))
        return True

    claims.is_refused = refuse
    claims.leave(app)
    assert asked == [(waiting.number, [web.number])]
    assert [one.number for one in begun] == [waiting.number]
    assert not claims.waiting


def test_w10_force_runs_beside_the_others(station: Station) -> None:
    begin(station, "stop", "app_1")
    beside = begin(station, "start", "app_1", if_busy="force")
    assert station.status(beside) is ExecutionStatus.RUNNING
    behind = begin(station, "pull")
    assert station.status(behind) is ExecutionStatus.QUEUED


def test_w10_who_waits_can_be_canceled_at_once_and_lets_others_go(station: Station) -> None:
    begin(station, "stop", "app_1")
    second, third = begin(station, "restart"), begin(station, "stop", "app_2")
    station.engine.cancel(second.number)
    station.settle()
    assert station.status(second) is ExecutionStatus.CANCELED
    assert station.status(third) is ExecutionStatus.RUNNING
    assert not station.store.graphs(second.number)


def test_w10_after_a_crash_those_that_had_begun_keep_their_claims(station: Station) -> None:
    first, second = begin(station, "stop", "app_2"), begin(station, "restart")
    station.crash()
    station.engine.recover()
    station.settle()
    assert {one.execution for one in station.called()} <= {first.number}
    assert station.status(second) is ExecutionStatus.QUEUED
    assert station.engine.claims.waiting == {second.number: first.number}
    assert station.engine.needs_attention(second.number) is station.engine.needs_attention(first.number)


def test_w10_what_has_ended_goes_on_unless_somebody_owns_its_instances(station: Station) -> None:
    failed = begin(station, "stop", "app_1")
    station.answer(station.find("stop", "app_1"), OutcomeKind.FAILED, message="no")
    apart = begin(station, "stop", "app_2")
    assert asked(station, failed) is None
    station.complete_all()
    assert station.status(failed) is ExecutionStatus.COMPLETED
    failed = begin(station, "stop", "app_1")
    station.answer(station.find("stop", "app_1"), OutcomeKind.FAILED, message="no")
    other = begin(station, "restart")
    problem = asked(station, failed)
    assert problem is not None
    assert problem.startswith("PL-C016")
    assert other.id in problem
    assert apart.id not in problem


def asked(station: Station, row: ExecutionRow) -> str | None:
    """What the owner says to a retry; None: nothing against it."""
    number = station.store.ask(RequestKind.RETRY, row.number, {"id": row.id}, ANN, beside=anyway)
    station.clock.advance_to(station.clock.now() + LOOK_MS)
    station.engine.turn()
    station.settle()
    answer = station.store.answer_of(number)
    assert answer is not None
    problem = problem_of(answer)
    return None if problem is None else str(problem)


def test_w10_those_that_find_nothing_taken_are_not_compared_with_the_others(station: Station) -> None:
    """By the counts alone: there are no claims to compare with, only columns in which their own stand."""
    rows = [begin(station, "pull", f"app_{number}") for number in (1, 2)]
    held = Claims(lambda _number: station.store.topology(1), lambda _row: None, lambda _number: False)
    assert all(held.come(row) for row in rows)
    third = begin(station, "pull", "host_1")
    assert held.blocker(third) == rows[0]
    held.leave(rows[0])
    assert held.blocker(third) is None


def test_w10_instances_that_came_meanwhile_belong_to_who_waits_for_its_deployment(station: Station) -> None:
    """A topology may grow while somebody waits: what it claims is looked at again when its turn comes."""
    made = station.store.topology(1)
    shapes = [made]
    begun: list[ExecutionRow] = []
    held = Claims(lambda _number: shapes[-1], begun.append, lambda _number: False)
    whole, behind = begin(station, "pull"), begin(station, "stop", "app_3")
    assert held.come(whole)
    assert held.come(behind), "nobody of that name is there yet, so there is nothing to wait for"
    held.leave(behind)
    later = begin(station, "start", "app_1", "app_3")
    assert not held.come(later)
    shapes.append(scaled(made, app=2))
    held.leave(whole)
    assert begun == [later]
    assert held.blocker(behind) == later


def test_decision_2_who_comes_next_waits_for_calls_that_were_given_up(station: Station) -> None:
    first = begin(station, "stop", "app_1")
    [call] = station.called()
    ask(station, RequestKind.CANCEL, first, how="force")
    assert station.status(first) is ExecutionStatus.CANCELED

    second = begin(station, "uninstall")
    assert station.status(second) is ExecutionStatus.QUEUED
    look(station)
    assert station.events(second)[0].message == f"Waiting for calls of {first.id} that were given up and still run"
    assert not station.engine.is_idle
    given_up = still_calling(station.store, station.row(second))
    assert given_up is not None
    assert given_up.id == first.id

    station.answer(call)
    assert station.status(second) is ExecutionStatus.RUNNING
    assert still_calling(station.store, station.row(second)) is None


def test_decision_2_one_that_waited_already_goes_on_waiting_for_them(station: Station) -> None:
    first, second = begin(station, "stop", "app_1"), begin(station, "uninstall")
    [call] = station.called()
    ask(station, RequestKind.CANCEL, first, how="force")
    assert station.status(second) is ExecutionStatus.QUEUED
    station.answer(call)
    assert station.status(second) is ExecutionStatus.RUNNING


def test_decision_2_elsewhere_and_by_force_nobody_waits_for_them(station: Station) -> None:
    first = begin(station, "stop", "app_1")
    ask(station, RequestKind.CANCEL, first, how="force")
    assert station.status(begin(station, "stop", "app_2")) is ExecutionStatus.RUNNING
    assert station.status(begin(station, "stop", "app_1", if_busy="force")) is ExecutionStatus.RUNNING


def test_decision_2_an_execution_that_is_retried_holds_its_claim_as_before(station: Station) -> None:
    first = begin(station, "stop", "app_1")
    [call] = station.called()
    ask(station, RequestKind.CANCEL, first, how="force")
    station.answer(call)
    assert station.engine.is_idle
    ask(station, RequestKind.RETRY, first)
    second = begin(station, "uninstall")
    assert station.status(second) is ExecutionStatus.QUEUED
    station.complete_all()
    assert station.status(second) is ExecutionStatus.COMPLETED
