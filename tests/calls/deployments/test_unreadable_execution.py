"""Something of one execution in a real store is not what was written: it fails alone, and everybody else's work goes on."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.run.engines import ANN, Station

from phaseline.model.execution.execution import Request
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import ExecutionRow, NewExecution, RequestKind
from phaseline.run.loop.lookout import LOOK_MS
from phaseline.store.sqlite.store import SqliteStore
from phaseline.testing.builders import node


@dataclass
class OnFile(Station):
    """As ``Station``, over a file; ``crash`` opens it anew, ``damage`` changes a row behind its back."""

    path: str = ""

    def begin_engine(self) -> None:
        self.leave()
        self.store = SqliteStore.open(self.path, self.clock)
        self.store.disown = lambda: None
        super().begin_engine()

    def leave(self) -> None:
        if isinstance(self.store, SqliteStore):
            self.owning.__exit__(None, None, None)
            self.store.close()

    def damage(self, statement: str, *values: object) -> None:
        db = sqlite3.connect(self.path)
        with db:
            assert db.execute(statement, values).rowcount == 1
        db.close()


@pytest.fixture
def station(tmp_path: Path) -> Iterator[OnFile]:
    made = OnFile(path=str(tmp_path / "store.db"))
    yield made
    made.leave()


def two(station: OnFile) -> tuple[ExecutionRow, ExecutionRow]:
    """Two executions of two deployments, each with one of its two calls out."""
    nodes = [node("vm", create="each_again.create", start="each_again.start")]
    rows = [station.submit(station.deployment(*nodes, name=name)) for name in ("bad", "good")]
    return rows[0], rows[1]


def others_go_on(station: OnFile, bad: ExecutionRow, good: ExecutionRow) -> None:
    """The damaged one has failed with PL-S012 and an event, and nothing of it is called; the other one completes."""
    assert station.status(bad) is ExecutionStatus.FAILED
    assert station.row(bad).reason.startswith(f"PL-S012 {bad.id}: the execution {bad.id} cannot be continued: ")
    (told,) = station.events(bad, "workflow_failed")
    assert "PL-S012" in told.message
    assert {one.execution for one in station.called()} == {good.number}
    station.complete_all()
    assert station.status(good) is ExecutionStatus.COMPLETED
    assert station.engine.is_idle


REQUESTS = [
    "no json",
    "[]",
    "{}",
    '{"workflow":"install","parameters":{},"retries":{"task_retries":"x"},"stop_after":null,"clean":false}',
    '{"workflow":"install","parameters":[],"retries":{},"stop_after":{"failures":-1},"clean":false}',
    '{"workflow":"install","parameters":{},"retries":{"many":1},"stop_after":null,"clean":false}',
    '{"workflow":"install","parameters":{},"retries":{},"stop_after":null,"clean":false,"timeout_s":"long"}',
]
GRAPHS = [
    "update graph set steps = '[{}]' where execution = ?",
    "update graph set steps = 'no json' where execution = ?",
    "update graph set policies = '7' where execution = ?",
    "update graph set subject = x'00' where execution = ?",
    "update graph set entry_count = 9 where execution = ?",
    "insert into page select id, 0, x'ffff' from graph where execution = ?",
    "insert into page select id, 0, x'ff' from graph where execution = ?",
    "insert into note select id, 0, 1, 0, 0, '', '{}', 'no json' from graph where execution = ?",
]
DEPLOYMENTS = [
    "update blueprint set body = '{}' where deployment = ?",
    "update blueprint set inputs = '[' where deployment = ?",
    "update topology set nodes = 'no json' where deployment = ?",
    "update topology set ids = x'ff' where deployment = ?",
]


@pytest.mark.parametrize("request_text", REQUESTS)
def test_a_new_execution_whose_request_cannot_be_read_fails_alone(station: OnFile, request_text: str) -> None:
    bad, good = (
        station.stored(station.deployment(node("vm", create="each_again.create"), name=name))
        for name in ("bad", "good")
    )
    station.damage("update execution set request = ? where number = ?", request_text, bad.number)
    station.crash()
    station.engine.recover()
    station.settle()
    others_go_on(station, bad, good)


@pytest.mark.parametrize("request_text", REQUESTS)
def test_one_that_had_begun_and_whose_request_cannot_be_read_fails_alone(station: OnFile, request_text: str) -> None:
    bad, good = two(station)
    station.damage("update execution set request = ? where number = ?", request_text, bad.number)
    station.crash()
    station.engine.recover()
    station.settle()
    others_go_on(station, bad, good)


@pytest.mark.parametrize("statement", GRAPHS)
def test_one_whose_graph_cannot_be_read_fails_alone(station: OnFile, statement: str) -> None:
    bad, good = two(station)
    station.damage(statement, bad.number)
    station.crash()
    station.engine.recover()
    station.settle()
    others_go_on(station, bad, good)


@pytest.mark.parametrize("statement", DEPLOYMENTS)
@pytest.mark.parametrize("has_begun", [True, False])
def test_executions_of_a_deployment_that_cannot_be_read_fail_alone(
    station: OnFile, statement: str, has_begun: bool
) -> None:
    nodes = [node("vm", create="each_again.create")]
    make = station.submit if has_begun else station.stored
    bad, good = (make(station.deployment(*nodes, name=name)) for name in ("bad", "good"))
    station.damage(statement, bad.deployment)
    station.crash()
    station.engine.recover()
    station.settle()
    others_go_on(station, bad, good)


def test_a_running_engine_that_is_handed_one_fails_it_alone(station: OnFile) -> None:
    good = station.submit(station.deployment(node("vm", create="each_again.create"), name="good"))
    bad = station.stored(station.deployment(node("vm", create="each_again.create"), name="bad"))
    station.damage("update execution set request = ? where number = ?", REQUESTS[3], bad.number)
    asked = station.store.ask(RequestKind.START, bad.number, {"id": bad.id}, ANN)
    station.clock.advance_to(station.clock.now() + LOOK_MS)
    station.engine.turn()
    station.settle()
    assert station.store.answer_of(asked) == {"done": True}
    others_go_on(station, bad, good)


def test_a_retry_of_one_says_the_same_again_and_leaves_its_row_alone(station: OnFile) -> None:
    bad, good = two(station)
    station.damage("update execution set request = ? where number = ?", REQUESTS[3], bad.number)
    station.crash()
    station.engine.recover()
    station.settle()
    station.store.ask(RequestKind.RETRY, bad.number, {"id": bad.id}, ANN)
    station.clock.advance_to(station.clock.now() + LOOK_MS)
    station.engine.turn()
    station.settle()
    assert station.status(bad) is ExecutionStatus.FAILED
    assert "task_retries" in station.row(bad).reason
    db = sqlite3.connect(station.path)
    assert db.execute("select request from execution where number = ?", (bad.number,)).fetchone() == (REQUESTS[3],)
    db.close()
    station.complete_all()
    assert station.status(good) is ExecutionStatus.COMPLETED


def test_who_waits_for_one_that_cannot_be_read_begins_once_it_has_failed(station: OnFile) -> None:
    deployment = station.deployment(node("vm", create="each_again.create"), name="bad")
    bad = station.submit(deployment)
    asked = NewExecution(deployment, Request("uninstall"), ANN, station.clock.now())
    after = station.store.create_execution(asked, beside=lambda _: True)
    station.damage("update execution set request = 'x' where number = ?", bad.number)
    station.crash()
    station.engine.recover()
    station.settle()
    assert station.status(bad) is ExecutionStatus.FAILED
    station.complete_all()
    assert station.status(after) is ExecutionStatus.COMPLETED
