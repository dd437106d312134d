"""A purge of a file in slices: each is bounded, and the process may die after any of them."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.store import builders as a
from tests.store import test_conformance_of_resources as clusters

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.maintenance import Purged, PurgeRules
from phaseline.model.rows.rows import Actor, DocumentChange, EntryRemark, EventRow, LogLine, RequestAnswer, TurnPayload
from phaseline.store.sql.purging.room import LOOKED_BYTES, ROW_BYTES, SLICE_BYTES
from phaseline.store.sql.purging.rounds import SqlPurge
from phaseline.store.sqlite.store import SqliteStore

OLD = PurgeRules(executions_before=10**9)
LINES = 5
DONE = ExecutionStatus.COMPLETED


@pytest.fixture
def store(path: Path, clock: a.FakeClock) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(path, clock)) as opened:
        yield opened


def purging(store: SqliteStore, rules: PurgeRules = OLD, slice_bytes: int = 1) -> SqlPurge:
    """A purge whose slices do the least that a slice can do."""
    return SqlPurge(store._writing, rules, slice_bytes=slice_bytes)


def answer(store: SqliteStore) -> None:
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(answers=[RequestAnswer(row.number) for row in store.requests()])))


def filled(store: SqliteStore, name: str = "shop", executions: int = 2) -> int:
    """A deleted deployment whose executions have everything that an execution can have, and share their batches."""
    number, run = a.installed(store, name)
    runs = [run]
    runs += [store.create_execution(a.execution(number), beside=lambda _: True).number for _ in range(executions - 1)]
    answer(store)
    with store.own("test"):
        graph, batch = store.counters()
        graphs = range(graph, graph + executions)
        members = [a.batch(batch, run, a.numbers(0, 1), at, number) for run, at in zip(runs, graphs, strict=True)]
        payload = TurnPayload(
            documents=[DocumentChange(number, 1, {("x",): "y"})],
            remarks=[EntryRemark(at, place, "slow") for at in graphs for place in range(3)],
            logs=[LogLine(run, 1, "info", "x") for run in runs] * LINES,
            events=[EventRow(run, 1, "told", "y") for run in runs] * LINES,
        )
        added = tuple(a.added(at, run, a.graph()) for run, at in zip(runs, graphs, strict=True))
        pages = tuple(a.page(at, 0, 6, 24) for at in graphs)
        states = (a.entered(number, (3,), 1),)
        opened = (a.joined(batch, *members), *(replace(one, id=batch + 1 + at) for at, one in enumerate(members)))
        store.commit(a.turn(graphs=added, pages=pages, opened=opened, states=states, payload=payload))
        kinds = [1] * (2 * executions)
        closed = (a.closed(batch, *kinds), *(a.closed(batch + 1 + at, 1, 1) for at in range(executions)))
        store.commit(a.turn(closed=closed))
    for each in runs:
        a.end(store, each)
    store.delete_deployment(number, Actor("bob"))
    return number


def is_empty(path: Path) -> bool:
    tables = (
        "execution", "graph", "page", "note", "batch", "log", "event", "request", "remains", "deployment", "blueprint",
        "topology", "state_page", "document", "around", "plan", "label",
    )  # fmt: skip
    with closing(sqlite3.connect(path)) as db:
        return not any(db.execute(f"select count(*) from {table}").fetchone()[0] for table in tables)


def test_a_purge_that_dies_leaves_a_sound_store_and_its_rest_to_the_next(store: SqliteStore, path: Path) -> None:
    filled(store)
    before = store.counters()
    removed, died = Purged(), 0
    while not is_empty(path):
        died += 1
        dying = purging(store)
        for _ in range(died):  # the first purge dies after one slice, the next after two, and so on
            removed += dying.slice()
            assert list(store.check()) == [], died
    assert died > 5
    assert store.counters() == before
    lines = 2 * LINES
    assert (removed.executions, removed.graphs, removed.logs, removed.events) == (2, 2, lines, lines)
    assert (removed.requests, removed.batches, removed.deployments) == (2, 3, 1)


def test_two_purges_at_a_time_do_not_disturb_one_another(store: SqliteStore, path: Path) -> None:
    for name in ("one", "two", "three"):
        filled(store, name)
    both = [purging(store), purging(store, slice_bytes=700)]
    removed = Purged()
    while not all(each.is_over for each in both):
        for each in both:
            removed += each.slice()
            assert list(store.check()) == []
    assert is_empty(path)
    assert (removed.executions, removed.deployments, removed.batches) == (6, 3, 9)


def test_no_slice_removes_more_than_its_share(store: SqliteStore) -> None:
    number, run = a.installed(store)
    answer(store)
    with store.own("test"):
        for _ in range(20):
            store.commit(a.turn(payload=TurnPayload(logs=[LogLine(run, 1, "info", "x" * 1_000)] * 200)))
    a.end(store, run)
    store.delete_deployment(number)
    whole, counts = store.purging(OLD), []
    while not whole.is_over:
        counts.append(whole.slice().logs)
    assert sum(counts) == 4_000
    assert max(counts) * (1_000 + ROW_BYTES) <= SLICE_BYTES + 1_000 + ROW_BYTES
    assert len(counts) < 12


def executions(store: SqliteStore, number: int, *workflows: str) -> None:
    """Executions of the deployment that have ended, one after the other."""
    with store.own("test"):
        for workflow in workflows:
            run = store.create_execution(a.execution(number, replace(a.REQUEST, workflow=workflow))).number
            store.commit(a.turn(20, executions=(a.status(run, DONE),)))


def test_an_install_stays_for_now_if_too_much_would_have_to_be_read(store: SqliteStore) -> None:
    number, run = a.installed(store)
    answer(store)
    a.end(store, run)
    executions(store, number, *["scale"] * 50, "install")
    with store.own("test"):
        small = purging(store, slice_bytes=LOOKED_BYTES * 30)
        while not small.is_over:
            small.slice()
    assert [row.id for row in store.executions()] == ["install-1", "install-52"]
    executions(store, number, *["scale"] * 50)
    whole = purging(store, slice_bytes=SLICE_BYTES)
    while not whole.is_over:
        whole.slice()
    assert [row.id for row in store.executions()] == ["install-52"]


def test_a_question_that_needs_more_room_is_asked_again_in_the_next_slice(store: SqliteStore) -> None:
    number, run = a.installed(store)
    answer(store)
    a.end(store, run)
    executions(store, number, "scale", "install", *["scale"] * 50, "install")
    purge = purging(store, slice_bytes=LOOKED_BYTES * 120)
    assert purge.slice().executions == 2
    while not purge.is_over:
        purge.slice()
    assert [row.id for row in store.executions()] == ["install-54"]


def test_the_newest_path_of_each_resource_is_read_over_several_slices(store: SqliteStore) -> None:
    number = clusters.cluster(store)
    store.grow(number, clusters.growth(0, "d0", "d1", "d2", types=True), a.ANN)
    with store.own("test"):
        for place in (0, 1, 2, 1):
            request = clusters.reach("Started", place)
            run = store.create_execution(a.execution(number, request), beside=lambda _: True).number
            store.commit(a.turn(20, executions=(a.status(run, ExecutionStatus.FAILED),)))
        purge, slices = purging(store), 0
        while not purge.is_over:
            purge.slice()
            slices += 1
    assert slices > 4
    assert [row.number for row in store.executions()] == [1, 3, 4]
