"""Steps of what an upgrade has left: lists are right before, between and after them, in both databases (rule UP3)."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from tests.store import builders as a
from tests.store.unfilled import empty, shown, unsettled
from tests.use_cases.many_deployments import EVERY, fill

import phaseline
from phaseline.client.client import Client
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import Reshaped, TurnPayload
from phaseline.plan.topology.modification import WantedCount, modify
from phaseline.store.relational.filling import FillingSteps, begin_steps, fillings
from phaseline.store.relational.whole_store import SqlStore
from phaseline.store.sqlite.store import SqliteStore

Reopen = Callable[[], SqlStore]
both = pytest.mark.parametrize("reopen", ["sqlite", "postgresql"], indirect=True)
DEPLOYMENTS, TOGETHER = 40, 7


def emptied(store: SqlStore) -> None:
    with store._transaction() as db:
        empty(db)


def step(store: SqlStore, steps: FillingSteps, now: int = 5) -> bool:
    with store._writing() as db:
        return steps.step(db, now)


def rows_of(store: SqlStore) -> dict[str, list[tuple[object, ...]]]:
    """What the tables that are filled have."""
    statements = {
        "summaries": "select * from deployment_summary order by deployment",
        "nodes": "select * from deployment_node order by tenant, node, deployment",
        "left": "select * from filling",
        "count": "select name, execution_count from tenant order by name",
    }
    with store._reading() as db:
        return {name: list(db.execute(text).fetchall()) for name, text in statements.items()}


def filled(store: SqlStore) -> dict[str, list[tuple[object, ...]]]:
    """What these tables have if all is filled in one step."""
    emptied(store)
    steps = FillingSteps()
    while step(store, steps):
        pass
    return rows_of(store)


@both
def test_up3_lists_are_the_same_before_between_and_after_the_steps(reopen: Reopen) -> None:
    store = reopen()
    fill(store, DEPLOYMENTS)
    gone, run = a.installed(store, "gone")
    a.end(store, run)
    store.delete_deployment(gone)
    expected, rows, restless = shown(store), filled(store), unsettled(store)
    emptied(store)
    steps, left = FillingSteps(TOGETHER), list[tuple[str, int]]()
    while True:
        assert shown(store) == expected
        assert unsettled(store) >= restless
        assert store.check() == []
        with store._reading() as db:
            told = fillings(db, 10)
        left.append((told[0].name, told[0].done) if told else ("", 0))
        if not step(store, steps):
            break
    assert len(left) > DEPLOYMENTS // TOGETHER
    assert left == sorted(left, key=lambda one: (not one[0], one))
    assert rows_of(store) == rows
    assert unsettled(store) == restless


def test_up3_what_users_see_is_the_same_before_between_and_after_the_steps(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        fill(store, DEPLOYMENTS)
        filled(store)
        with phaseline.open(f"sqlite:///{path}") as client:
            expected = views(client)
            emptied(store)
            steps = FillingSteps(TOGETHER)
            while True:
                assert views(client) == expected
                if not step(store, steps):
                    break


def views(client: Client) -> tuple[object, ...]:
    """Answers to users that read what is filled."""
    lists = client.deployments.list(), client.executions.list(limit=5), client.instances.list(node="app", limit=9)
    pages = [(page.items, page.total) for page in lists]
    why = client.instances.why(f"host_0{6 * EVERY:06x}")
    return (*pages, client.instances.stuck(), client.status().executions, why.execution, why.reasons)


class Turns:
    """Draws what users and the engine do between the steps, and does it."""

    def __init__(self, store: SqlStore, seed: int) -> None:
        self.store, self.draw = store, Random(seed)
        self.count = 0
        self.ended = list[int]()

    def one(self) -> None:
        self.count += 1
        self.draw.choice((self.create, self.delete, self.begin, self.end, self.enter, self.reshape, self.purge))()

    def deployment(self, *, is_busy: bool) -> int | None:
        """A deployment of hosts and apps that has an open execution, or none."""
        busy = {row.deployment for row in self.store.executions(only_open=True)}
        rows = [
            row.number
            for row in self.store.deployments()
            if row.kind == "blueprint" and not row.name.startswith("path") and (row.number in busy) is is_busy
        ]
        return self.draw.choice(rows) if rows else None

    def create(self) -> None:
        a.installed(self.store, f"new-{self.count}")

    def delete(self) -> None:
        number = self.deployment(is_busy=False)
        if number is not None:
            self.store.delete_deployment(number)

    def begin(self) -> None:
        number = self.deployment(is_busy=False)
        if number is not None:
            self.store.create_execution(a.execution(number), asks=False)

    def end(self) -> None:
        number = self.deployment(is_busy=True)
        rows = [row.number for row in self.store.executions(number, only_open=True)] if number is not None else []
        if rows:
            status = self.draw.choice((ExecutionStatus.COMPLETED, ExecutionStatus.FAILED, ExecutionStatus.CANCELED))
            self.store.commit(a.turn(20, executions=(a.status(self.draw.choice(rows), status),)))

    def enter(self) -> None:
        number = self.deployment(is_busy=True)
        if number is not None:
            state = int(self.draw.choice((InstanceState.STARTED, InstanceState.CREATING)))
            self.store.commit(a.turn(20, states=(a.entered(number, (state,), 0, 1),)))

    def reshape(self) -> None:
        number = self.deployment(is_busy=True)
        if number is not None:
            topology = self.store.topology(number)
            wanted = {topology.nodes[-1].name: WantedCount(self.draw.randint(1, 4))}
            shape = modify(topology, wanted, suffixes=self.count).finished
            self.store.commit(a.turn(20, payload=TurnPayload(reshaped=(Reshaped(number, shape),))))

    def purge(self) -> None:
        a.purge(self.store, self.draw.choice((15, 10**6)))


@both
@pytest.mark.parametrize("seed", range(3))
def test_up3_turns_between_the_steps_lose_nothing(reopen: Reopen, seed: int) -> None:
    store = reopen()
    fill(store, DEPLOYMENTS)
    emptied(store)
    turns, steps = Turns(store, seed), FillingSteps(3)
    with store.own("an engine"):
        is_left = True
        while is_left:
            for _ in range(turns.draw.randint(0, 4)):
                turns.one()
            before = shown(store)
            is_left = step(store, steps)
            assert shown(store) == before, (seed, turns.count)
            assert store.check() == [], (seed, turns.count)
            if turns.draw.random() < 0.3:
                store.refresh_lists()
    before = shown(store)
    emptied(store)  # computed from the other tables alone
    assert shown(store) == before


@both
def test_up3_an_idle_owner_does_the_steps(reopen: Reopen) -> None:
    store = reopen()
    fill(store, DEPLOYMENTS)
    rows = filled(store)
    emptied(store)
    store = reopen()
    with store.own("an engine"):
        for _ in range(DEPLOYMENTS):
            store.refresh_lists()
        assert rows_of(store) == rows


def test_up3_two_processes_that_do_steps_do_each_once(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore.open(path, a.FakeClock())) as one, closing(SqliteStore.open(path, a.FakeClock())) as other:
        fill(one, DEPLOYMENTS)
        rows = filled(one)
        emptied(one)
        steps = {one: FillingSteps(5), other: FillingSteps(3)}
        with one.own("an engine"):
            while step(one, steps[one]) and step(other, steps[other]):
                pass
        assert rows_of(other) == rows


def test_up3_a_filling_of_a_newer_version_is_left_to_it(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "store.db", a.FakeClock())) as store:
        with store._transaction() as db:
            db.execute("insert into filling values ('unheard', 3, 12, 0, '')")
        assert not store.continue_upgrade()
        with store._reading() as db:
            assert [(one.name, one.percent) for one in fillings(db, 10)] == [("unheard", 25)]
            assert fillings(db, 9) == ()
        assert store.check() == []


def test_up3_the_status_names_the_process_that_has_done_the_last_step(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "store.db", a.FakeClock())) as store:
        fill(store, DEPLOYMENTS)
        emptied(store)
        step(store, FillingSteps(10), 77)
        with store._reading() as db:
            first, _ = fillings(db, 10)
        assert (first.name, first.done, first.at) == ("deployments", 10, 77)
        assert first.worker.startswith("process ")


def test_up3_a_step_of_a_former_owner_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        fill(store, DEPLOYMENTS)
        emptied(store)
        rows = rows_of(store)
        with store.own("an engine"):
            with closing(SqliteStore.open(path, a.FakeClock())) as other, other._transaction() as db:
                db.execute("update store set epoch = epoch + 1")
            with pytest.raises(ProblemsError, match="PL-S004"):
                store.continue_upgrade()
            store.refresh_lists()
        assert rows_of(store) == rows


def test_up3_only_a_store_that_takes_longer_is_worth_a_word() -> None:
    left = iter([True, True, False])
    assert begin_steps(lambda: next(left)) == ""
    assert "phaseline store upgrade" in begin_steps(lambda: True, 0)
