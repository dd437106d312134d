"""What every store promises about asking: requests, answers, beginning without owning, looking and waiting."""

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.store import builders as a

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import Actor, RequestAnswer, RequestKind, RequestRow, Turn, TurnPayload
from phaseline.ports.store import Store
from phaseline.store.sql.requests import TAKEN_AT_ONCE

Reopen = Callable[[], Store]
BOB = Actor("bob", "blue")


def answered(*answers: RequestAnswer, at: int = 50) -> Turn:
    return a.turn(at, TurnPayload(answers=answers))


def code(caught: pytest.ExceptionInfo[ProblemsError]) -> str:
    (problem,) = caught.value.problems
    assert problem.mend
    return problem.code


def uninstall(deployment: int) -> a.NewExecution:
    return a.execution(deployment, replace(a.REQUEST, workflow="uninstall"))


def test_a_request_is_planned_by_anew_from_the_commit_on_that_says_so(reopen: Reopen) -> None:
    store = reopen()
    _, run = a.installed(store)
    wanted = replace(a.REQUEST, clean=False, parameters={"b": "ä"})
    with store.own("test"):
        store.commit(a.turn(50, TurnPayload(requests={run: wanted})))
    assert [row.request for row in reopen().executions()] == [wanted]


# requests and answers


def test_a_request_is_read_as_it_was_asked(reopen: Reopen) -> None:
    store = reopen()
    _, run = a.installed(store)
    number = store.ask(RequestKind.CANCEL, run, {"how": "force", "tags": ["ä", None]}, BOB)
    found = reopen().requests()[-1]
    assert found == RequestRow(number, 1_000, BOB, RequestKind.CANCEL, run, {"how": "force", "tags": ["ä", None]})


def test_a_request_may_concern_no_execution_but_none_that_is_not_there(store: Store) -> None:
    number = store.ask(RequestKind.STOP, 0, {}, BOB)
    assert [(row.number, row.execution) for row in store.requests()] == [(number, 0)]
    with pytest.raises(LookupError):
        store.ask(RequestKind.WAKE, 7, {}, BOB)


@pytest.mark.parametrize("kind", [RequestKind.RETRY, RequestKind.COMPLETE])
def test_what_is_about_to_go_on_makes_its_deployment_busy_until_the_answer(store: Store, kind: RequestKind) -> None:
    deployment, run = a.installed(store)
    a.end(store, run)
    number = store.ask(kind, run, {}, BOB)
    with pytest.raises(ProblemsError) as caught:
        store.create_execution(uninstall(deployment))
    assert code(caught) == "PL-C016"
    with pytest.raises(ProblemsError):
        store.delete_deployment(deployment)
    with store.own("test"):
        store.commit(answered(RequestAnswer(number, {"done": False})))
    assert store.create_execution(uninstall(deployment)).status is ExecutionStatus.QUEUED


def test_what_has_ended_is_not_asked_to_go_on_while_another_one_is_open(store: Store) -> None:
    deployment, run = a.installed(store)
    a.end(store, run)
    other = store.create_execution(uninstall(deployment))
    with pytest.raises(ProblemsError) as caught:
        store.ask(RequestKind.RETRY, run, {}, BOB)
    assert code(caught) == "PL-C016"
    store.ask(RequestKind.RETRY, other.number, {}, BOB)
    store.ask(RequestKind.CANCEL, run, {}, BOB)


def test_requests_come_in_the_order_in_which_they_were_asked_and_only_those_after(store: Store) -> None:
    first, second, third = (
        store.ask(kind, 0, {}, BOB) for kind in (RequestKind.STOP, RequestKind.WAKE, RequestKind.STOP)
    )
    assert [row.number for row in store.requests()] == [first, second, third]
    assert [row.number for row in store.requests(first)] == [second, third]
    assert list(store.requests(third)) == []
    assert [row.number for row in store.requests()] == [first, second, third], "whoever looks again sees them again"


def test_looking_often_misses_nothing(store: Store) -> None:
    seen = 0
    for _ in range(5):
        assert list(store.requests(seen)) == []
        number = store.ask(RequestKind.STOP, 0, {}, BOB)
        (row,) = store.requests(seen)
        assert row.number == number
        seen = number


