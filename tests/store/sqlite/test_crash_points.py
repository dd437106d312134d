"""A turn that makes deployments and executions is stored as a whole or not at all, wherever its process ends (BB1)."""

from contextlib import closing
from pathlib import Path

import pytest
from tests.store import builders as a
from tests.store.tenant_worlds import secret

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import Label
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.causes import AwaitChanges, AwaitRow, CauseKey
from phaseline.model.rows.rows import TurnPayload
from phaseline.model.rows.schedule_runs import Firing, NewRun
from phaseline.model.rows.schedules import NewSchedule, ScheduleRow
from phaseline.model.schedules.schedule_spec import ScheduleSpec
from phaseline.store.sqlite.store import SqliteStore

CAUSE = CauseKey("component", 1, "1/0/0")
LEAST_POINTS = 40
STEP = 5
"""Instructions of SQLite between two points at which the process ends."""


def begun(path: Path) -> None:
    """A store with an execution whose only call is out."""
    with closing(SqliteStore.open(path, a.FakeClock())) as store, store.own("an engine"):
        number, run = a.installed(store)
        store.commit(
            a.turn(
                graphs=(a.added(1, run, a.graph()),),
                opened=(a.batch(1, run, a.numbers(0), deployment=number),),
                executions=(a.status(run, ExecutionStatus.RUNNING),),
            )
        )


def make(store: SqliteStore) -> None:
    """The turn of an outcome that makes a deployment, a label, a secret and an execution, and waits for that."""
    with store.as_one():
        with store.as_one():
            store.secrets.put(secret("token"))
            number, _ = store.create_deployment(altered(a.deployment("inner"), cause=CAUSE))
            store.labels.add(number, [Label("csys-obj-parent", "shop")])
            new = altered(a.execution(number), cause=CAUSE)
            row = store.create_execution(new, asks=False)
        awaits = AwaitChanges((AwaitRow(1, 1, 0, row.number, 20),))
        store.commit(a.turn(payload=TurnPayload(awaits=awaits), closed=(a.closed(1, 2),)))


def found(store: SqliteStore) -> list[object]:
    """What there is of the turn, a value for each of its parts; each is false if the turn is not there."""
    inner = store.deployment("inner")
    return [
        inner,
        inner and store.labels.of(inner.number),
        store.secrets.find("token"),
        store.causes.caused("component", 1)[1:],
        store.causes.awaiting(),
        not store.batches(only_open=True),
        len(store.executions()) == 2,
    ]


def test_bb1_a_turn_that_makes_something_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    points = 0
    while True:
        path = tmp_path / f"{points}.db"
        begun(path)
        with closing(SqliteStore.open(path, a.FakeClock())) as store, store.own("an engine"):
            left = points

            def end() -> bool:
                nonlocal left
                left -= 1
                return left < 0

            store.connections.writer().set_progress_handler(end, STEP)
            try:
                make(store)
            except ProblemsError:
                is_over = False
            else:
                is_over = True
        with closing(SqliteStore.open(path, a.FakeClock())) as store:
            parts = [bool(part) for part in found(store)]
            assert parts == [is_over] * len(parts)
            assert store.check() == []
        if is_over:
            break
        points += 1
    assert points >= LEAST_POINTS


def due(path: Path) -> ScheduleRow:
    """A store with a schedule that is due."""
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        number, _ = store.create_deployment(a.deployment())
        spec = ScheduleSpec("pull", "2026-01-01 07:30:00", rule={"recurrence": "1d"})
        row = store.schedules.add(NewSchedule(number, "nightly", spec, next_at=1_000), a.ANN)
    assert row is not None
    return row


def test_a54_wherever_a_firing_ends_exactly_one_execution_begins(tmp_path: Path) -> None:
    """Whoever owns the store next finds the schedule still due, or the execution; never both, never none."""
    points = 0
    while True:
        path = tmp_path / f"{points}.db"
        row = due(path)
        new = a.execution(row.deployment)
        run = NewRun(1_000, 1_000, "fired", execution=altered(new, cause=CauseKey("schedule", row.number, "1000")))
        firing = Firing(row, [run], 2_000, 1_000)
        with closing(SqliteStore.open(path, a.FakeClock())) as store, store.own("an engine"):
            left = points

            def end() -> bool:
                nonlocal left
                left -= 1
                return left < 0

            store.connections.writer().set_progress_handler(end, STEP)
            try:
                store.firings.fire([firing], 1_050)
            except ProblemsError:
                is_over = False
            else:
                is_over = True
        with closing(SqliteStore.open(path, a.FakeClock())) as store, store.own("the next engine"):
            assert len(store.executions(only_open=True)) == len(store.schedules.history(row)) == is_over
            for one in store.firings.due(1_500, 9):
                store.firings.fire([altered(firing, row=one.row)], 1_500)
            assert len(store.executions(only_open=True)) == len(store.schedules.history(row)) == 1
            assert [*store.firings.due(1_500, 9)] == []
            assert store.check() == []
        if is_over:
            break
        points += 1
    assert points >= LEAST_POINTS


def refused(store: SqliteStore, name: str) -> None:
    """A part of a turn whose last write is refused."""
    with store.as_one():
        store.secrets.put(secret("token"))
        store.create_deployment(a.deployment("inner"))
        store.create_deployment(a.deployment(name))


@pytest.mark.parametrize("kind", ["own", "other"])
def test_bb1_a_part_that_is_refused_leaves_nothing_of_itself(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "store.db"
    begun(path)
    with closing(SqliteStore.open(path, a.FakeClock())) as store, store.own("an engine"):
        with store.as_one():
            with pytest.raises(ProblemsError):
                refused(store, "inner" if kind == "own" else "shop")
            store.commit(a.turn(closed=(a.closed(1, 4),)))
        assert store.deployment("inner") is None
        assert store.secrets.find("token") is None
        assert not store.batches(only_open=True)
