"""What every store promises about removing what is long over."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.store import builders as a

from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.model.rows.maintenance import Purged, PurgeRules
from phaseline.model.rows.rows import (
    Actor,
    DocumentChange,
    EntryRemark,
    EventRow,
    LogLine,
    RequestAnswer,
    RequestKind,
    TurnPayload,
)
from phaseline.ports.store import Store
from phaseline.use_cases.commands.maintenance import purge_all

Reopen = Callable[[], Store]
BOB = Actor("bob")
DONE = ExecutionStatus.COMPLETED


def begin(store: Store, deployment: int, workflow: str = "uninstall") -> int:
    return store.create_execution(a.execution(deployment, replace(a.REQUEST, workflow=workflow))).number


def filled(store: Store, run: int, deployment: int) -> int:
    """Give an execution a graph with pages, notes, a closed batch, lines and events; the graph."""
    graph, batch = store.counters()
    payload = TurnPayload(
        documents=[DocumentChange(deployment, 1, {("x",): run})],
        remarks=[EntryRemark(graph, 3, "slow")],
        logs=[LogLine(run, 1, "info", "one"), LogLine(run, 1, "info", "two")],
        events=[EventRow(run, 1, "workflow_started", "go")],
    )
    with store.own("test"):
        store.commit(
            a.turn(
                graphs=(a.added(graph, run, a.graph()),),
                pages=(a.page(graph, 0, 6, 24),),
                opened=(a.batch(batch, run, a.numbers(0, 1), graph=graph, deployment=deployment),),
                payload=payload,
            )
        )
        store.commit(a.turn(closed=(a.closed(batch, 1, 1),)))
    return graph


def everything_of(store: Store, run: int) -> tuple[int, ...]:
    """How much there is of an execution."""
    parts = (
        store.graphs(run),
        store.batches(execution=run),
        store.logs(run),
        store.events(run),
        store.requests_of(run),
    )
    return tuple(len(part) for part in parts)


def ids(store: Store) -> list[str]:
    return [row.id for row in store.executions()]


def test_an_execution_goes_with_everything_about_it(reopen: Reopen) -> None:
    store = reopen()
    number, first = a.installed(store)
    answer(store)
    graph = filled(store, first, number)
    a.end(store, first, at=10)
    second = begin(store, number, "install")
    answer(store)
    filled(store, second, number)
    a.end(store, second, at=20)
    assert a.purge(store, 15) == Purged(executions=1, graphs=1, batches=1, logs=2, events=1, requests=1)
    store = reopen()
    assert ids(store) == ["install-2"]
    assert everything_of(store, first) == (0, 0, 0, 0, 0)
    assert everything_of(store, second) == (1, 1, 2, 1, 1)
    assert store.documents(number) == {1: {"x": second}}
    assert store.statuses(graph + 1).tolist() == [6] * 24
    with pytest.raises(LookupError):
        store.graph(graph)
    assert list(store.check()) == []


def answer(store: Store) -> None:
    """Every request has its answer."""
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(answers=[RequestAnswer(row.number) for row in store.requests()])))


def test_what_ended_later_or_is_open_stays(store: Store) -> None:
    number, first = a.installed(store)
    answer(store)
    a.end(store, first, at=100)
    second = begin(store, number)
    answer(store)
    assert a.purge(store, 100) == Purged()
    assert a.purge(store, 10**9) == Purged()
    a.end(store, second, ExecutionStatus.FAILED, at=200)
    assert a.purge(store, 200) == Purged()
    assert a.purge(store, 201) == Purged(executions=1, requests=1)
    assert ids(store) == ["install-1"]


def test_the_last_install_and_the_last_completed_one_of_a_deployment_stay(store: Store) -> None:
    number, run = a.installed(store)
    ends = [DONE, DONE, ExecutionStatus.FAILED, ExecutionStatus.FAILED]
    for at, status in enumerate(ends):
        answer(store)
        a.end(store, run, status, at=10 + at)
        if at + 1 < len(ends):
            run = begin(store, number, "install")
    run = begin(store, number)
    answer(store)
    a.end(store, run, at=30)
    assert a.purge(store, 1_000).executions == 3
    assert ids(store) == ["install-2", "install-4"]


def test_of_a_deleted_deployment_nothing_stays(reopen: Reopen) -> None:
    store = reopen()
    number, run = a.installed(store)
    answer(store)
    filled(store, run, number)
    a.end(store, run)
    store.delete_deployment(number, BOB)
    other, _ = store.create_deployment(a.deployment())
    assert a.purge(store, 999).deployments == 0, "deleted only then"
    assert ids(store) == []
    assert a.purge(store, 10**9) == Purged(deployments=1)
    store = reopen()
    for look in (store.topology, store.states, store.inputs, store.blueprint):
        with pytest.raises(LookupError):
            look(number)
        look(other)
    assert list(store.check()) == []


def test_only_the_named_deployment_is_looked_at(store: Store) -> None:
    runs = {}
    for name in ("one", "two"):
        number, run = a.installed(store, name)
        answer(store)
        a.end(store, run)
        runs[name] = number
        store.delete_deployment(number)
    assert a.purge(store, 10**9, deployment=runs["two"]) == Purged(executions=1, requests=1, deployments=1)
    assert ids(store) == ["install-1"]


def test_what_somebody_has_asked_about_stays_until_it_is_answered(store: Store) -> None:
    number, run = a.installed(store)
    answer(store)
    a.end(store, run)
    store.delete_deployment(number)
    store.ask(RequestKind.RETRY, run, {}, BOB)
    assert a.purge(store, 10**9).executions == 0
    answer(store)
    assert a.purge(store, 10**9) == Purged(executions=1, requests=2, deployments=1)


def test_what_still_has_a_call_running_stays(store: Store) -> None:
    number, run = a.installed(store)
    answer(store)
    with store.own("test"):
        store.commit(a.turn(graphs=(a.added(1, run, a.graph()),), opened=(a.batch(1, run, a.numbers(0)),)))
    a.end(store, run, ExecutionStatus.CANCELED)
    store.delete_deployment(number)
    assert a.purge(store, 10**9) == Purged()
    with store.own("test"):
        store.commit(a.turn(closed=(a.closed(1, OutcomeKind.COMPLETED),)))
    assert a.purge(store, 10**9).batches == 1


def test_a_batch_that_others_share_keeps_their_members_and_answers(reopen: Reopen) -> None:
    store = reopen()
    one, first = a.installed(store, "one")
    two, second = a.installed(store, "two")
    parts = (
        a.batch(1, first, a.numbers(0, 1), 1, one),
        a.batch(1, second, a.numbers(4), 2, two),
        a.batch(1, first, a.numbers(5), 1, one),
    )
    answer(store)
    with store.own("test"):
        graphs = (a.added(1, first, a.graph()), a.added(2, second, a.graph()))
        store.commit(a.turn(graphs=graphs, opened=(a.joined(1, *parts),)))
        store.commit(a.turn(closed=(a.closed(1, 1, 2, 4, 1),)))
    a.end(store, first)
    store.delete_deployment(one)
    assert a.purge(store, 10**9).batches == 0
    store = reopen()
    (row,) = store.batches(execution=second)
    assert [(graph, positions.tolist()) for graph, positions in row.segments] == [(2, [4])]
    assert row.kinds is not None
    assert row.kinds.tolist() == [4]
    assert list(store.check()) == []


def test_numbers_of_what_was_removed_are_not_given_again(reopen: Reopen) -> None:
    store = reopen()
    number, run = a.installed(store)
    answer(store)
    filled(store, run, number)
    before = store.counters()
    a.end(store, run)
    store.delete_deployment(number)
    a.purge(store, 10**9)
    store = reopen()
    assert store.counters() == before
    again, row = store.create_deployment(a.deployment(), a.execution())
    assert row is not None
    assert (again > number, row.id) == (True, "install-2")


def test_answered_requests_about_nothing_go_too(store: Store) -> None:
    store.ask(RequestKind.STOP, 0, {}, BOB)
    assert a.purge(store, 10**9) == Purged()
    answer(store)
    assert a.purge(store, 5) == Purged()
    assert a.purge(store, 10**9) == Purged(requests=1)


# slices


MANY = 250
"""More executions than one slice of any store removes."""


def many(store: Store) -> int:
    """A deployment with ``MANY`` executions that have ended, each with ten long lines, and its install."""
    number, run = a.installed(store)
    a.end(store, run)
    with store.own("test"):
        for _ in range(MANY):
            run = store.create_execution(a.execution(number, replace(a.REQUEST, workflow="uninstall"))).number
            lines = [LogLine(run, 1, "info", "x" * 1_000)] * 10
            store.commit(a.turn(payload=TurnPayload(logs=lines, events=[EventRow(run, 1, "told", "y")] * 2)))
            store.commit(a.turn(20, executions=(a.status(run, DONE),)))
    answer(store)
    return number


def test_a_purge_goes_in_slices_and_may_stop_after_any_of_them(store: Store) -> None:
    many(store)
    removed, begun = Purged(), 0
    while ids(store) != ["install-1"]:
        purging = store.purging(PurgeRules(executions_before=10**9))
        begun += 1
        for _ in range(2):
            removed += purging.slice()
            assert list(store.check()) == []
        assert not purging.is_over or begun > 1
    assert begun > 1
    removed += a.purge(store, 10**9)
    assert removed == Purged(executions=MANY, logs=10 * MANY, events=2 * MANY)


def test_a_purge_with_nothing_to_remove_is_over_after_a_slice(store: Store) -> None:
    number, run = a.installed(store)
    answer(store)
    a.end(store, run)
    purging = store.purging(PurgeRules(10**9, 10**9))
    assert not purging.is_over
    while not purging.is_over:
        assert purging.slice() == Purged()
    assert purging.slice() == Purged()
    assert [row.number for row in store.deployments()] == [number]


# lines


def test_of_old_lines_only_the_last_stay_and_the_execution_with_its_graph(reopen: Reopen) -> None:
    store = reopen()
    number, run = a.installed(store)
    answer(store)
    graph = filled(store, run, number)
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(events=[EventRow(run, 2, "workflow_succeeded", "done")])))
    a.end(store, run, at=10)
    rules = PurgeRules(lines_before=10)
    assert purge_all(store, rules) == Purged(), "it did not end before that time"
    assert purge_all(store, PurgeRules(lines_before=11)) == Purged(logs=1, events=1)
    store = reopen()
    assert [(line.sequence, line.text) for line in store.logs(run)] == [(2, "two")]
    assert [(event.sequence, event.type) for event in store.events(run)] == [(2, "workflow_succeeded")]
    assert store.statuses(graph).tolist() == [6] * 24
    assert everything_of(store, run) == (1, 1, 1, 1, 1)
    assert purge_all(store, PurgeRules(lines_before=10**9)) == Purged()
    assert list(store.check()) == []


def test_lines_that_come_after_a_purge_are_numbered_on(reopen: Reopen) -> None:
    store = reopen()
    _, run = a.installed(store)
    answer(store)
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(logs=[LogLine(run, 1, "info", "x")] * 7)))
    a.end(store, run)
    assert purge_all(store, PurgeRules(lines_before=10**9)).logs == 6
    store = reopen()
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(logs=[LogLine(run, 1, "info", "retried")])))
    assert [(line.sequence, line.text) for line in store.logs(run)] == [(7, "x"), (8, "retried")]


def test_lines_of_what_is_open_or_asked_about_or_still_called_stay(store: Store) -> None:
    number, first = a.installed(store, "one")
    _, second = a.installed(store, "two")
    _, third = a.installed(store, "three")
    answer(store)
    lines = [LogLine(run, 1, "info", "x") for run in (first, second, third) for _ in range(3)]
    with store.own("test"):
        opened = (a.batch(1, third, a.numbers(0)),)
        store.commit(a.turn(graphs=(a.added(1, third, a.graph()),), opened=opened, payload=TurnPayload(logs=lines)))
    a.end(store, second, ExecutionStatus.FAILED)
    a.end(store, third, ExecutionStatus.CANCELED)
    store.ask(RequestKind.RETRY, second, {}, BOB)
    rules = PurgeRules(lines_before=10**9)
    assert purge_all(store, rules) == Purged()
    answer(store)
    assert purge_all(store, rules).logs == 2
    with store.own("test"):
        store.commit(a.turn(closed=(a.closed(1, OutcomeKind.COMPLETED),)))
    a.end(store, first)
    assert purge_all(store, replace(rules, deployment=number)).logs == 2
    assert purge_all(store, rules).logs == 2
    assert [len(store.logs(run)) for run in (first, second, third)] == [1, 1, 1]


def test_lines_of_many_executions_go_in_slices(store: Store) -> None:
    many(store)
    purging, counts = store.purging(PurgeRules(lines_before=10**9)), []
    while not purging.is_over:
        counts.append(purging.slice().logs)
    assert sum(counts) == 9 * MANY
    assert len(counts) > 2
    assert max(counts) < 9 * MANY / 2
    assert len(ids(store)) == MANY + 1
