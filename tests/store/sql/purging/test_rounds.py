"""A purge of a file in slices, each of which is bounded."""

from dataclasses import replace

import pytest
from tests.store import builders as a
from tests.store.purges import OLD, answer, filled, is_empty, purging

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import LogLine, TurnPayload
from phaseline.store.relational.whole_store import SqlStore
from phaseline.store.sql.purging.room import LOOKED_BYTES, ROW_BYTES, SLICE_BYTES
from phaseline.store.sql.purging.rounds import SqlPurge

pytestmark = pytest.mark.parametrize("reopen", ["sqlite", "postgresql"], indirect=True)


def test_no_slice_removes_more_than_its_share(store: SqlStore) -> None:
    number, run = a.installed(store)
    answer(store)
    with store.own("test"):
        for _ in range(20):
            store.commit(a.turn(payload=TurnPayload(logs=[LogLine(run, 1, "info", "x" * 1_000)] * 200)))
    a.end(store, run)
    store.delete_deployment(number)
    whole, counts = purging(store, slice_bytes=SLICE_BYTES), []
    while not whole.is_over:
        counts.append(whole.slice().logs)
    assert sum(counts) == 4_000
    assert max(counts) * (1_000 + ROW_BYTES) <= SLICE_BYTES + 1_000 + ROW_BYTES
    assert len(counts) < 24


def executions(store: SqlStore, number: int, *workflows: str) -> None:
    """Executions of the deployment that have ended, one after the other."""
    with store.own("test"):
        for workflow in workflows:
            run = store.create_execution(a.execution(number, replace(a.REQUEST, workflow=workflow))).number
            store.commit(a.turn(20, executions=(a.status(run, ExecutionStatus.COMPLETED),)))


def test_an_install_stays_for_now_if_too_much_would_have_to_be_read(store: SqlStore) -> None:
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


def test_a_question_that_needs_more_room_is_asked_again_in_the_next_slice(store: SqlStore) -> None:
    number, run = a.installed(store)
    answer(store)
    a.end(store, run)
    executions(store, number, "scale", "install", *["scale"] * 50, "install")
    purge = purging(store, slice_bytes=LOOKED_BYTES * 120)
    assert purge.slice().executions == 2
    while not purge.is_over:
        purge.slice()
    assert [row.id for row in store.executions()] == ["install-54"]


def test_a_slice_ends_after_its_time_even_if_it_has_done_little(store: SqlStore) -> None:
    filled(store)
    slices, purge = 0, SqlPurge(store._writing, OLD, slice_s=0)
    while not purge.is_over:
        purge.slice()
        slices += 1
    least, steps = SqlPurge(store._writing, OLD), 0
    while not least.is_over:
        least.slice()
        steps += 1
    assert slices > steps
    assert is_empty(store)