def test_one_look_gives_a_bounded_number_and_the_next_the_rest(store: Store) -> None:
    numbers = [store.ask(RequestKind.STOP, 0, {}, BOB) for _ in range(TAKEN_AT_ONCE + 3)]
    first = store.requests()
    rest = store.requests(first[-1].number)
    assert [row.number for row in (*first, *rest)] == numbers
    assert len(first) == TAKEN_AT_ONCE


def test_an_answer_is_committed_with_what_it_changed(reopen: Reopen) -> None:
    store = reopen()
    _, run = a.installed(store)
    start, cancel = (*(row.number for row in store.requests()), store.ask(RequestKind.CANCEL, run, {}, BOB))
    assert store.answer_of(cancel) is None
    with store.own("test"):
        store.commit(
            replace(
                a.turn(50, executions=(a.status(run, ExecutionStatus.CANCELING),)),
                payload=TurnPayload(answers=[RequestAnswer(cancel, {"done": True})]),
            )
        )
    store = reopen()
    assert store.executions()[0].status is ExecutionStatus.CANCELING
    assert store.answer_of(cancel) == {"done": True}
    assert [row.number for row in store.requests()] == [start]
    assert [(row.number, row.answered_at, row.answer) for row in store.requests_of(run)] == [
        (start, 0, None),
        (cancel, 50, {"done": True}),
    ]


def test_an_answer_without_words_is_an_answer(owned: Store) -> None:
    number = owned.ask(RequestKind.STOP, 0, {}, BOB)
    owned.commit(answered(RequestAnswer(number)))
    assert owned.answer_of(number) == {}


def test_the_first_answer_stays(owned: Store) -> None:
    number = owned.ask(RequestKind.STOP, 0, {}, BOB)
    owned.commit(answered(RequestAnswer(number, {"by": "first"})))
    owned.commit(answered(RequestAnswer(number, {"by": "second"}), at=60))
    assert owned.answer_of(number) == {"by": "first"}
    assert list(owned.requests()) == []


def test_an_answer_to_what_nobody_asked_is_forgotten(owned: Store) -> None:
    owned.commit(answered(RequestAnswer(99)))
    with pytest.raises(LookupError):
        owned.answer_of(99)


def test_a_turn_of_answers_alone_is_worth_a_commit() -> None:
    assert TurnPayload(answers=[RequestAnswer(1)])
    assert not TurnPayload()


# beginning without owning


def test_whoever_does_not_own_begins_with_a_request_to_start(reopen: Reopen) -> None:
    store = reopen()
    number, row = store.create_deployment(a.deployment(), a.execution())
    assert row is not None
    (start,) = store.requests()
    assert (start.kind, start.execution, start.actor, start.at) == (RequestKind.START, row.number, a.ANN, 7)
    a.end(store, row.number)
    again = store.create_execution(uninstall(number))
    assert [(row.kind, row.execution) for row in store.requests(start.number)] == [(RequestKind.START, again.number)]


def test_the_owner_starts_itself_what_it_creates(owned: Store) -> None:
    a.installed(owned)
    assert list(owned.requests()) == []


def test_it_may_be_said_whether_a_request_is_stored(store: Store) -> None:
    store.create_deployment(a.deployment("one"), a.execution(), asks=False)
    assert list(store.requests()) == []
    with store.own("test"):
        _, row = store.create_deployment(a.deployment("two"), a.execution(), asks=True)
    assert row is not None
    assert [row.execution for row in store.requests()] == [row.number]


def test_a_deployment_without_an_execution_starts_nothing(store: Store) -> None:
    store.create_deployment(a.deployment())
    assert list(store.requests()) == []


