"""What every store promises (RunShelf): runs over deployment groups and the statuses of their executions (GR3, GR4)."""

from __future__ import annotations

from collections.abc import Callable

from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.causes import CauseKey
from phaseline.model.rows.groups import NO_LIMIT, NewGroupRun, RunRow
from phaseline.model.rows.rows import Actor
from phaseline.ports.store import Store

Reopen = Callable[[], Store]
BOB = Actor("bob")
NEW = NewGroupRun(7, "shops", "install", 5, 3)


def test_gr3_a_run_is_kept_whole(reopen: Reopen) -> None:
    store = reopen()
    row = store.group_runs.begin(NEW, BOB)
    assert row == RunRow(
        row.number, 7, "shops", "install", 5, 3, is_paused=False, created_at=row.created_at, created_by="bob"
    )
    assert reopen().group_runs.find(row.number) == row
    assert store.group_runs.find(99) is None


def test_gr3_the_latest_run_over_a_group_comes_first(reopen: Reopen) -> None:
    store = reopen()
    rows = [store.group_runs.begin(altered(NEW, group_name=name), BOB) for name in ("shops", "others", "shops")]
    assert store.group_runs.of("shops") == [rows[2], rows[0]]
    assert store.group_runs.of("shops", 1) == [rows[2]]
    assert store.group_runs.of() == rows[::-1]
    assert store.group_runs.of("none") == []


def test_gr4_how_many_are_open_at_a_time_is_changed(reopen: Reopen) -> None:
    store = reopen()
    row = store.group_runs.begin(NEW, BOB)
    changed = store.group_runs.change(row, concurrency=NO_LIMIT, is_paused=True)
    assert changed == altered(row, concurrency=NO_LIMIT, is_paused=True)
    assert changed is not None
    assert (changed.limit, row.limit, altered(changed, is_paused=False).limit) == (0, 5, None)
    assert reopen().group_runs.find(row.number) == changed
    assert store.group_runs.change(altered(row, number=99), concurrency=1, is_paused=False) is None


def test_gr3_the_executions_of_a_run_are_found_by_their_cause(reopen: Reopen) -> None:
    store = reopen()
    deployments = [store.create_deployment(a.deployment(name))[0] for name in ("a", "b", "c")]
    row, other = store.group_runs.begin(NEW, BOB), store.group_runs.begin(NEW, BOB)
    made = [
        store.create_execution(
            altered(a.execution(deployment), cause=CauseKey("group", run.number, str(deployment)))
        ).number
        for run, deployment in zip((row, other, row), deployments, strict=True)
    ]
    assert store.group_runs.statuses(row) == dict.fromkeys((made[0], made[2]), ExecutionStatus.QUEUED)
    assert list(reopen().group_runs.statuses(other)) == [made[1]]
    assert store.group_runs.statuses(altered(row, number=99)) == {}