@pytest.mark.parametrize("status", [status for status in ExecutionStatus if not status.is_ended])
def test_a_deployment_with_an_open_execution_begins_no_other(store: Store, status: ExecutionStatus) -> None:
    number, run = a.installed(store)
    a.end(store, run, status)
    before = list(store.requests())
    for attempt in (
        lambda: store.create_execution(uninstall(number)),
        lambda: store.delete_deployment(number),
        lambda: store.create_deployment(a.deployment(), a.execution(), replaces=number),
    ):
        with pytest.raises(ProblemsError) as caught:
            attempt()
        assert code(caught) == "PL-C016"
        assert "install-1" in str(caught.value)
    assert [row.id for row in store.executions()] == ["install-1"]
    assert [row.number for row in store.deployments()] == [number]
    assert list(store.requests()) == before


@pytest.mark.parametrize("status", [status for status in ExecutionStatus if status.is_ended])
def test_an_ended_execution_stands_in_nobodys_way(store: Store, status: ExecutionStatus) -> None:
    number, run = a.installed(store)
    a.end(store, run, status)
    assert store.create_execution(uninstall(number)).id == "uninstall-2"


def test_a_deleted_deployment_begins_nothing(store: Store) -> None:
    number, _ = store.create_deployment(a.deployment())
    store.delete_deployment(number, BOB)
    with pytest.raises(ProblemsError) as caught:
        store.create_execution(uninstall(number))
    assert code(caught) == "PL-C010"


def test_a_deployment_may_take_the_name_of_the_one_it_replaces(store: Store) -> None:
    old, _ = store.create_deployment(a.deployment())
    new, row = store.create_deployment(a.deployment(), a.execution(), replaces=old)
    assert row is not None
    assert [found.number for found in store.deployments()] == [new]
    assert row.deployment == new
    assert len(store.topology(old)) == 8


def test_only_the_replaced_one_gives_its_name(store: Store) -> None:
    old, _ = store.create_deployment(a.deployment("old"))
    store.create_deployment(a.deployment("shop"))
    with pytest.raises(ProblemsError) as caught:
        store.create_deployment(a.deployment("shop"), a.execution(), replaces=old)
    assert code(caught) == "PL-S010"
    assert [row.name for row in store.deployments()] == ["old", "shop"]


# looking


def test_a_look_sees_whether_anything_was_written(store: Store) -> None:
    look = store.changed()
    assert look
    assert store.changed(look) == 0
    store.requests()
    store.executions()
    assert store.changed(look) == 0, "looking changes nothing"
    for write in (
        lambda: a.installed(store),
        lambda: store.ask(RequestKind.STOP, 0, {}, BOB),
        lambda: a.end(store, 1),
        lambda: store.delete_deployment(1),
    ):
        write()
        now = store.changed(look)
        assert now not in {0, look}
        look = now
        assert store.changed(look) == 0


def test_two_followers_each_have_their_own_look(store: Store) -> None:
    one, two = store.changed(), store.changed()
    store.ask(RequestKind.STOP, 0, {}, BOB)
    assert store.changed(one)
    assert store.changed(two)


def test_a_request_that_needs_no_owner_is_stored_with_its_answer(store: Store) -> None:
    number = store.ask(RequestKind.RELOAD, 0, {}, BOB, answer={"done": True})
    assert store.answer_of(number) == {"done": True}
    assert list(store.requests()) == []


def test_the_last_reload_is_that_of_any_process_answered_or_not(store: Store) -> None:
    assert store.last_reload() == 0
    first = store.ask(RequestKind.RELOAD, 0, {}, BOB, answer={"done": True})
    store.ask(RequestKind.STOP, 0, {}, BOB)
    assert store.last_reload() == first
    assert store.ask(RequestKind.RELOAD, 0, {}, BOB) == store.last_reload() > first


# waiting


def test_whoever_waits_is_not_somebody_else_to_itself(store: Store) -> None:
    assert not store.somebody_waits()
    with store.waiting(), store.waiting():
        assert not store.somebody_waits()
        with store.own("test"):
            assert not store.somebody_waits()
    assert not store.somebody_waits()


def test_the_store_has_no_notices_when_nothing_was_done_to_it(store: Store) -> None:
    assert list(store.notices) == []


def test_requests_of_many_threads_are_all_there(store: Store) -> None:
    def ask() -> None:
        for _ in range(20):
            store.ask(RequestKind.STOP, 0, {}, BOB)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [row.number for row in store.requests()] == list(range(1, 81))
